"""Failed results with pictures: grids, a chain and bars. The fourth kind of picture, a curve, is not here."""

from __future__ import annotations

from grader.report.model import CheckResult, Code, Diagnosis, ExerciseResult
from grader.report.picture_data import Bar, Bars, Cell, Chain, Grids, Link, Panel, Picture


def weights(*rows: tuple[float, ...], valid: int, wrong: tuple[tuple[int, int], ...] = ()) -> tuple:
    """Return rows of cells. wrong: (row, column) of each wrong cell.

    valid: the number of valid keys; a line is drawn before the first padded key.
    """
    return tuple(
        tuple(Cell(f"{w:.4f}", w, (i, j) in wrong, j == valid) for j, w in enumerate(row))
        for i, row in enumerate(rows)
    )


def values(*rows: tuple[float, ...], wrong: tuple[tuple[int, int], ...] = ()) -> tuple:
    return tuple(
        tuple(Cell(f"{x:.4f}", None, (i, j) in wrong) for j, x in enumerate(row))
        for i, row in enumerate(rows)
    )


MASKING = Picture(
    "Attention weights, batch 2, rows: query, columns: key",
    Grids(
        "query",
        ("0", "1"),
        "key",
        ("0", "1", "2", "3"),
        (
            Panel("expected", weights((0.4, 0.6, 0, 0), (0.1, 0.9, 0, 0), valid=2)),
            Panel(
                "got",
                weights(
                    (0.3, 0.5, 0.2, 0),
                    (0.1, 0.8, 0.1, 0),
                    valid=2,
                    wrong=((0, 0), (0, 1), (0, 2), (1, 1), (1, 2)),
                ),
            ),
        ),
    ),
    ("Largest difference in this tensor: 0.2 at batch 2, query 0, key 2.",),
)
VALUES = Picture(
    "Values, batch 0, rows: query, columns: feature",
    Grids(
        "query",
        ("0", "1"),
        "feature",
        ("0", "1", "2"),
        (
            Panel("expected", values((-0.3961, -0.2976, 0.0949), (-0.8232, -0.9821, -0.2817))),
            Panel(
                "got", values((-0.3961, -0.2976, 0.5192), (-0.8232, -0.9821, -0.4488), wrong=((0, 2), (1, 2)))
            ),
        ),
    ),
    ("Largest difference in this tensor: 0.42 at batch 0, query 0, feature 2.",),
)
SHAPES = Picture(
    "Shapes, in the order of the computation",
    Chain(
        (
            Link("X", "(2, 4, 12)", arrow=False),
            Link("the queries split into heads", "(2, 4, 3, 4)"),
            Link("your result", "(2, 3, 4, 4)", "(6, 4, 4)  [batch·head, step, head feature]"),
        )
    ),
)
GRADIENTS = Picture(
    "Largest absolute value of each gradient",
    Grids(
        "",
        ("keys", "W_k.weight", "queries"),
        "",
        ("",),
        (
            Panel("expected", ((Cell("0.9123"),), (Cell("6.2936"),), (Cell("1.4432"),))),
            Panel("got", ((Cell("none", wrong=True),), (Cell("none", wrong=True),), (Cell("1.4432"),))),
        ),
    ),
)
DROPOUT = Picture(
    "Share of the values that dropout sets to 0",
    Bars(("",), (("expected", (Bar(0.3, "30%"),)), ("measured", (Bar(0.1, "10%", wrong=True),)))),
)
COST = Picture(
    "Parameters",
    Bars(
        ("",),
        (
            ("before", (Bar(1.0, "1,600"),)),
            ("expected", (Bar(0.75, "1,200"),)),
            ("got", (Bar(1.0, "1,600", wrong=True),)),
        ),
    ),
)


def failing(facet: str, says: str, problem: str, where: str, picture: Picture | None) -> ExerciseResult:
    """Return a result with one failed check. says: the diagnosis. problem, where: the message and place of the check."""
    checks = (
        CheckResult("a", "shapes", "shape", "passed"),
        CheckResult(
            "b",
            facet,
            "the result, with one length per sequence (B,)",
            "failed",
            message=problem,
            where=where,
        ),
        CheckResult("c", facet, "the result, without lengths", "passed"),
        CheckResult("d", "precision", "float16", "skipped", message="skipped: earlier checks failed"),
    )
    code = Code(
        "masking.py", 41, ("def masked_softmax(X, valid_lens):", "    return X.softmax(dim=-1)"), (42,)
    )
    return ExerciseResult(
        "masked_softmax",
        "02_masking",
        "failed",
        1.25,
        5.0,
        title="Softmax that gives padding no weight",
        checks=checks,
        diagnosis=Diagnosis("exact", (("some-mistake",),), says),
        picture=picture,
        code=code,
    )


ONE_OF_EACH = {
    "shapes": failing(
        "shapes", "the heads stay on an axis of their own", "wrong shape: (2, 3, 4, 4), expected (6, 4, 4)", "", SHAPES
    ),
    "values": failing(
        "values", "the scores are not scaled", "2 of 6 values differ", "batch 0, query 0, feature 2", VALUES
    ),
    "masking": failing(
        "masking", "one padded key of every row still gets weight", "5 of 24 values differ", "batch 2, query 0, key 0", MASKING
    ),
    "gradients": failing(
        "gradients", "no gradient flows through the keys", "the gradient of keys is all zeros: no gradient flows back to keys", "grad keys", GRADIENTS
    ),
    "dropout": failing("modes", "the dropout rate is fixed", "wrong dropout rate", "", DROPOUT),
    "cost": failing("pruning", "removed heads still exist", "the model did not get smaller", "", COST),
}  # fmt: skip
