"""Cases for attention with learned scores and with dot products.

Values are compared without dropout. The cases `evaluation` and `training` check dropout.

A case may make several calls: one more call costs far less than one more case. An exception
ends a case, and its later calls are not made.
"""

import numpy as np

from grader.authoring import Case, filled, weights

AXES = ("batch", "query", "feature")
UNNEEDED = ("w_v.bias",)  # adds the same value to all scores of a row, which the softmax ignores


def AdditiveAttention(draw):
    B, T, S = draw.sizes(3, low=3, high=7)
    q, k, v, h = draw.sizes(4, low=2, high=9, avoid=(B, T, S))
    yield from attention_cases(Additive(draw, q, k, h), draw, (B, T, S), v)


def DotProductAttention(draw):
    B, T, S = draw.sizes(3, low=3, high=7)
    d, v = draw.sizes(2, low=2, high=8, avoid=(B, T, S))
    yield from attention_cases(DotProduct(draw, d), draw, (B, T, S), v)


class Additive:
    """Build an additive attention in a case."""

    exercise = "AdditiveAttention"
    of_parameters = "names and shapes of the parameters"

    def __init__(self, draw, query_size, key_size, num_hiddens):
        self.draw = draw
        self.query_size, self.key_size, self.num_hiddens = query_size, key_size, num_hiddens

    def of_other_sizes(self, size):
        """Return a builder with one size for queries, keys and hidden features.

        A layer for the wrong input then fits, but changes the values.
        """
        return Additive(self.draw, size, size, size)

    def build(self, case, dropout=0.0, name="module"):
        h = self.num_hiddens
        module = self._bare(case, dropout, name)
        projections = weights.linear(self.draw, "W_k", h, self.key_size, bias=False) | weights.linear(
            self.draw, "W_q", h, self.query_size, bias=False
        )
        # tanh makes the features small, so the weights of w_v are doubled: the scores are about 1.
        case.load(module, projections | {"w_v.weight": 2 * self.draw.linear(1, h)})
        return module

    def build_large(self, case):
        """Return a module and a value.

        If each query's first feature has this value, all scores are near 120.
        """
        h, module = self.num_hiddens, self._bare(case, 0.0, "large")
        of_keys, of_queries = self.draw.linear(h, self.key_size), self.draw.linear(h, self.query_size)
        w_v = 2 * self.draw.linear(1, h)
        of_keys[0] = of_queries[0] = 0
        of_queries[0, 0], w_v[0, 0] = 20, 120  # tanh(20) is 1
        case.load(module, {"W_k.weight": of_keys, "W_q.weight": of_queries, "w_v.weight": w_v})
        return module, 1.0

    def build_even(self, case, dropout):
        """Return a module for `training`, where equal keys give equal attention weights. Draw no numbers."""
        h = self.num_hiddens
        module = self._bare(case, dropout, "even")
        even = {"W_k.weight": filled(0.1, h, self.key_size), "W_q.weight": filled(0.1, h, self.query_size)}
        case.load(module, even | {"w_v.weight": filled(0.5, 1, h)})
        return module

    def _bare(self, case, dropout, name):
        sizes = {"key_size": self.key_size, "query_size": self.query_size, "num_hiddens": self.num_hiddens}
        return case.build("", name, **sizes, dropout=dropout)


class DotProduct:
    """Build a dot-product attention in a case. It has no parameters."""

    exercise = "DotProductAttention"
    of_parameters = "there are no parameters"

    def __init__(self, draw, d):
        self.draw = draw
        self.query_size = self.key_size = d

    def of_other_sizes(self, size):
        return DotProduct(self.draw, size)

    def build(self, case, dropout=0.0, name="module"):
        module = case.build("", name, dropout=dropout)
        case.load(module, {})
        return module

    def build_large(self, case):
        """Return a module and a value.

        If the first feature of queries and keys has this value, all scores are near 120.
        """
        return self.build(case, name="large"), (120 * self.key_size**0.5) ** 0.5

    def build_even(self, case, dropout):
        return self.build(case, dropout, "even")


def attention_cases(attention, draw, sizes, v):
    """Yield the cases. attention: an `Additive` or a `DotProduct`; sizes: (B, T, S); v: the size of a value."""
    B, T, S = sizes
    for id, lens, title, facet in (
        ("no-mask", None, "without a mask", "values"),
        ("per-sequence", draw.lens(B, S), "with one length per sequence (B,)", "masking"),
        ("per-query", draw.lens((B, T), S), "with one length per query (B, T)", "masking"),
    ):
        case = Case(id, attention.exercise)
        module = attention.build(case)
        case.eval(module)
        arrays = random_inputs(attention, draw, sizes, v)
        inputs = given(case, arrays, grad=True)
        valid_lens = None if lens is None else case.input("valid_lens", lens)
        Y = case.call(*inputs, valid_lens, on=module, axes=AXES)
        case.check_shape(Y, f"shape and dtype of the result, {title}")
        case.check_values(Y, f"result, {title}", facet)
        flow = case.gradients(Y, draw.normal(B, T, v), wrt=inputs, parameters=module)
        case.check_gradients(flow, f"gradients, {title}")
        if lens is None:
            case.check_parameters(attention.of_parameters, UNNEEDED)
        else:
            case.check_unchanged(*inputs, valid_lens)
        case.check_weights(case.weights(module), f"stored weights, {title}")
        if id == "per-sequence":
            other_padding(case, draw, module, Y, (inputs[0], valid_lens), arrays, lens)
        if id == "per-query":
            case.check_precision(Y, "result and dtype")
        yield case

    yield equal_sizes(attention, draw, sizes, v)
    yield one_query(attention, draw, sizes, v)
    yield evaluation(attention, draw, sizes, v)
    yield training(attention, draw, sizes, v)


def random_inputs(attention, draw, sizes, v):
    B, T, S = sizes
    return (
        draw.normal(B, T, attention.query_size),
        draw.normal(B, S, attention.key_size),
        draw.normal(B, S, v),
    )


def given(case, arrays, prefix="", grad=False):
    names = ("queries", "keys", "values")
    return tuple(
        case.input(prefix + name, array, grad=grad) for name, array in zip(names, arrays, strict=True)
    )


def other_padding(case, draw, module, Y, kept, arrays, lens):
    """Call again with other keys and values in the padding, and with `kept`, the same queries and lengths.

    An answer that changed the queries or lengths in place gives another result. arrays: the inputs of the first call.
    """
    _queries, keys, values = arrays
    asked, valid_lens = kept
    padded = (np.arange(keys.shape[1]) >= lens[:, None])[:, :, None]
    right = case.call(
        asked,
        case.input("other_keys", np.where(padded, draw.normal(*keys.shape), keys)),
        case.input("other_values", np.where(padded, draw.normal(*values.shape), values)),
        valid_lens,
        on=module,
        axes=AXES,
    )
    case.check_same(
        Y,
        right,
        "padded keys and values make no difference",
        "masking",
        "other keys and values in the padding changed the result",
    )


def equal_sizes(attention, draw, sizes, v):
    """Return a case with as many queries as keys, both of one size.

    Some mistakes raise the same exception if sizes differ; here they return different values. The sizes of queries, keys
    and values differ from those of the other cases, so that an answer with a fixed size fails.
    """
    B, _T, S = sizes
    known = (*sizes, attention.query_size, attention.key_size, v)
    size, other_v = draw.sizes(2, low=5, high=12, avoid=known)
    other = attention.of_other_sizes(size)
    case = Case("equal-sizes", attention.exercise)
    module = other.build(case)
    case.eval(module)
    inputs = given(case, random_inputs(other, draw, (B, S, S), other_v))
    Y = case.call(*inputs, None, on=module, axes=AXES)
    case.check_values(Y, "as many queries as keys, of the same size")
    return case


def one_query(attention, draw, sizes, v):
    """Return a case with large scores, a single query and, for `DotProduct`, a call without valid_lens."""
    S = sizes[2]
    case = Case("one-query-of-one-sequence", attention.exercise)
    large_scores(case, attention, draw, sizes, v)
    module = attention.build(case)
    case.eval(module)
    inputs = given(case, random_inputs(attention, draw, (1, 1, S + 2), 1))
    Y = case.call(*inputs, case.input("one_len", np.array([S - 1])), on=module, axes=AXES)
    case.check_shape(Y, "axes of size one stay where they are")
    case.check_values(Y, "a single query of a single sequence", caps=False)

    if attention.exercise == "DotProductAttention":
        # In the book's additive attention valid_lens has no default, and files written for the book must pass.
        inputs = given(case, random_inputs(attention, draw, sizes, v), "bare_")
        Y = case.call(*inputs, on=module, axes=AXES)
        case.check_values(Y, "result of a call without valid_lens", caps=False)
    return case


def large_scores(case, attention, draw, sizes, v):
    """Check scores near 120, for answers with their own softmax: the exponential of 89 overflows in float32.

    The tolerance is wider, because scores of this size are rounded to 8e-6.
    """
    B, _T, S = sizes
    module, first = attention.build_large(case)
    case.eval(module)
    queries, keys, values = random_inputs(attention, draw, sizes, v)
    queries[..., 0] = keys[..., 0] = first
    inputs = given(case, (queries, keys, values), "large_")
    lens = case.input("large_lens", draw.lens(B, S))
    for valid_lens, title in ((None, "without a mask"), (lens, "with lengths (B,)")):
        Y = case.call(*inputs, valid_lens, on=module, axes=AXES)
        case.check_values(Y, f"large scores do not overflow, {title}", tol=3e-4)


def evaluation(attention, draw, sizes, v):
    case = Case("evaluation", attention.exercise)
    module = attention.build(case, 0.5)
    case.eval(module)
    case.seed(1)
    inputs = given(case, random_inputs(attention, draw, sizes, v), grad=True)
    Y, again = (case.call(*inputs, None, on=module, axes=AXES) for _ in range(2))
    case.check_same(
        Y,
        again,
        "no dropout in evaluation mode",
        "modes",
        "two calls in evaluation mode returned different results",
    )
    case.check_values(Y, "result in evaluation mode with a dropout rate of 0.5")
    flow = case.gradients(Y, draw.normal(*sizes[:2], v), wrt=inputs)
    case.check_gradients(flow, "gradients in evaluation mode")
    return case


def training(attention, draw, sizes, v):
    """Return a case for training: every call drops other attention weights and stores the weights before dropout.

    In the first call all attention weights are equal and all values are 1. So each element of the result is
    the sum of a row of attention weights after dropout.
    """
    B, T, S, p = 64, 32, 8, 0.3
    case = Case("training", attention.exercise)
    module = attention.build_even(case, p)
    case.train(module)
    case.seed(5)
    Y = case.call(
        case.constant("even_queries", (B, T, attention.query_size)),
        case.constant("even_keys", (B, S, attention.key_size)),
        case.constant("even_values", (B, S, v)),
        None,
        on=module,
    )
    case.check(
        "modes",
        "dropped_weights",
        [case.see(Y)],
        "attention weights are dropped in training mode",
        p=p,
        keys=S,
        features=v,
    )

    module = attention.build(case, 0.5)
    case.train(module)
    case.seed(3)
    inputs = given(case, random_inputs(attention, draw, sizes, v))
    first = case.call(*inputs, None, on=module, name="first")
    case.check_weights(case.weights(module), "weights before dropout are stored in training mode")
    second = case.call(*inputs, None, on=module, name="second")
    case.check(
        "modes",
        "varies",
        [case.see(first), case.see(second)],
        "every call in training mode drops different weights",
    )
    return case
