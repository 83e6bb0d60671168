"""Made-up reports and classes for tests of pages: every outcome, and hostile texts."""

from grader.classroom.class_run import GradedSubmission
from grader.report.model import CheckResult, Diagnosis, ExerciseResult, Report
from helpers.pictures import ONE_OF_EACH

PASSED = CheckResult("a", "shapes", "shape and dtype for rows of values (N, T)", "passed")
FAILED = CheckResult(
    "b",
    "values",
    "padded steps are 0, input of shape (N, T, F)",
    "failed",
    message="all 168 values differ from the expected output",
    expected=" 0.0623  -0.0772   0.1175  -0.0513   0.2182   0.0554",
    got=" 0.9068  -1.2210  -0.4348   0.7661  -0.2476   1.4215",
    where="batch 0, query 0, feature 0",
)
SKIPPED = CheckResult("c", "values", "later", "skipped", message="skipped: earlier checks failed")
NOT_GRADED = CheckResult(
    "d", "values", "a check that the machine did not allow", "could_not_grade", message="the worker crashed"
)
KNOWN = Diagnosis("exact", (("mask-length-counts-one-more",),), "one step too many is kept in every row")
PAIR = Diagnosis("one_of", (("softmax-twice", "softmax-detached"), ("softmax-over-queries",)), "one of two")
UNKNOWN = Diagnosis("unknown", says="All values are the same multiple of the expected values.")


def result(name: str, outcome: str, score: float | None, **fields: object) -> ExerciseResult:
    return ExerciseResult(
        name,
        "02_masking",
        outcome,
        score,
        3.0,
        title="Blank out what lies beyond each length",
        **fields,  # type: ignore[arg-type]
    )


RESULTS = (
    result(
        "sequence_mask",
        "failed",
        0.75,
        checks=(PASSED, FAILED, SKIPPED),
        diagnosis=KNOWN,
        remarks=("a remark",),
    ),
    result("masked_softmax", "passed", 3.0, checks=(PASSED,)),
    result("transpose_qkv", "not_started", 0.0),
    result("transpose_output", "blocked", 0.0, message="heads.py cannot be read: line 3, invalid syntax"),
    result(
        "AddNorm", "could_not_grade", None, checks=(PASSED, NOT_GRADED), message="the sandbox is not there"
    ),
    result("Encoder", "failed", 0.5, checks=(FAILED,), diagnosis=PAIR),
)
REPORT = Report(
    (*RESULTS, *ONE_OF_EACH.values()),
    sandbox="landlock",
    torch="2.13.0",
    grader="0.1.0",
    remarks=("graded with care",),
)


def entry(
    student: str, *results: ExerciseResult, problem: str = "", size: int = 100, sandbox: str = "landlock"
) -> GradedSubmission:
    """Return one submission of a class. problem: why it was not graded. size: the characters of its source."""
    extra = {"student": student, "submission": f"{student}/02_masking/masking.py", "content": "0" * 64}
    report = Report(results, sandbox, "2.13.0", "0.1.0", seed="hidden", extra=extra)
    return GradedSubmission(report, size, problem, grader_failed=False, new=True)


def failed(diagnosis: Diagnosis, fingerprint: str = "") -> ExerciseResult:
    return result(
        "sequence_mask", "failed", 0.75, checks=(PASSED, FAILED), diagnosis=diagnosis, fingerprint=fingerprint
    )


CLASS = [
    entry("ada", result("sequence_mask", "passed", 3.0, checks=(PASSED,))),
    entry("bob", failed(KNOWN)),
    entry("cyd", failed(KNOWN)),
    entry("dee", failed(PAIR)),
    entry("eve", failed(UNKNOWN, "same"), size=300),
    entry("fay", failed(UNKNOWN, "same"), size=200),
    entry("gus", result("sequence_mask", "could_not_grade", None, message="the sandbox is not there")),
    entry("hal", result("sequence_mask", "not_started", 0.0)),
    entry("ivy", problem="notes.py defines no exercise that is graded here"),
    *(entry(f"student{n}", failed(KNOWN)) for n in range(12)),
]


def hostile(text: str) -> ExerciseResult:
    """Return a failed result with `text` as its name, its title, its sentences, and the texts of its check."""
    check = CheckResult(text, text, text, "failed", message=text, expected=text, got=text, where=text)
    return ExerciseResult(
        text,
        "02_masking",
        "failed",
        1.0,
        2.0,
        title=text,
        message=text,
        checks=(check,),
        diagnosis=Diagnosis("exact", ((text,),), text, text),
        remarks=(text,),
    )
