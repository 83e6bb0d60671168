"""Draw what a judge found wrong, or what a right answer measured, as data; None if it cannot be drawn.

A picture shows expected values, so a report on hidden cases has none. A check asks for a picture of what was measured
by its parameter `draw`. These checks have passed, so the values are complete and near the expected ones, unless the
course lets them not count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import prod

import numpy as np

from grader.bundle.model import Check, RecordedCase
from grader.bundle.safetensors import Array
from grader.judge.compare import TOLERANCE, differs, first_index, number, shape_text, window
from grader.judge.observation import Observation
from grader.judge.removals import ORDERS, read_removals
from grader.judge.verdict import JudgedCase, JudgedCheck
from grader.report.finding import Finding, Spot, spot_text
from grader.report.picture import Bar, Bars, Cell, Chain, Grids, Link, Panel, Picture
from grader.report.shared_sentences import first_failure
from grader.support.i18n import _
from grader.worker.steps import Call, Input, Ref

# A report with its picture must fit in 20 rows of 80 columns.
ROWS, COLUMNS = 4, 3  # of values
MOST_QUERIES, MOST_KEYS = 4, 5  # of attention weights
MOST_ROWS, MOST_LINKS = 7, 6  # of a table; of a chain of shapes
_ABOUT_SIZES = re.compile(
    r"\b(size|sizes|shape|shapes|dimension|dimensions|dims|index|expand|broadcast)\b", re.I
)
WEIGHTS = ("query", "key")  # the last axes of attention weights


def first_picture(checks: Sequence[JudgedCheck], cases: Iterable[JudgedCase]) -> Picture | None:
    """Draw the first check that failed; None if there is none, or if it cannot be drawn."""
    first = first_failure(checks)
    for one in cases:
        case, observation = one.case, one.observation
        if first is not None and observation is not None and first.check in case.checks:
            if first.judged:
                return picture(first.check, case, observation, first.finding)
            return _shapes_of_call(first.check, case, observation)
    return None


def picture(check: Check, case: RecordedCase, observation: Observation, finding: Finding) -> Picture | None:
    """Draw what a judge found wrong."""
    if finding.kind == "shape":
        return _shapes(check, case, observation)
    if check.judge == "cost" and "after" in finding.data:
        return _cost(check, finding)
    if finding.kind not in ("values", "differ", "sums"):
        return None
    if check.judge == "same":
        return _two_results(check, case, observation)
    if any(name.startswith("grad ") for name in check.of):
        return _gradients(check, case, observation)
    if check.judge in ("equal", "precise", "kept_weights", "sums_to_one"):
        return _values(check, case, observation)
    return None


# ---- shapes


def _shapes(check: Check, case: RecordedCase, observation: Observation) -> Picture | None:
    """Draw the shapes of inputs, stages and results up to the first wrong one; a stage may have another layout."""
    links = _inputs(check, case)
    results = [(name, _("your result") if name.startswith("out") else name) for name in check.of]
    for name, title in _stages(case) + results:
        seen, want = observation.seen.get(name), case.headers.get(name)
        if seen is None or seen.shape is None or want is None:
            continue
        other_layout = name.startswith("stage ") and prod(seen.shape) == prod(want.shape)
        wrong = seen.shape != want.shape and not other_layout
        links.append(Link(title, shape_text(seen.shape), shape_text(want.shape, want.axes) if wrong else ""))
        if wrong:
            # If there are too many links: the first, and the last ones.
            shown = links if len(links) <= MOST_LINKS else [links[0], *links[1 - MOST_LINKS :]]
            return Picture(_("Shapes, in the order of the computation"), Chain(tuple(shown)))
    return None


def _shapes_of_call(check: Check, case: RecordedCase, observation: Observation) -> Picture | None:
    """Draw shapes if the exception is about sizes."""
    error = observation.error
    want = case.headers.get(check.of[0]) if check.of else None
    if error is None or want is None or not want.shape or not _ABOUT_SIZES.search(error.message):
        return None
    links = _inputs(check, case)
    for name, title in _stages(case):
        seen = observation.seen.get(name)
        if seen is not None and seen.shape is not None:
            links.append(Link(title, shape_text(seen.shape)))
    asked = Link(_("expected output"), shape_text(want.shape, want.axes), arrow=False)
    return Picture(_("Shapes of this call"), Chain((*links[: MOST_LINKS - 1], asked)))


def _inputs(check: Check, case: RecordedCase) -> list[Link]:
    """Return the inputs of the call that the check is about; all inputs of the case if there are none."""
    inputs = [step.name for step in case.all_of(Input)]
    calls = [call for call in case.all_of(Call) if call.name in check.of]
    passed = [ref.name for call in calls[:1] for ref in call.arguments if isinstance(ref, Ref)]
    names = [name for name in inputs if name in passed] or inputs
    return [Link(name, shape_text(case.tensors[name].shape), arrow=False) for name in names]


def _stages(case: RecordedCase) -> list[tuple[str, str]]:
    return [(stage.name, _(stage.title)) for stage in case.stages]


# ---- values and weights


def _values(check: Check, case: RecordedCase, observation: Observation) -> Picture | None:
    """Draw the first tensor that differs: attention weights, but only for these two facets, then stages, then results."""
    weights: list[str] = []
    if check.facet in ("masking", "weights"):
        weights = [name for name, header in case.headers.items() if header.axes[-2:] == WEIGHTS]
    says = _("Intermediate result: {stage}")
    stages = {name: says.format(stage=title) for name, title in _stages(case)}
    for name in (*weights, *stages, *check.of):
        got, want = _as_expected(name, case, observation), case.expected.get(name)
        if got is not None and want is not None and differs(got, want, _tolerance(check, case)).any():
            return _compared(case, name, got, want, _tolerance(check, case), title=stages.get(name, ""))
    return None


def _tolerance(check: Check, case: RecordedCase) -> float:
    return max(TOLERANCE[case.dtype], check.params.get("tol", 0.0))


def _two_results(check: Check, case: RecordedCase, observation: Observation) -> Picture | None:
    one, other = (_as_expected(name, case, observation) for name in check.of)
    if one is None or other is None:
        return None
    calls = (_("first call"), _("second call"))
    return _compared(case, check.of[0], other, one, 10 * TOLERANCE[case.dtype], panels=calls)


def _as_expected(name: str, case: RecordedCase, observation: Observation) -> Array | None:
    """Return the observed values if they have the expected shape; None otherwise."""
    seen, header = observation.seen.get(name), case.headers.get(name)
    return seen.array if seen is not None and header is not None and seen.shape == header.shape else None


def _compared(
    case: RecordedCase,
    name: str,
    got: Array,
    want: Array,
    tolerance: float,
    *,
    title: str = "",
    panels: Sequence[str] = (),
) -> Picture:
    """Draw the last two axes of both arrays around the first value that differs."""
    axes = case.headers[name].axes
    wrong = differs(got, want, tolerance)
    index = first_index(wrong) if wrong.ndim else ()
    weights = axes[-2:] == WEIGHTS
    (height, width), (row, column) = (1, 1, *want.shape)[-2:], (0, 0, *index)[-2:]
    rows, columns = (MOST_QUERIES, MOST_KEYS) if weights else (ROWS, COLUMNS)
    top, left = window(row, height, rows), window(column, width, columns)
    shown: tuple[int | slice, ...] = (*index[:-2], slice(top, top + rows), slice(left, left + columns))
    want_part, got_part, wrong_part = (np.atleast_2d(array)[shown] for array in (want, got, wrong))
    scale = float(np.abs(want).max(initial=0.0)) if weights else None
    lengths = _lengths(case, want.shape) if weights else None
    valid = None if lengths is None else lengths[tuple(index[:-2])][top : top + rows] - left
    row_axis, column_axis = ("", "", *(axes if len(axes) == want.ndim else ()))[-2:]
    heading = "{}" if want.ndim > 1 or column_axis else "[{}]"
    expected, computed = panels or (_("expected"), _("got"))
    write = _short if weights and _differ_in_short(want_part, got_part, wrong_part) else number
    grids = Grids(
        row_axis,
        tuple(str(top + i) if want.ndim > 1 else "" for i in range(len(want_part))),
        column_axis,
        tuple(heading.format(left + j) for j in range(want_part.shape[1])),
        (
            Panel(expected, _cells(want_part, np.zeros_like(wrong_part), scale, valid, write)),
            Panel(computed, _cells(got_part, wrong_part, scale, valid, write)),
        ),
    )
    title = _at(title or (_("Attention weights") if weights else _("Values")), index, axes, want.ndim)
    if want_part.size < want.size:
        says = _("{title} (showing {drawn} of {all})")
        title = says.format(title=title, drawn=want_part.size, all=want.size)
    return Picture(title, grids)


def _at(title: str, index: Sequence[int], axes: Sequence[str], ndim: int) -> str:
    """Return a title with the place on the axes that are not drawn, as "Values, [0, :, :]" if they have no names."""
    parts = [title[:1].upper() + title[1:]]
    if axes and len(axes) == ndim:
        across = _("columns: {column}") if ndim == 1 else _("rows: {row}, columns: {column}")
        parts += [
            spot_text(Spot(tuple(index[:-2]), tuple(axes[:-2]))),
            across.format(row=axes[-2:][0], column=axes[-1]),
        ]
    elif len(index) > 2:
        parts.append("[" + ", ".join([*map(str, index[:-2]), ":", ":"]) + "]")
    return ", ".join(filter(None, parts))


def _short(x: float) -> str:
    """Return a value with two decimals if that is shorter."""
    return min(f"{x:.2f}", number(x), key=len)


def _differ_in_short(want: Array, got: Array, wrong: Array) -> bool:
    """Whether wrong values look wrong with two decimals."""
    pairs = zip(want[wrong].tolist(), got[wrong].tolist(), strict=True)
    return all(_short(one) != _short(other) for one, other in pairs)


def _cells(
    values: Array,
    wrong: Array,
    scale: float | None,
    valid: Array | None,
    write: Callable[[float], str] = number,
) -> tuple[tuple[Cell, ...], ...]:
    """Return the cells of a grid. scale: the value with the darkest shade. valid: the number of valid columns per row."""
    return tuple(
        tuple(
            Cell(
                write(float(value)),
                None if scale is None else _share(float(value), scale),
                bool(wrong[i, j]),
                edge=valid is not None and j > 0 and j == int(valid[i]),
            )
            for j, value in enumerate(row)
        )
        for i, row in enumerate(values)
    )


def _share(value: float, largest: float) -> float:
    """Return a part of the largest value, from 0 to 1."""
    return min(1.0, max(0.0, value / largest)) if largest > 0 and np.isfinite(value) else 0.0


def _lengths(case: RecordedCase, shape: Sequence[int]) -> Array | None:
    """Return the valid lengths per query, (…, T); None unless the case passes exactly one tensor of them."""
    found = [tensor for name, tensor in case.tensors.items() if "valid_len" in name]
    if len(found) != 1 or len(shape) < 3 or found[0].shape not in ((shape[0],), (shape[0], shape[-2])):
        return None
    per_query = found[0].shape[1:] or (1,)
    lengths = found[0].reshape(shape[0], *(1,) * (len(shape) - 3), *per_query)
    return np.broadcast_to(lengths, tuple(shape[:-1]))


def _gradients(check: Check, case: RecordedCase, observation: Observation) -> Picture:
    """Draw the largest absolute gradients; if the first wrong one has the expected largest value, draw its values."""
    rows: list[tuple[str, str, str, bool]] = []  # name, expected, got, is wrong
    tolerance = _tolerance(check, case)
    for name in check.of:
        of = name.removeprefix("grad ")
        got, want = _as_expected(name, case, observation), case.expected[name]
        wrong = got is None or bool(differs(got, want, tolerance).any())
        text, expected = (_("none") if a is None else number(np.abs(a).max(initial=0.0)) for a in (got, want))
        is_first_wrong = wrong and not any(row[3] for row in rows)
        if got is not None and is_first_wrong and want.ndim and text == expected:
            title = _("Gradient of {name}").format(name=of)
            return _compared(case, name, got, want, tolerance, title=title)
        rows.append((of, expected, text, wrong))
    rows = sorted(rows, key=lambda row: not row[3])[:MOST_ROWS]  # the wrong ones come first
    panels = (
        Panel(_("expected"), tuple((Cell(expected),) for _name, expected, _got, _wrong in rows)),
        Panel(_("got"), tuple((Cell(got, wrong=wrong),) for _name, _want, got, wrong in rows)),
    )
    names = tuple(row[0] for row in rows)
    return Picture(_("Largest absolute value of each gradient"), Grids("", names, "", ("",), panels))


# ---- bars: a cost, and what a right answer measured


def _bar(value: float, largest: float, form: str, wrong: bool = False) -> Bar:
    return Bar(_share(float(value), float(largest)), f"{value:{form}}", wrong)


def _cost(check: Check, finding: Finding) -> Picture:
    before, want, after = (finding.data[name] for name in ("before", "want", "after"))
    most = max(before, want, after)
    rows = (
        (_("before"), (_bar(before, most, ","),)),
        (_("expected"), (_bar(want, most, ","),)),
        (_("got"), (_bar(after, most, ",", wrong=True),)),
    )
    title = _("Operations per call") if check.of[0].startswith("operations") else _("Parameters")
    return Picture(title, Bars(("",), rows))


def passed_picture(cases: Sequence[JudgedCase]) -> Picture | None:
    """Draw what a right answer measured, if its cases ask for that; otherwise attention weights, if possible masked."""
    if measured := _measured(cases):
        return measured
    maps = [table for judged in cases for table in _attention(judged)]
    masked = (table for table in maps if 0 < (table == 0).mean() < 0.5)
    table = next(masked, maps[0] if maps else None)
    if table is None:
        return None
    cells = _cells(table, np.zeros(table.shape), float(np.abs(table).max()), None, _short)
    queries, keys = (tuple(map(str, range(size))) for size in table.shape)
    grids = Grids("query", queries, "key", keys, (Panel("", cells),))
    return Picture(_("Your attention weights: a row per query, a column per key"), grids)


def _attention(judged: JudgedCase) -> Iterator[Array]:
    """Yield the attention weights of the first head of each sequence; nothing if there is a single query or key."""
    case, observation = judged.case, judged.observation
    for name, header in case.headers.items():
        got = _as_expected(name, case, observation) if observation is not None else None
        if header.axes[-2:] != WEIGHTS or got is None or min(got.shape[-2:]) == 1:
            continue
        for weights in got.reshape(len(got), -1, *got.shape[-2:])[:, 0] if got.ndim > 2 else [got]:
            yield weights[:MOST_QUERIES, :MOST_KEYS]


def _measured(cases: Iterable[JudgedCase]) -> Picture | None:
    """Draw what the cases ask for; None if they ask for nothing, or nothing can be drawn."""
    asked = [
        (check, judged.case, judged.observation)
        for judged in cases
        for check in judged.case.checks
        if "draw" in check.params and judged.observation is not None
    ]
    for check, _case, observation in asked:
        if check.params["draw"] == "removals":
            return _removals(check, observation)
    values = {check.params["method"]: _as_expected(check.of[0], case, seen) for check, case, seen in asked}
    return _importance({method: array for method, array in values.items() if array is not None})


def _importance(found: Mapping[str, Array]) -> Picture | None:
    """Draw the importance of each head. found: method → what it measured, (H,)."""
    names = {"ablation": _("ablation"), "gradient": _("gradient"), "confidence": _("confidence")}
    methods = [method for method in names if method in found]
    if not methods:
        return None
    order = [int(head) for head in np.argsort(-found[methods[0]], kind="stable")]
    rows = (
        (str(head), tuple(_bar(found[m][head], found[m].max(), ".3g") for m in methods)) for head in order
    )
    weakest = ", ".join(map(str, order[::-1][: len(order) // 2]))
    return Picture(
        _("Importance of each head of the test model, the most important first"),
        Bars(tuple(names[method] for method in methods), tuple(rows)),
        (_("By these values, remove half of the heads in this order: {heads}.").format(heads=weakest),),
    )


def _removals(check: Check, observation: Observation) -> Picture:
    """Draw the mean accuracy over the seeds; for `table` and `total` see `grader.judge.removals.accuracies`."""
    rows = read_removals(observation.seen.get(check.of[0]))
    total = check.params["total"]
    right = np.array(check.params["table"]) / total
    removed = np.array([bits.bit_count() for bits in range(len(right))])
    names = {"importance": _("by importance"), "random": _("random"), "reverse": _("reverse")}

    def mean(order: str, size: int) -> float:
        chosen = [row for row in rows if row.order == order and len(row.removed) == size]
        return float(np.mean([round(row.accuracy * total) / total for row in chosen] if size else right[0]))

    sizes = range(removed.max())
    bars = ((str(size), tuple(_bar(mean(order, size), 1.0, ".2f") for order in ORDERS)) for size in sizes)
    spans = (right[removed == size] for size in sizes[1:])
    says = _("From one removed head on, any choice of heads gives {spans}.")
    return Picture(
        _("Accuracy per number of removed heads (mean over your seeds)"),
        Bars(tuple(names[order] for order in ORDERS), tuple(bars)),
        (says.format(spans=", ".join(f"{span.min():.2f} – {span.max():.2f}" for span in spans)),),
    )
