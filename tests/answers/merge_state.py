# %% right_common_maximum: both sides relative to the larger lse, an infinite maximum replaced by 0
# kind: same

import torch


def merge_state(out_a, lse_a, out_b, lse_b):
    m = torch.maximum(lse_a, lse_b)
    shift = torch.where(torch.isinf(m), torch.zeros_like(m), m)
    e_a = torch.exp(lse_a - shift)
    e_b = torch.exp(lse_b - shift)
    total = e_a + e_b
    safe = torch.where(total == 0, torch.ones_like(total), total)
    out = out_a * (e_a / safe).unsqueeze(-1) + out_b * (e_b / safe).unsqueeze(-1)
    return out.to(out_a.dtype), shift + torch.log(total)


# %% right_sigmoid: the weight of b is the sigmoid of a difference
# kind: same

import torch


def merge_state(out_a, lse_a, out_b, lse_b):
    gap = torch.nan_to_num(lse_b - lse_a, nan=0.0, posinf=float("inf"), neginf=float("-inf"))
    share_b = torch.sigmoid(gap)[..., None]
    share_a = torch.sigmoid(-gap)[..., None]
    merged = share_a * out_a + share_b * out_b
    return merged.type_as(out_a), torch.logaddexp(lse_a, lse_b)


# %% right_softmax_of_two: a softmax over a new axis of length two
# kind: same

import torch


def merge_state(out_a, lse_a, out_b, lse_b):
    both = torch.stack((lse_a, lse_b), dim=-1)
    w = both.softmax(dim=-1).nan_to_num(nan=0.0)
    outs = torch.stack((out_a, out_b), dim=-2).to(w.dtype)
    out = torch.einsum("...n,...nv->...v", w, outs)
    return out.to(out_a.dtype), both.logsumexp(dim=-1)


# %% right_lerp: interpolation between the two outputs
# kind: same

import torch


def merge_state(out_a, lse_a, out_b, lse_b):
    lse = torch.logaddexp(lse_a, lse_b)
    t = torch.exp(lse_b - lse)
    t = t.masked_fill(lse == float("-inf"), 0.0).unsqueeze(-1)
    wide = torch.promote_types(out_a.dtype, t.dtype)
    out = torch.lerp(out_a.to(wide), out_b.to(wide), t.to(wide).expand(out_a.shape))
    return out.to(out_a.dtype), lse


# %% right_only_rows_with_keys: three groups of rows by boolean index
# kind: same

import torch


def merge_state(out_a, lse_a, out_b, lse_b):
    out, lse = out_a.clone(), lse_a.clone()
    has_a, has_b = ~torch.isneginf(lse_a), ~torch.isneginf(lse_b)

    only_b = has_b & ~has_a
    out[only_b] = out_b[only_b].to(out.dtype)
    lse[only_b] = lse_b[only_b].to(lse.dtype)

    both = has_a & has_b
    la, lb = lse_a[both], lse_b[both]
    top = torch.max(la, lb)
    ea, eb = (la - top).exp(), (lb - top).exp()
    numerator = ea.unsqueeze(1) * out_a[both] + eb.unsqueeze(1) * out_b[both]
    out[both] = (numerator / (ea + eb).unsqueeze(1)).to(out.dtype)
    lse[both] = top + (ea + eb).log()
    return out, lse


# %% right_log1p: the larger one plus log1p of the small share
# kind: same

import numpy as np
import torch


def merge_state(out_a, lse_a, out_b, lse_b):
    hi, lo = torch.maximum(lse_a, lse_b), torch.minimum(lse_a, lse_b)
    d = lo - hi
    d[hi == -np.inf] = -np.inf
    r = torch.exp(d)
    lse = hi + torch.log1p(r)
    w_hi = 1.0 / (1.0 + r)
    w_lo = r * w_hi
    a_is_hi = lse_a >= lse_b
    w_a = torch.where(a_is_hi, w_hi, w_lo)
    w_b = torch.where(a_is_hi, w_lo, w_hi)
    return (w_a[..., np.newaxis] * out_a + w_b[..., np.newaxis] * out_b).to(out_a.dtype), lse


# %% right_class_with_add: a small class of states that can be added
# kind: same
# later: precision

from dataclasses import dataclass

import torch


@dataclass
class State:
    numerator: torch.Tensor
    denominator: torch.Tensor
    reference: torch.Tensor

    @classmethod
    def of(cls, out, lse):
        empty = lse == -float("inf")
        return cls(out.to(lse.dtype), (~empty).to(lse.dtype), lse.masked_fill(empty, -1e30))

    def at(self, reference):
        factor = torch.exp(self.reference - reference)
        return self.numerator * (factor * self.denominator).unsqueeze(-1), self.denominator * factor

    def __add__(self, other):
        reference = torch.maximum(self.reference, other.reference)
        n1, d1 = self.at(reference)
        n2, d2 = other.at(reference)
        return State(n1 + n2, d1 + d2, reference)

    def finish(self):
        return self.numerator / self.denominator.clamp(min=1.0).unsqueeze(
            -1
        ), self.reference + self.denominator.log()


def merge_state(out_a, lse_a, out_b, lse_b):
    out, lse = (State.of(out_a, lse_a) + State.of(out_b, lse_b)).finish()
    return out.to(out_a.dtype), lse


# %% right_in_double: everything in float64, back at the end
# kind: same

import torch


def merge_state(out_a, lse_a, out_b, lse_b):
    a, b = lse_a.double(), lse_b.double()
    lse = torch.logaddexp(a, b)
    wa, wb = [torch.where(x.isneginf(), 0.0, torch.exp(x - lse)) for x in (a, b)]
    out = wa[..., None] * out_a.double() + wb[..., None] * out_b.double()
    return out.to(out_a.dtype), lse.to(lse_a.dtype)


# %% right_row_by_row: plain Python numbers for the weights
# kind: same

import math

import torch


def weights(a, b):
    if a == -math.inf and b == -math.inf:
        return 0.0, 0.0, -math.inf
    top = max(a, b)
    x, y = math.exp(a - top), math.exp(b - top)
    return x / (x + y), y / (x + y), top + math.log(x + y)


def merge_state(out_a, lse_a, out_b, lse_b):
    out = torch.empty(out_a.shape, dtype=out_a.dtype, device=out_a.device)
    lse = torch.empty(lse_a.shape, dtype=lse_a.dtype, device=lse_a.device)
    rows_out, rows_lse = out.view(-1, out.shape[-1]), lse.view(-1)
    rows_a, rows_b = [x.reshape(-1, x.shape[-1]).to(lse.dtype) for x in (out_a, out_b)]
    pairs = zip(lse_a.flatten().tolist(), lse_b.flatten().tolist())
    for i, (a, b) in enumerate(pairs):
        p, q, total = weights(a, b)
        rows_out[i] = p * rows_a[i] + q * rows_b[i]
        rows_lse[i] = total
    return out, lse


# %% right_flash_decoding: a list of parts is reduced, as after split keys
# kind: same

import torch


def combine(parts):
    lses = torch.stack([lse for _, lse in parts])
    outs = torch.stack([out for out, _ in parts])
    top = lses.amax(dim=0)
    top = top.where(top > float("-inf"), 0)
    scale = (lses - top).exp()
    total = scale.sum(dim=0)
    out = (outs * scale.unsqueeze(-1)).sum(dim=0) / total.where(total > 0, 1).unsqueeze(-1)
    return out, top + total.log()


def merge_state(out_a, lse_a, out_b, lse_b):
    out, lse = combine([(out_a, lse_a), (out_b, lse_b)])
    return out.to(out_a.dtype), lse


# %% wrong_plain_mean: the mean of the two outputs
# kind: mistake
# breaks: defaults, masking, values
# equals: merge-plain-mean

import torch


def merge_state(out_a, lse_a, out_b, lse_b):
    return (out_a + out_b) / 2, torch.logaddexp(lse_a, lse_b)


# %% wrong_exp_without_maximum: exp of the lse itself
# kind: mistake
# breaks: values
# equals: merge-no-maximum

import torch


def merge_state(out_a, lse_a, out_b, lse_b):
    za, zb = lse_a.exp(), lse_b.exp()
    z = za + zb
    out = (za.unsqueeze(-1) * out_a + zb.unsqueeze(-1) * out_b) / z.unsqueeze(-1)
    out = torch.where((z == 0).unsqueeze(-1), torch.zeros_like(out), out)
    return out.to(out_a.dtype), torch.log(z)


# %% wrong_two_empty_nan: -inf minus -inf
# kind: mistake
# breaks: masking
# equals: merge-both-empty-nan

import torch


def merge_state(out_a, lse_a, out_b, lse_b):
    m = torch.maximum(lse_a, lse_b)
    w_a = torch.exp(lse_a - m)
    w_b = torch.exp(lse_b - m)
    s = w_a + w_b
    out = (w_a[..., None] * out_a + w_b[..., None] * out_b) / s[..., None]
    return out.to(out_a.dtype), m + s.log()


# %% wrong_log_forgotten: lse = maximum + sum
# kind: mistake
# breaks: masking, values
# equals: merge-lse-without-log

import torch


def merge_state(out_a, lse_a, out_b, lse_b):
    new_max = torch.max(lse_a, lse_b)
    ref = new_max.masked_fill(new_max == float("-inf"), 0.0)
    ea, eb = torch.exp(lse_a - ref), torch.exp(lse_b - ref)
    denom = ea + eb
    out = (ea[..., None] * out_a + eb[..., None] * out_b) / denom.clamp_min(1e-30)[..., None]
    return out.to(out_a.dtype), new_max + denom


# %% wrong_lse_is_maximum: the larger lse is returned
# kind: mistake
# breaks: masking, values
# equals: merge-lse-of-larger

import torch


def merge_state(out_a, lse_a, out_b, lse_b):
    w = torch.softmax(torch.stack([lse_a, lse_b]), dim=0).nan_to_num(0.0).unsqueeze(-1)
    return (w[0] * out_a + w[1] * out_b).to(out_a.dtype), torch.maximum(lse_a, lse_b)


# %% wrong_lse_added: the two lse are added
# kind: mistake
# breaks: masking, values
# equals: merge-lse-added

import torch


def merge_state(out_a, lse_a, out_b, lse_b):
    w_a = torch.sigmoid((lse_a - lse_b).nan_to_num(nan=0.0, posinf=1e4, neginf=-1e4)).unsqueeze(-1)
    return (w_a * out_a + (1 - w_a) * out_b).to(out_a.dtype), lse_a + lse_b


# %% wrong_weights_swapped: a gets the weight of b
# kind: mistake
# breaks: defaults, masking, values
# equals: merge-weights-exchanged

import torch


def merge_state(out_a, lse_a, out_b, lse_b):
    lse = torch.logaddexp(lse_a, lse_b)
    alpha = torch.exp(lse_a - lse).nan_to_num(nan=0.0).unsqueeze(-1)
    beta = torch.exp(lse_b - lse).nan_to_num(nan=0.0).unsqueeze(-1)
    return (alpha * out_b + beta * out_a).to(out_a.dtype), lse


# %% wrong_not_normalised: the sum is not divided
# kind: mistake
# breaks: defaults, masking, values
# equals: merge-not-divided

import torch


def merge_state(out_a, lse_a, out_b, lse_b):
    m = torch.maximum(lse_a, lse_b)
    m0 = torch.where(m == -torch.inf, 0.0, m)
    a, b = torch.exp(lse_a - m0), torch.exp(lse_b - m0)
    out = a.unsqueeze(-1) * out_a + b.unsqueeze(-1) * out_b
    return out.to(out_a.dtype), m0 + torch.log(a + b)


# %% wrong_divided_by_weighted_lse: the lse are the weights
# kind: mistake
# breaks: defaults, masking, values
# equals: merge-lse-as-weights

import torch


def merge_state(out_a, lse_a, out_b, lse_b):
    lse = torch.logaddexp(lse_a, lse_b)
    a = torch.where(lse_a.isinf(), torch.zeros_like(lse_a), lse_a)
    b = torch.where(lse_b.isinf(), torch.zeros_like(lse_b), lse_b)
    total = (a + b).unsqueeze(-1)
    out = (a.unsqueeze(-1) * out_a + b.unsqueeze(-1) * out_b) / torch.where(
        total == 0, torch.ones_like(total), total
    )
    return out.type_as(out_a), lse


# %% wrong_output_in_place: out_a is scaled and added to
# kind: mistake
# breaks: purity, values
# equals: merge-first-overwritten

import torch


def merge_state(out_a, lse_a, out_b, lse_b):
    lse = torch.logaddexp(lse_a, lse_b)
    finite = torch.where(lse == float("-inf"), torch.zeros_like(lse), lse)
    out_a *= torch.exp(lse_a - finite).unsqueeze(-1)
    out_a += torch.exp(lse_b - finite).unsqueeze(-1) * out_b
    return out_a, lse


# %% wrong_lse_in_place: the maximum is taken off in place
# kind: mistake
# breaks: purity, values
# equals: merge-lse-overwritten

import torch


def merge_state(out_a, lse_a, out_b, lse_b):
    m = torch.maximum(lse_a, lse_b).clamp(min=torch.finfo(lse_a.dtype).min)
    ea = lse_a.sub_(m).exp_()
    eb = (lse_b - m).exp()
    total = ea + eb
    out = (ea[..., None] * out_a + eb[..., None] * out_b) / total.clamp(min=1e-20)[..., None]
    return out.to(out_a.dtype), m + total.log()


# %% wrong_clamped: the lse are clamped to ±50 to avoid overflow
# kind: mistake
# breaks: values
# equals: merge-clamped

import torch


def merge_state(out_a, lse_a, out_b, lse_b):
    ea = torch.exp(lse_a.clamp(-50, 50)) * (lse_a > -torch.inf)
    eb = torch.exp(lse_b.clamp(-50, 50)) * (lse_b > -torch.inf)
    s = ea + eb
    out = (ea.unsqueeze(-1) * out_a + eb.unsqueeze(-1) * out_b) / s.unsqueeze(-1).clamp(min=1e-30)
    return out.to(out_a.dtype), s.log()


# %% wrong_empty_is_finite: -inf becomes a large negative number and stays one
# kind: mistake
# breaks: masking
# equals: merge-empty-lse-finite

import torch


def merge_state(out_a, lse_a, out_b, lse_b):
    a = torch.nan_to_num(lse_a, neginf=-1e9)
    b = torch.nan_to_num(lse_b, neginf=-1e9)
    m = torch.maximum(a, b)
    wa, wb = (a - m).exp(), (b - m).exp()
    norm = wa + wb
    out = (wa / norm).unsqueeze(-1) * out_a + (wb / norm).unsqueeze(-1) * out_b
    return out.to(out_a.dtype), m + norm.log()


# %% wrong_one_maximum_for_all: a single maximum over all rows
# kind: mistake
# breaks: values
# equals: merge-one-maximum

import torch


def merge_state(out_a, lse_a, out_b, lse_b):
    top = max(lse_a.max().item(), lse_b.max().item())
    if top == float("-inf"):
        return torch.zeros_like(out_a), lse_a.clone()
    ea, eb = torch.exp(lse_a - top), torch.exp(lse_b - top)
    total = ea + eb
    out = ea[..., None] * out_a + eb[..., None] * out_b
    out = torch.where(total[..., None] > 0, out / total[..., None], torch.zeros_like(out))
    return out.to(out_a.dtype), top + torch.log(total)


# %% wrong_relative_to_a: everything relative to lse_a
# kind: mistake
# breaks: masking, values
# equals: merge-first-subtracted

import torch


def merge_state(out_a, lse_a, out_b, lse_b):
    ratio = torch.exp(lse_b - lse_a)
    out = (out_a + ratio.unsqueeze(-1) * out_b) / (1 + ratio).unsqueeze(-1)
    return out.to(out_a.dtype), lse_a + torch.log1p(ratio)


# %% wrong_axis_forgotten: weights (..., T) times outputs (..., T, v)
# kind: mistake
# breaks: defaults, masking, shapes, values
# equals: merge-axis-missing

import torch


def merge_state(out_a, lse_a, out_b, lse_b):
    lse = torch.logaddexp(lse_a, lse_b)
    w_a = torch.exp(lse_a - lse).nan_to_num(0.0)
    w_b = torch.exp(lse_b - lse).nan_to_num(0.0)
    return (w_a * out_a + w_b * out_b).to(out_a.dtype), lse


# %% wrong_softmax_over_rows: softmax over T instead of over the two states
# kind: mistake
# breaks: defaults, masking, values
# equals: merge-softmax-over-queries

import torch


def merge_state(out_a, lse_a, out_b, lse_b):
    stacked = torch.stack([lse_a, lse_b], dim=0)
    w = torch.softmax(stacked, dim=-1).nan_to_num(0.0)
    out = torch.einsum("n...,n...v->...v", w, torch.stack([out_a, out_b]).to(w.dtype))
    return out.to(out_a.dtype), torch.logsumexp(stacked, dim=0)


# %% wrong_empty_only_as_a_whole: the shortcut looks at the whole tensor
# kind: mistake
# breaks: masking
# equals: merge-both-empty-nan

import torch


def merge_state(out_a, lse_a, out_b, lse_b):
    if torch.isneginf(lse_a).all():
        return out_b.clone(), lse_b.clone()
    if torch.isneginf(lse_b).all():
        return out_a.clone(), lse_a.clone()
    m = torch.maximum(lse_a, lse_b)
    p_a, p_b = torch.exp(lse_a - m), torch.exp(lse_b - m)
    z = p_a + p_b
    out = out_a * (p_a / z).unsqueeze(-1) + out_b * (p_b / z).unsqueeze(-1)
    return out.to(out_a.dtype), m + torch.log(z)


# %% wrong_lse_stays_nan: NaN is removed from the output only
# kind: mistake
# breaks: masking
# equals: nothing

import torch


def merge_state(out_a, lse_a, out_b, lse_b):
    m = torch.maximum(lse_a, lse_b)
    w_a, w_b = torch.exp(lse_a - m), torch.exp(lse_b - m)
    z = w_a + w_b
    out = (w_a.unsqueeze(-1) * out_a + w_b.unsqueeze(-1) * out_b) / z.unsqueeze(-1)
    return torch.nan_to_num(out, nan=0.0).to(out_a.dtype), m + torch.log(z)


# %% wrong_one_empty_clears_both: rows where either side is empty become empty
# kind: mistake
# breaks: masking
# equals: merge-one-empty-clears-both

import torch


def merge_state(out_a, lse_a, out_b, lse_b):
    empty = torch.isinf(lse_a) | torch.isinf(lse_b)
    lse = torch.logaddexp(lse_a, lse_b).masked_fill(empty, -torch.inf)
    w = torch.sigmoid(lse_a - lse_b).unsqueeze(-1)
    out = w * out_a + (1 - w) * out_b
    return out.masked_fill(empty.unsqueeze(-1), 0.0).to(out_a.dtype), lse


# %% wrong_larger_one_wins: the state with the larger lse is kept
# kind: mistake
# breaks: defaults, masking, values
# equals: merge-larger-wins

import torch


def merge_state(out_a, lse_a, out_b, lse_b):
    a_wins = lse_a > lse_b
    out = torch.where(a_wins.unsqueeze(-1), out_a, out_b)
    return out, torch.logaddexp(lse_a, lse_b)


# %% wrong_bfloat16_weights: the weights pass through bfloat16
# kind: mistake
# breaks: defaults, masking, values
# equals: nothing

import torch


def merge_state(out_a, lse_a, out_b, lse_b):
    lse = torch.logaddexp(lse_a, lse_b)
    top = lse.masked_fill(lse == -torch.inf, 0)
    wa = (lse_a - top).exp().bfloat16().to(out_a.dtype)
    wb = (lse_b - top).exp().bfloat16().to(out_a.dtype)
    return wa.unsqueeze(-1) * out_a + wb.unsqueeze(-1) * out_b, lse


# %% wrong_swapped_return: (lse, out)
# kind: mistake
# breaks: defaults, masking, shapes, values
# equals: merge-exchanged

import torch


def merge_state(out_a, lse_a, out_b, lse_b):
    both = torch.stack((lse_a, lse_b))
    weights = both.softmax(0).nan_to_num(0.0)
    merged = (weights.unsqueeze(-1) * torch.stack((out_a, out_b))).sum(0)
    return both.logsumexp(0), merged.to(out_a.dtype)


# %% wrong_base_two: exp2 and log2, as in FlashInfer
# kind: different
# breaks: defaults, masking, values
# equals: merge-base-two

import torch


def merge_state(v_a, s_a, v_b, s_b):
    s_max = torch.maximum(s_a, s_b)
    s_max = torch.where(s_max == float("-inf"), torch.zeros_like(s_max), s_max)
    a = torch.exp2(s_a - s_max)
    b = torch.exp2(s_b - s_max)
    d = a + b
    inv = torch.where(d > 0, 1 / d, torch.zeros_like(d))
    v = v_a * (a * inv)[..., None] + v_b * (b * inv)[..., None]
    return v.to(v_a.dtype), s_max + torch.log2(d)


# %% wrong_lse_heads_first: outputs (T, H, v) with lse (H, T), as in vLLM
# kind: different
# breaks: defaults, masking, shapes, values
# equals: nothing

import torch


def merge_state(prefix_output, prefix_lse, suffix_output, suffix_lse):
    max_lse = torch.maximum(prefix_lse, suffix_lse)
    max_lse = max_lse.masked_fill(max_lse.isinf(), 0.0)
    p_se = torch.exp(prefix_lse - max_lse)
    s_se = torch.exp(suffix_lse - max_lse)
    out_se = p_se + s_se
    safe = out_se.clamp_min(1e-30)
    p_scale = (p_se / safe).transpose(-1, -2).unsqueeze(-1)
    s_scale = (s_se / safe).transpose(-1, -2).unsqueeze(-1)
    return prefix_output * p_scale + suffix_output * s_scale, torch.log(out_se) + max_lse


# %% right_lse_in_half: lse in the dtype of the outputs
# kind: same

import torch


def merge_state(out_a, lse_a, out_b, lse_b):
    top = torch.maximum(lse_a, lse_b)
    base = torch.where(torch.isfinite(top), top, torch.zeros_like(top))
    a, b = (lse_a - base).exp(), (lse_b - base).exp()
    total = a + b
    inverse = torch.where(total > 0, total.reciprocal(), total)
    out = out_a * (a * inverse).unsqueeze(-1) + out_b * (b * inverse).unsqueeze(-1)
    return out.to(out_a.dtype), (base + total.log()).to(out_a.dtype)


# %% right_sums_in_half: weights are cast to the dtype of the outputs
# kind: same

import torch


def merge_state(out_a, lse_a, out_b, lse_b):
    pair = torch.stack([lse_a, lse_b], dim=-1)
    share = torch.nan_to_num(torch.softmax(pair, dim=-1), nan=0.0).to(out_a.dtype)
    return share[..., :1] * out_a + share[..., 1:] * out_b, torch.logsumexp(pair, dim=-1)
