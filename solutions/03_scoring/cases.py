"""Cases for attention with learned scores and with dot products.

Values are compared without dropout. A separate case checks that dropout is off in evaluation mode.
"""

import numpy as np

from grader.authoring import Case, filled, weights

AXES = ("batch", "query", "feature")
UNNEEDED = ("w_v.bias",)  # adds the same value to all scores of a row, which the softmax ignores


def AdditiveAttention(draw):
    B, T, S = draw.sizes(3, low=3, high=7)
    q, k, v, h = draw.sizes(4, low=2, high=9, avoid=(B, T, S))
    elsewhere = (q, k, *draw.sizes(1, low=5, high=12, avoid=(B, T, S, v)))
    yield from attention_cases(Additive(draw, q, k, h, elsewhere), draw, (B, T, S), v)
    yield equal_sizes(draw, B, T, S, v)


def DotProductAttention(draw):
    B, T, S = draw.sizes(3, low=3, high=7)
    d, v = draw.sizes(2, low=2, high=8, avoid=(B, T, S))
    other_d, other_v = draw.sizes(2, low=5, high=12, avoid=(B, T, S, d, v))
    yield from attention_cases(DotProduct(draw, d, (other_d, other_d, other_v)), draw, (B, T, S), v)
    yield lengths_left_out(draw, B, T, S, d, v)


def lengths_left_out(draw, B, T, S, d, v):
    """Only for this class: the book's additive attention requires lengths, and files written for the book must pass."""
    case = Case("lengths-left-out", "DotProductAttention")
    module = case.build(dropout=0.0)
    case.eval(module)
    inputs = (
        case.input("queries", draw.normal(B, T, d)),
        case.input("keys", draw.normal(B, S, d)),
        case.input("values", draw.normal(B, S, v)),
    )
    case.check_values(
        case.call(*inputs, on=module, axes=AXES), "result of a call without valid_lens", "shapes"
    )
    return case


class Additive:
    """Builds an additive attention for a case.

    elsewhere: the features of queries, keys and values in one case, so that no other size, nor a small constant,
    can be taken for one of them in all cases.
    """

    exercise = "AdditiveAttention"
    of_parameters = "names and shapes of the parameters"

    def __init__(self, draw, query_size, key_size, num_hiddens, elsewhere=None):
        self.draw, self.elsewhere = draw, elsewhere
        self.query_size, self.key_size, self.num_hiddens = query_size, key_size, num_hiddens

    def build(self, case, dropout=0.0):
        h = self.num_hiddens
        module = self._bare(case, dropout)
        projections = weights.linear(self.draw, "W_k", h, self.key_size, bias=False) | weights.linear(
            self.draw, "W_q", h, self.query_size, bias=False
        )
        # Behind a tanh the features are small: twice the usual weight gives scores of order one.
        case.load(module, projections | {"w_v.weight": 2 * self.draw.linear(1, h)})
        return module

    def build_large(self, case):
        """All scores are near 120 if the first feature of the queries is 1: it saturates the first hidden feature."""
        h, module = self.num_hiddens, self._bare(case, 0.0)
        of_keys, of_queries = self.draw.linear(h, self.key_size), self.draw.linear(h, self.query_size)
        w_v = 2 * self.draw.linear(1, h)
        of_keys[0] = of_queries[0] = 0
        of_queries[0, 0], w_v[0, 0] = 20, 120
        case.load(module, {"W_k.weight": of_keys, "W_q.weight": of_queries, "w_v.weight": w_v})
        return module, 1.0

    def build_even(self, case, dropout):
        """Every query fits every key equally well."""
        h = self.num_hiddens
        module = self._bare(case, dropout)
        even = {"W_k.weight": filled(0.1, h, self.key_size), "W_q.weight": filled(0.1, h, self.query_size)}
        case.load(module, even | {"w_v.weight": filled(0.5, 1, h)})
        return module

    def _bare(self, case, dropout):
        return case.build(
            key_size=self.key_size, query_size=self.query_size, num_hiddens=self.num_hiddens, dropout=dropout
        )


class DotProduct:
    """How to build a dot-product attention for a case: it has no weights. elsewhere: see `Additive`."""

    exercise = "DotProductAttention"
    of_parameters = "there are no parameters"

    def __init__(self, draw, d, elsewhere):
        self.draw, self.elsewhere = draw, elsewhere
        self.query_size = self.key_size = d

    def build(self, case, dropout=0.0):
        module = case.build(dropout=dropout)
        case.load(module, {})
        return module

    def build_large(self, case):
        """All scores are near 120 if the first feature of queries and keys is the number that is returned."""
        return self.build(case), (120 * self.key_size**0.5) ** 0.5

    build_even = build


def attention_cases(attention, draw, sizes, v):
    B, T, S = sizes
    q, k = attention.query_size, attention.key_size

    def start(id, dropout=0.0):
        case = Case(id, attention.exercise)
        return case, attention.build(case, dropout)

    def given(case, grad=False, batch=B, steps=T, pairs=S, features=(q, k, v)):
        of_query, of_key, of_value = features
        queries = case.input("queries", draw.normal(batch, steps, of_query), grad=grad)
        keys = case.input("keys", draw.normal(batch, pairs, of_key), grad=grad)
        return queries, keys, case.input("values", draw.normal(batch, pairs, of_value), grad=grad)

    for id, lens, title, facet in (
        ("no-mask", None, "without a mask", "values"),
        ("per-sequence", draw.lens(B, S), "with one length per sequence (B,)", "masking"),
        ("per-query", draw.lens((B, T), S), "with one length per query (B, T)", "masking"),
    ):
        case, module = start(id)
        case.eval(module)
        inputs = given(case, grad=True)
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
        if id == "per-query":
            case.check_precision(Y, "result and dtype")
        yield case

    case, module = start("one-query-of-one-sequence")
    case.eval(module)
    inputs = given(case, batch=1, steps=1, pairs=S + 2, features=(q, k, 1))
    Y = case.call(*inputs, case.input("valid_lens", np.array([S - 1])), on=module, axes=AXES)
    case.check_shape(Y, "axes of size one stay where they are")
    case.check_values(Y, "a single query of a single sequence")
    yield case

    yield large_scores(attention, draw, sizes, v)

    case, module = start("as-many-queries-as-keys")
    case.eval(module)
    Y = case.call(*given(case, steps=S, features=attention.elsewhere), None, on=module, axes=AXES)
    case.check_values(Y, "as many queries as keys")
    yield case

    case, module = start("order-of-keys")
    case.eval(module)
    queries, keys, values = draw.normal(B, T, q), draw.normal(B, S, k), draw.normal(B, S, v)
    order = np.roll(np.arange(S), 1)
    asked = case.input("queries", queries)
    left = case.call(
        asked, case.input("keys", keys), case.input("values", values), None, on=module, axes=AXES
    )
    moved = case.input("moved_keys", keys[:, order]), case.input("moved_values", values[:, order])
    right = case.call(asked, *moved, None, on=module, axes=AXES)
    case.check_same(
        left,
        right,
        "the order of the keys and values makes no difference",
        "values",
        "another order of the keys and values changed the result",
    )
    yield case

    case, module = start("padding-is-ignored")
    case.eval(module)
    lens = draw.lens(B, S)
    padded = (np.arange(S) >= lens[:, None])[:, :, None]
    valid_lens = case.input("valid_lens", lens)
    asked = case.input("queries", queries)
    left = case.call(
        asked, case.input("keys", keys), case.input("values", values), valid_lens, on=module, axes=AXES
    )
    right = case.call(
        asked,
        case.input("other_keys", np.where(padded, draw.normal(B, S, k), keys)),
        case.input("other_values", np.where(padded, draw.normal(B, S, v), values)),
        valid_lens,
        on=module,
        axes=AXES,
    )
    case.check_same(
        left,
        right,
        "padded keys and values make no difference",
        "masking",
        "other keys and values in the padding changed the result",
    )
    yield case

    case, module = start("evaluation", dropout=0.5)
    case.eval(module)
    case.seed(1)
    inputs = given(case, grad=True)
    Y = case.call(*inputs, None, on=module, axes=AXES)
    again = case.call(*inputs, None, on=module, axes=AXES)
    case.check_same(
        Y,
        again,
        "no dropout in evaluation mode",
        "modes",
        "two calls in evaluation mode returned different results",
    )
    case.check_values(Y, "result in evaluation mode with a dropout rate of 0.5")
    case.check_gradients(case.gradients(Y, draw.normal(B, T, v), wrt=inputs), "gradients in evaluation mode")
    yield case

    case, module = start("kept-in-training", dropout=0.5)
    case.train(module)
    case.seed(3)
    inputs = given(case)
    first = case.call(*inputs, None, on=module, name="first")
    case.check_weights(case.weights(module), "weights before dropout are stored in training mode")
    second = case.call(*inputs, None, on=module, name="second")
    case.check(
        "modes",
        "varies",
        [case.see(first), case.see(second)],
        "every call in training mode drops different weights",
    )
    yield case

    yield dropout_case(attention, v)


def large_scores(attention, draw, sizes, v):
    """Scores near 120, for answers with a softmax of their own: the exponential of 89 overflows in float32.

    The tolerance is wider, because scores of this size are rounded to 8e-6.
    """
    B, T, S = sizes
    case = Case("large-scores", attention.exercise)
    module, first = attention.build_large(case)
    case.eval(module)
    queries, keys = draw.normal(B, T, attention.query_size), draw.normal(B, S, attention.key_size)
    queries[..., 0] = keys[..., 0] = first
    inputs = (
        case.input("queries", queries),
        case.input("keys", keys),
        case.input("values", draw.normal(B, S, v)),
    )
    lens = case.input("valid_lens", draw.lens(B, S))
    for valid_lens, title in ((None, "without a mask"), (lens, "with lengths (B,)")):
        Y = case.call(*inputs, valid_lens, on=module, axes=AXES)
        case.check_values(Y, f"large scores do not overflow, {title}", tol=3e-4)
    return case


def dropout_case(attention, v):
    """All weights equal and all values one: each result is the sum of its dropped weights."""
    B, T, S, p = 64, 32, 8, 0.3
    case = Case("dropout", attention.exercise)
    module = attention.build_even(case, p)
    case.train(module)
    case.seed(5)
    Y = case.call(
        case.constant("queries", (B, T, attention.query_size)),
        case.constant("keys", (B, S, attention.key_size)),
        case.constant("values", (B, S, v)),
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
    return case


def equal_sizes(draw, B, T, S, v):
    """Queries and keys have the same size, so a layer for the wrong one fits and changes the values."""
    attention = Additive(draw, v, v, v)
    case = Case("equal-sizes", attention.exercise)
    module = attention.build(case)
    case.eval(module)
    queries = case.input("queries", draw.normal(B, T, v))
    keys, values = case.input("keys", draw.normal(B, S, v)), case.input("values", draw.normal(B, S, v))
    Y = case.call(queries, keys, values, None, on=module, axes=AXES)
    case.check_values(Y, "queries, keys and values of the same size")
    return case
