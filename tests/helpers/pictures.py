"""Failed results with pictures: shaded and plain grids, a chain of shapes, and bars."""

from grader.report.model import CheckResult, Code, Diagnosis, ExerciseResult
from grader.report.picture import Bar, Bars, Cell, Chain, Grids, Link, Panel, Picture


def weights(*rows: tuple[float, ...], wrong: tuple[tuple[int, int], ...] = ()) -> tuple:
    """Return rows of cells with two valid keys. wrong: (row, column) of each wrong cell."""
    return tuple(
        tuple(Cell(f"{w:.4f}", w, (i, j) in wrong, j == 2) for j, w in enumerate(row))
        for i, row in enumerate(rows)
    )


WRONG = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2))
MASKING = Picture(
    "Attention weights, batch 2, rows: query, columns: key",
    Grids(
        "query",
        ("0", "1"),
        "key",
        ("0", "1", "2", "3"),
        (
            Panel("expected", weights((0.4, 0.6, 0, 0), (0.1, 0.9, 0, 0))),
            Panel("got", weights((0.3, 0.5, 0.2, 0), (0.1, 0.8, 0.1, 0), wrong=WRONG)),
        ),
    ),
    ("Largest difference in this tensor: 0.2 at batch 2, query 0, key 2.",),
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


def failing(facet: str, says: str, problem: str, where: str, picture: Picture) -> ExerciseResult:
    """Return a result with one failed check. says: the diagnosis. problem, where: the message and place of the check."""
    title = "the result, with one length per sequence (B,)"
    checks = (
        CheckResult("a", "shapes", "shape", "passed"),
        CheckResult("b", facet, title, "failed", message=problem, where=where),
        CheckResult("c", facet, "the result, without lengths", "passed"),
        CheckResult("d", "precision", "float16", "skipped", message="skipped: earlier checks failed"),
    )
    source = ("def masked_softmax(X, valid_lens):", "    return X.softmax(dim=-1)")
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
        code=Code("masking.py", 41, source, (42,)),
    )


ONE_OF_EACH = {
    "masking": failing(
        "masking",
        "one padded key of every row still gets weight",
        "5 of 24 values differ",
        "batch 2, query 0, key 0",
        MASKING,
    ),
    "shapes": failing(
        "shapes", "the heads stay on an axis of their own", "wrong shape: (2, 3, 4, 4)", "", SHAPES
    ),
    "cost": failing("pruning", "removed heads still exist", "the model did not get smaller", "", COST),
}
