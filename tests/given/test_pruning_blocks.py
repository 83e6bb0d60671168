"""The building blocks of the pruning lesson agree with each other and with results computed by hand."""

import pytest
import torch

from grader.given import (
    MultiHeadAttention,
    TransformerDecoder,
    TransformerEncoder,
    attention_maps,
    gated_attention,
    head_importance,
    prune_heads,
)

B, T, S, H, D = 3, 4, 5, 4, 12  # sequences, queries, keys, heads, and the size of all heads together
LENS = torch.tensor([2, 5, 1])  # of the keys


def attention(bias=True, dropout=0.0):
    torch.manual_seed(0)
    return MultiHeadAttention(7, 6, 8, D, H, dropout, bias=bias).eval()


def inputs(seed=1):
    torch.manual_seed(seed)
    return torch.randn(B, T, 6), torch.randn(B, S, 7), torch.randn(B, S, 8), LENS


def squared(output, target):
    return (output - target).pow(2).mean(dim=(1, 2))


def test_gates_equal_to_one_change_no_output_now_or_later():
    mha, given = attention(), inputs()
    plain = mha(*given)
    torch.testing.assert_close(gated_attention(mha, torch.ones(H), *given), plain)
    assert not torch.allclose(gated_attention(mha, torch.arange(4.0), *given), plain)
    torch.testing.assert_close(mha(*given), plain)


def test_a_gate_of_zero_zeroes_the_columns_of_its_head():
    mha, given = attention(), inputs()
    gated = gated_attention(mha, torch.tensor([1.0, 0.0, 1.0, 1.0]), *given)
    with torch.no_grad():
        mha.W_o.weight[:, 3:6] = 0  # the columns of head 1
    torch.testing.assert_close(gated, mha(*given))


def test_each_sequence_may_have_its_own_gates():
    mha, given = attention(), inputs()
    gates = torch.rand(B, H)
    together = gated_attention(mha, gates, *given)
    for b in range(B):
        torch.testing.assert_close(together[b], gated_attention(mha, gates[b], *given)[b])


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("heads", [[], [0], [3, 1], (2, 2, 0), {1, 2, 3}])
def test_pruned_heads_give_the_same_output_as_gates_of_zero(heads, bias):
    mha, given = attention(bias), inputs()
    gates = torch.tensor([float(h not in set(heads)) for h in range(H)])
    want = gated_attention(mha, gates, *given).detach()
    names = [name for name, _ in mha.named_parameters()]
    smaller = prune_heads(mha, heads)
    torch.testing.assert_close(smaller(*given), want)
    left = H - len(set(heads))
    sizes = smaller.num_heads, smaller.W_q.out_features, smaller.W_o.in_features
    assert sizes == (left, 3 * left, 3 * left)
    assert [name for name, p in smaller.named_parameters() if p.requires_grad] == names


def test_a_second_pruning_counts_the_heads_that_are_left():
    once, twice = (attention() for _ in range(2))
    want = prune_heads(once, [1, 2])(*inputs())
    torch.testing.assert_close(prune_heads(prune_heads(twice, [1]), [1])(*inputs()), want)


def test_a_refused_pruning_removes_no_head():
    mha = attention()
    with pytest.raises(ValueError, match="all 4 heads"):
        prune_heads(mha, [3, 2, 1, 0, 0])
    with pytest.raises(ValueError, match=r"\[-1, 4\] are not among 0 to 3"):
        prune_heads(mha, [1, 4, -1])
    assert mha.num_heads == H


def test_importance_equals_values_computed_from_the_definitions():
    mha, batches = attention(), []
    for seed in (1, 2):
        given = inputs(seed)
        batches.append((*given, mha(*given).detach() + torch.randn(B, T, D)))
    batches[1] = tuple(x[:2] for x in batches[1])  # 3 and 2 sequences: importance is a mean over 5
    ablation, gradient, confidence = torch.zeros(H), torch.zeros(H), torch.zeros(H)
    # Batches of one sequence.
    samples = [[x[b : b + 1] for x in batch] for batch in batches for b in range(len(batch[0]))]
    for *given, target in samples:
        whole = squared(mha(*given), target)
        for h in range(H):
            gates = torch.ones(H)
            gates[h] = 0
            ablation[h] += (squared(gated_attention(mha, gates, *given), target) - whole).item() / 5
        gates = torch.ones(H, requires_grad=True)
        squared(gated_attention(mha, gates, *given), target).sum().backward()
        gradient += gates.grad.abs() / 5
        mha(*given)
        confidence += mha.attention.attention_weights.max(dim=2).values.mean(dim=1).detach() / 5
    for method, want in (("ablation", ablation), ("gradient", gradient), ("confidence", confidence)):
        torch.testing.assert_close(head_importance(mha, batches, squared, method).detach(), want)


def test_importance_is_measured_in_eval_mode_and_the_mode_restored():
    mha, given = attention(dropout=0.5), inputs()
    batches = [(*given, torch.zeros(B, T, D))]
    want = head_importance(mha.eval(), batches, squared, "ablation")
    torch.testing.assert_close(head_importance(mha.train(), batches, squared, "ablation"), want)
    assert mha.training
    with pytest.raises(ValueError, match="'guess'"):
        head_importance(mha, batches, squared, "guess")


@pytest.mark.parametrize("layout", ["flat", "by head", "listed"])
def test_attention_maps_have_the_same_shapes_for_every_layout(layout):
    def arranged(weights):
        return {
            "flat": lambda w: w,
            "by head": lambda w: w.unflatten(0, (B, H)),
            "listed": lambda w: list(w.unflatten(0, (B, H)).unbind(1)),
        }[layout](weights)

    class Encoder(TransformerEncoder):
        def forward(self, *args):
            out = super().forward(*args)
            self.attention_weights = [arranged(w) for w in self.attention_weights]
            return out

    class Decoder(TransformerDecoder):
        def forward(self, *args):
            out = super().forward(*args)
            self.attention_weights = [[arranged(w) for w in part] for part in self.attention_weights]
            return out

    # 9 words, 16 hidden units in the FFN, 2 layers, no dropout.
    sizes = (9, D, D, D, D, [D], D, 16, H, 2, 0.0)
    encoder, decoder = Encoder(*sizes), Decoder(*sizes)
    source, target = torch.randint(0, 9, (B, S)), torch.randint(0, 9, (B, T))
    maps = attention_maps(encoder, source, LENS)
    assert [w.shape for w in maps["encoder"]] == [(B, H, S, S)] * 2
    assert (maps["encoder"][0][0, :, :, 2:] == 0).all()  # the first sentence has two words
    state = decoder.init_state(encoder(source, LENS), LENS)
    maps = attention_maps(decoder, target, state)
    assert {key: [w.shape for w in per_layer] for key, per_layer in maps.items()} == {
        "decoder": [(B, H, T, T)] * 2,
        "cross": [(B, H, T, S)] * 2,
    }
