"""The facet `precision`: right answers are right in every dtype; mistakes in other dtypes are named."""

import numpy as np
import pytest
from helpers.command_line import ROOT
from helpers.minimal import submission_of

from grader.authoring.bank import apply
from grader.authoring.content import Assignment, read_all
from grader.bundle.files import dump, load, save
from grader.bundle.model import OTHER_DTYPES
from grader.cases.case import Case
from grader.engine.engine import Engine
from grader.judge.compare import TOLERANCE
from grader.report.model import ExerciseResult
from grader.worker.steps import Input

pytestmark = pytest.mark.slow

ASSIGNMENTS = {a.name: a for a in read_all(ROOT / "solutions")}
# Exercises without the facet: they have no floating-point input, or repair code that was written for float32,
# or measure or train in float32.
WITHOUT = {
    "attention_maps", "gated_attention", "head_importance", "prune_heads", "removal_experiment",
    "greedy_decode", "train",
    "shift_matrix", "catches_mixed_up", "catches_tangled", "catches_transparent",
    "rotary_angles", "MixedRotary", "generate", "window_mask", "RingCache", "verify_draft", "speculative_generate",
    "train_language_model", "write_text",
    "MixedUpAttention", "TangledSelfAttention", "TransparentSelfAttention",
}  # fmt: skip


def graded(engine: Engine, assignment: Assignment, source: str, name: str) -> ExerciseResult:
    return engine.grade(submission_of(source, f"{assignment.module}.py"), [name]).exercises[0]


# ---- how a case is repeated


def written() -> Case:
    """Return a case as an author writes it, with a check of precision."""
    case = Case("numbers", "f")
    X = case.input("X", np.array([0.1, 1000.1]), grad=True)
    tokens = case.input("tokens", np.array([1, 2]))
    module = case.build(size=2)
    case.load(module, {"W": np.array([1 / 3])})
    case.stages(module, W="a layer")
    Y = case.call(X, tokens, on=module, axes=("step",))
    case.check_values(Y, "numbers")
    case.check_gradients(case.gradients(Y, np.ones(2), wrt=[X]), "gradients")
    case.check_unchanged(X)
    case.check_precision(Y, "numbers", tol=0.5)
    return case


@pytest.mark.parametrize("dtype", OTHER_DTYPES)
def test_a_repeated_case_rounds_its_inputs_and_stops_at_its_result(dtype):
    (again,) = [case for case in written().in_other_dtypes() if case.dtype == dtype]
    assert (again.id, again.like) == (f"numbers-{dtype}", "numbers")
    assert [step.do for step in again.steps] == ["input", "input", "build", "load", "call", "see"]
    assert not any(step.grad for step in again.steps if isinstance(step, Input))
    assert set(again.tensors) == {"X", "tokens", "module.W"}
    assert again.tensors["tokens"].tolist() == [1, 2]
    assert again.tensors["X"][1] == (np.float32(1000.1) if dtype == "float64" else 1000.0)
    (check,) = again.checks
    assert (check.facet, check.judge, check.of) == ("precision", "precise", ("out1",))
    assert check.params == {"tol": 0.5}
    assert again.axes == {"out1": ("step",)}


def test_a_bundle_restores_the_inputs_of_a_repeated_case(bundles, tmp_path):
    bundle = next(b for b in bundles if b.assignment == "05_multi_head_attention")
    save(bundle, tmp_path)
    read = {c.id: c for c in load(tmp_path).exercise("MultiHeadAttention").cases}
    header = dump(bundle)[1][:200_000]  # the names of the tensors come first, as JSON
    stored = {name for name in header.split(b'"') if b"/in/" in name}
    assert any(b"per-query/" in name for name in stored)
    base = read["per-query"]
    for dtype in OTHER_DTYPES:
        case = read[f"per-query-{dtype}"]
        assert case.like == "per-query"
        assert not any(case.id.encode() in name for name in stored)
        assert case.tensors["queries"].shape == base.tensors["queries"].shape
        assert np.abs(case.tensors["queries"] - base.tensors["queries"]).max() < TOLERANCE[dtype]
        assert case.tensors["valid_lens"].dtype == np.int64


# ---- the course


def test_every_exercise_with_floating_results_is_checked_per_dtype(bundles):
    for exercise in (e for b in bundles for e in b.exercises):
        dtypes = {c.dtype for c in exercise.cases if any(k.judge == "precise" for k in c.checks)}
        assert dtypes == (set() if exercise.name in WITHOUT else set(OTHER_DTYPES)), exercise.name


def test_a_mistake_in_float32_is_named_beside_one_in_other_dtypes(engine):
    masking = ASSIGNMENTS["02_masking"]
    bank = {m.id: m for m in masking.mistakes("masked_softmax")}
    both = apply([bank["softmax-one-key-too-many"], bank["softmax-fill-minus-1e9"]], masking.source)
    result = graded(engine, masking, both, "masked_softmax")
    assert "masking" in {check.facet for check in result.checks if check.outcome == "failed"}
    assert result.diagnosis.alternatives == (("softmax-one-key-too-many",),)


def test_an_unknown_mistake_in_another_dtype_gets_no_name(engine):
    masking = ASSIGNMENTS["02_masking"]
    source = masking.source.replace(
        "lowest = torch.finfo(X.dtype).min", "lowest = torch.finfo(X.dtype).min * (X.dtype != torch.bfloat16)"
    )
    result = graded(engine, masking, source, "masked_softmax")
    (advice,) = result.advice
    assert (advice.policy, advice.mistakes, advice.says) == ("precision", (), "")
    assert advice.reason.startswith("bfloat16: ")


@pytest.mark.parametrize("inside", ["float", "double", "half"])
def test_an_answer_may_compute_in_any_precise_enough_dtype(inside, engine):
    """Only the result counts."""
    scoring = ASSIGNMENTS["03_scoring"]
    source = scoring.source.replace(
        "return self.dropout(self.attention_weights) @ values",
        f"return (self.dropout(self.attention_weights).{inside}() @ values.{inside}()).to(values.dtype)",
    )
    result = graded(engine, scoring, source, "DotProductAttention")
    outcomes = {c.dtype: c.outcome for c in result.checks if c.facet == "precision"}
    assert outcomes["float16"] == outcomes["bfloat16"] == "passed"
    # In half precision the check in float32 fails, so the check in float64 is skipped.
    assert outcomes["float64"] == ("skipped" if inside == "half" else "passed")


# ---- the judge


@pytest.mark.parametrize(
    ("got", "params", "passes"),
    [
        ("float16", {}, True),
        ("float32", {}, False),
        ("float32", {"wider": True}, True),
        ("int64", {"wider": True}, False),
    ],
)
def test_the_result_must_have_the_dtype_of_the_case(got, params, passes, tmp_path):
    from grader.bundle.model import Check, Header, RecordedCase
    from grader.judge.observation import Observation, Seen
    from grader.judge.verdict import decide
    from grader.report.finding import PUBLIC

    want = np.array([1.0, 2.0])
    case = RecordedCase("c", "float16", (), {"out": Header((2,), "float16")}, expected={"out": want})
    check = Check("c/precision", "precision", "numbers", "precise", ("out",), params)
    found = decide(check, case, Observation({"out": Seen((2,), got, want.astype(got))}))
    assert found.passed is passes
    assert found.passed or PUBLIC.message(found) == f"wrong dtype: {got}, expected float16"


# ---- the tolerances


def page() -> dict[str, dict[str, str]]:
    """Return the tables of docs/precision.md: first column → heading → cell."""
    rows: dict[str, dict[str, str]] = {}
    heads: list[str] = []
    for line in (ROOT / "docs" / "precision.md").read_text("utf-8").splitlines():
        cells = [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            heads = []
        elif not heads:
            heads = cells
        elif not set(line) <= set("|-: "):
            rows[cells[0]] = dict(zip(heads, cells, strict=True))
    return rows


def test_tolerances_are_at_least_four_times_the_worst_measured():
    table = page()
    for dtype, tolerance in TOLERANCE.items():
        assert float(table[dtype]["tolerance"]) == tolerance
        assert float(table[dtype]["room"].removesuffix(" times")) >= 4


@pytest.mark.parametrize("name", ["masked_softmax", "TransformerDecoder", "AddNorm"])
def test_the_page_has_the_measured_errors(name, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts")
    import precision_report as report

    assignment = next(a for a in ASSIGNMENTS.values() if name in {e.name for e in a.exercises})
    found = report.measure(assignment, name, ("public",))
    table = page()[name]
    assert not [m for m in found if m.failed]
    assert len({m.answer for m in found}) == int(table["right answers"])
    for m in found:  # the page has the worst of four seeds; another processor may round differently
        assert m.worst <= 2 * float(table[m.dtype]), m
        assert m.used < 0.5, m  # the share of the tolerance
