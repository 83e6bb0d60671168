"""Answers whose values are right and whose cost is not fail, whatever they do to what counts it from within Python.

Code that changes the grader's own modules in its worker, or computes in another thread, can still hide what it costs. It
needs the right values all the same.
"""

from textwrap import dedent

import pytest
from helpers.minimal import submission_of

LAYER = """
import torch
from torch import nn
from grader.given import KVCache, apply_rotary, cached_attention

{before}

class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads or d_model // num_heads % 2:
            raise ValueError("sizes")
        self.H, self.base = num_heads, base
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))

    def forward(self, x, cache=None):
        if cache is not None:
            text = cache.append(x[:, None], x[:, None])[0][:, 0]
{around}
                return self.whole(text)[:, -x.shape[1] :]
        return self.whole(x)

    def whole(self, x):
        T = x.shape[1]
        q, k, v = (W(x).unflatten(-1, (self.H, -1)).transpose(1, 2) for W in (self.W_q, self.W_k, self.W_v))
        at = torch.arange(T, device=x.device)
        q, k = apply_rotary(q, at, self.base), apply_rotary(k, at, self.base)
        out = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.W_o(out.transpose(1, 2).flatten(2))
"""
NOTHING = "if True:"
# What it tries → statements of the file, and a context around its computation.
ON_OPERATIONS = {
    "nothing": ("", NOTHING),
    "replaces the profiler": (
        "import torch.autograd.profiler as p\np.profile.__exit__ = lambda *a: None",
        NOTHING,
    ),
    "stops the profiler": ("", "torch._C._autograd._disable_profiler()\nif True:"),
    "hides what the profiler found": (
        """
        import torch.autograd.profiler as p

        class Cut:
            def __init__(self, found):
                self.found = found
            def events(self):
                return self.found.events()[-1:]

        p.profile.kineto_results = property(lambda self: self.cut, lambda self, found: setattr(self, "cut", found and Cut(found)))
        p.profile.function_events = property(lambda self: [], lambda self, v: None)
        torch.autograd._disable_profiler = torch._C._autograd._disable_profiler = p._disable_profiler
        """,
        NOTHING,
    ),
    "stops the profiler as it ends": (
        """
        import torch.autograd.profiler as p
        stop = p._disable_profiler
        p._disable_profiler = torch.autograd._disable_profiler = torch._C._autograd._disable_profiler = lambda: stop() and None
        """,
        NOTHING,
    ),
    "renames operations": (
        """
        event = torch._C._autograd._KinetoEvent
        name = event.name
        event.name = lambda self: "aten::neg" if name(self) == "aten::neg" else "aten::add"
        """,
        NOTHING,
    ),
    "begins a profile of its own": (
        """
        from torch.autograd import profiler as p
        config = p.profile(record_shapes=True)
        """,
        """
        p._disable_profiler()
        mark = torch.ones(1, 3, 5, 7)
        result = self.whole(text)[:, -x.shape[1] :]
        p._prepare_profiler(config.config(), config.kineto_activities)
        p._enable_profiler(config.config(), config.kineto_activities)
        torch.neg(mark)
        return result
        if True:
        """,
    ),
    "replaces the counter of torch": (
        "import torch.utils.flop_counter as f\nf.FlopCounterMode.get_total_flops = lambda self: 0",
        NOTHING,
    ),
    "turns modes off": (
        "from torch.utils._python_dispatch import _disable_current_modes as off",
        "with off():",
    ),
    "has a mode of its own": (
        """
        from torch.utils._python_dispatch import TorchDispatchMode
        class Mode(TorchDispatchMode):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                return func(*args, **(kwargs or {}))
        """,
        "with Mode():",
    ),
}


def graded(grade, source, exercise):
    (result,) = grade(source, [exercise], name="kv_cache.py").exercises
    return result.outcome, {check.facet for check in result.checks if check.outcome == "failed"}


@pytest.mark.slow
@pytest.mark.parametrize("tries", ON_OPERATIONS)
def test_operations_are_counted_whatever_the_answer_does(grade, tries):
    before, around = (dedent(part) for part in ON_OPERATIONS[tries])
    lines = around.splitlines()
    source = LAYER.format(before=before, around="\n".join(" " * 12 + line for line in lines))
    outcome, failed = graded(grade, source, "CachedSelfAttention")
    assert outcome == "failed"
    assert "cost" in failed


CACHE = """
import torch
{before}

class KVCache{base}:
{slots}
    def __init__(self, max_len):
        self.max_len, self.length = max_len, 0
        self.pieces, self.kept = [], {empty}

    def append(self, keys, values):
        if self.length + keys.shape[2] > self.max_len:
            raise ValueError("full")
        self.pieces.append((keys, values))
        self.length += keys.shape[2]
        k, v = (torch.cat(parts, dim=2) for parts in zip(*self.pieces))
        {keep}
        return k, v

    def crop(self, length):
        if not 0 <= length <= self.length:
            raise ValueError("length")
        if self.pieces:
            self.pieces = [tuple(torch.cat(parts, dim=2)[:, :, :length] for parts in zip(*self.pieces))]
        self.length = length
"""
# Where it keeps copies of all results → (statements before, base, slots, what is kept at first, how it is kept).
ON_VALUES = {
    "a list": ("", "", "", "[]", "self.kept.append(k.clone())"),
    "slots": ("", "", "    __slots__ = ('max_len', 'length', 'pieces', 'kept')", "[]", "self.kept.append(k.clone())"),
    "an object without attributes": (
        "class Box:\n    def __getattribute__(self, name):\n        raise AttributeError(name)",
        "", "", "Box()", "object.__getattribute__(self.kept, '__dict__')[self.length] = k.clone()",
    ),
    "a function": ("", "", "", "None", "self.kept = (lambda before, new: lambda: (before, new))(self.kept, k.clone())"),
    "arrays of numpy": ("", "", "", "[]", "self.kept.append(k.numpy().copy())"),
    "numbers": ("", "", "", "[]", "self.kept += k.flatten().tolist()"),
    "bytes": ("", "", "", "b''", "self.kept += bytes(k.flatten().numpy())"),
    "a storage": ("", "", "", "[]", "self.kept.append(k.clone().untyped_storage())"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("where", ON_VALUES)
def test_values_are_counted_wherever_the_answer_keeps_them(grade, where):
    before, base, slots, empty, keep = ON_VALUES[where]
    source = CACHE.format(before=before, base=base, slots=slots, empty=empty, keep=keep)
    outcome, failed = graded(grade, source, "KVCache")
    assert outcome == "failed"
    assert failed == {"cost"}


def test_submissions_of_this_file_are_python():
    for before, around in ON_OPERATIONS.values():
        lines = "\n".join(" " * 12 + line for line in dedent(around).splitlines())
        assert submission_of(LAYER.format(before=dedent(before), around=lines), "a.py").faults == ()
