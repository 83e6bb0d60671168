"""Right answers written differently, and trivial answers."""

from grader.authoring import trivial, variant

VARIANTS = [
    variant(
        "exponentials",
        "kernel_attention_weights",
        """
        def kernel_attention_weights(queries, keys, w=1.0):
            scores = -0.5 * torch.square(w * (keys - queries.unsqueeze(1)))
            heights = torch.exp(scores - scores.amax(1, keepdim=True))
            return heights / heights.sum(1, keepdim=True)
        """,
    ),
    variant(
        "repeated",
        "kernel_attention_weights",
        """
        def kernel_attention_weights(queries, keys, w=1.0):
            repeated = queries.repeat_interleave(keys.numel()).reshape(-1, keys.numel())
            return torch.softmax(-(((repeated - keys) * w) ** 2) / 2, dim=1)
        """,
    ),
    variant(
        "row-by-row",
        "kernel_attention_weights",
        """
        def kernel_attention_weights(queries, keys, w=1.0):
            return torch.stack([(-((q - keys) * w).pow(2) / 2).softmax(0) for q in queries])
        """,
    ),
    variant(
        "square-opened",
        "kernel_attention_weights",
        """
        def kernel_attention_weights(queries, keys, w=1.0):
            # the square of the query is the same for all keys, so it has no effect on the softmax
            scores = queries.outer(keys) - keys.square() / 2
            return (scores * w**2).softmax(-1)
        """,
    ),
    variant(
        "meshgrid",
        "kernel_attention_weights",
        """
        def kernel_attention_weights(queries, keys, w=1.0):
            scores = -0.5 * (w * w) * torch.subtract(*torch.meshgrid(queries, keys, indexing="ij")) ** 2
            return (scores - scores.logsumexp(1, keepdim=True)).exp()
        """,
    ),
    trivial(
        "uniform",
        "kernel_attention_weights",
        "def kernel_attention_weights(queries, keys, w=1.0):\n    return torch.ones(len(queries), len(keys)) / len(keys)",
    ),
    trivial(
        "zeros",
        "kernel_attention_weights",
        "def kernel_attention_weights(queries, keys, w=1.0):\n    return torch.zeros(len(queries), len(keys))",
    ),
    trivial(
        "keys-input-returned",
        "kernel_attention_weights",
        "def kernel_attention_weights(queries, keys, w=1.0):\n    return keys",
    ),
    variant(
        "own-weights",
        "kernel_regression",
        """
        def kernel_regression(queries, keys, values, w=1.0):
            squares = ((queries[:, None] - keys) * w) ** 2
            heights = torch.exp((squares.min(dim=1, keepdim=True).values - squares) / 2)
            return (heights * values).sum(1) / heights.sum(1)
        """,
    ),
    variant(
        "sum-of-products",
        "kernel_regression",
        """
        def kernel_regression(queries, keys, values, w=1.0):
            return (kernel_attention_weights(queries, keys, w) * values).sum(-1)
        """,
    ),
    variant(
        "query-by-query",
        "kernel_regression",
        """
        def kernel_regression(queries, keys, values, w=1.0):
            rows = kernel_attention_weights(queries, keys, w)
            return torch.stack([row.dot(values) for row in rows])
        """,
    ),
    variant(
        "batched-product",
        "kernel_regression",
        """
        def kernel_regression(queries, keys, values, w=1.0):
            rows = kernel_attention_weights(queries, keys, w).unsqueeze(1)  # (T, 1, S)
            columns = values.expand(len(queries), -1).unsqueeze(-1)  # (T, S, 1)
            return torch.bmm(rows, columns).reshape(-1)
        """,
    ),
    variant(
        "einsum",
        "kernel_regression",
        """
        def kernel_regression(queries, keys, values, w=1.0):
            return torch.einsum("ts,s->t", kernel_attention_weights(queries, keys, w=w), values)
        """,
    ),
    trivial(
        "mean-of-values",
        "kernel_regression",
        "def kernel_regression(queries, keys, values, w=1.0):\n    return values.mean().expand(len(queries))",
    ),
    trivial(
        "zeros",
        "kernel_regression",
        "def kernel_regression(queries, keys, values, w=1.0):\n    return torch.zeros_like(queries)",
    ),
    trivial(
        "queries-input-returned",
        "kernel_regression",
        "def kernel_regression(queries, keys, values, w=1.0):\n    return queries",
    ),
    trivial(
        "values-input-returned",
        "kernel_regression",
        "def kernel_regression(queries, keys, values, w=1.0):\n    return values",
    ),
]
