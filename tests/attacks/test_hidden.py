"""No report shows values of hidden cases, and answers copied from public cases do not pass hidden cases."""

import io
from textwrap import indent

import pytest
from attacks.forging import FORGE
from helpers.command_line import ROOT
from helpers.lanes import first_of_each
from helpers.minimal import submission_of
from rich.console import Console

from grader.authoring.content import read
from grader.authoring.record import record
from grader.engine.engine import Engine
from grader.engine.grading import HIDDEN, GradingOptions
from grader.report.formats import FORMATS, written
from grader.report.terminal import show
from grader.worker.steps import Call

WRONG_RETURN = "    return X.softmax(1) * 0.9\n"
# An expression for student code: the text "LEAK" with the first value of a hidden input.
SAY = "'LEAK%d' % int(X.flatten()[0].abs().item() * 1e6)"
# How student code could put a hidden value into the report: the body of the function. @FORGE@ stands for FORGE, which
# has the functions `forge` and `reply_fd`; @SAY@ stands for SAY.
LEAKS = {
    "printed": f"    print({SAY}, flush=True)\n    print({SAY}, file=sys.stderr, flush=True)\n",
    "raised": f"    raise ValueError({SAY})\n",
    "name of an exception": f"    raise type({SAY}, (Exception,), {{}})()\n",
    "name of a returned type": f"    return type({SAY}, (), {{}})()\n",
    "returned text": f"    return {SAY}\n",
    "warned": f"    import warnings\n    warnings.warn({SAY})\n",
    "noted": f"    error = ValueError('x')\n    error.add_note({SAY})\n    raise error\n",
    "chained": f"    raise ValueError('x') from ValueError({SAY})\n",
    "syntax": f"    raise SyntaxError({SAY}, ('answer.py', 1, 1, {SAY}))\n",
    "exit code": "    os._exit(113)\n",
    "fault": "@FORGE@    forge({'fault': @SAY@})\n",
    "layout": "@FORGE@    forge({'parameters': {'layout': @SAY@, 'missing': [@SAY@]}, 'odd': {'out': {'is': @SAY@}}})\n",
    "error": "@FORGE@    forge({'error': {'type': @SAY@, 'message': @SAY@, 'step': @SAY@, 'where': {'file': @SAY@, 'line': 3, 'text': @SAY@}}})\n",
    "used": "@FORGE@    forge({'used': [@SAY@, 'nn.Transformer' + @SAY@], 'warnings': [@SAY@], 'values': {@SAY@: 1}})\n",
    "kept for the next loading": f"    import builtins\n    builtins.LEAK = {SAY}\n",
    "amount of printed text": "    os.write(1, b'x' * (1 << 21))\n",
    "length of a reply": "@FORGE@    os.write(reply_fd(), struct.pack('<II', 1130113, 1 << 30))\n",
}
# Numbers in `LEAKS`. A submission could compute them from a hidden input, so no report may show them.
CHOSEN = ("113", "2097152", "1130113")
# Raises the text that an earlier loading of the file stored.
HEADER = "import os, sys, torch\nimport builtins\nif hasattr(builtins, 'LEAK'):\n    raise ValueError(builtins.LEAK)\n"


@pytest.fixture(scope="module")
def hidden_bundle():
    return record(
        read(ROOT / "solutions" / "02_masking"), "a seed that only this test knows", diagnosis=False
    )


@pytest.fixture(scope="module")
def hidden(engine, hidden_bundle):
    made = Engine([hidden_bundle], engine.launcher, GradingOptions(terms=HIDDEN))
    yield made
    made.close()


def leaking(leak: str) -> str:
    """Return a submission with this body of both functions, one of LEAKS."""
    body = leak.replace("@FORGE@", indent(FORGE, "    ")).replace("@SAY@", SAY)
    return HEADER + "".join(
        f"def {name}:\n{body}{WRONG_RETURN}"
        for name in ("sequence_mask(X, valid_len, value=0)", "masked_softmax(X, valid_lens)")
    )


def everything(report):
    """Return the report in the terminal and in every output format, as one text."""
    out = io.StringIO()
    show(report, Console(file=out, width=200), full=True)
    return "\n".join([out.getvalue(), repr(report), *(written(form, report) for form in FORMATS)])


@pytest.mark.parametrize("leak", first_of_each(LEAKS))
def test_no_report_shows_values_of_a_hidden_case(hidden, leak):
    source = leaking(LEAKS[leak])
    for wanted in (["sequence_mask"], ["sequence_mask", "masked_softmax"], ["masked_softmax"]):
        report = hidden.grade(submission_of(source), wanted)
        assert {e.outcome for e in report.exercises} == {"failed"}
        texts = everything(report)
        # The report may quote lines of HEADER, which contain `builtins.LEAK` and 'LEAK'.
        assert "LEAK" not in texts.replace("builtins.LEAK", "").replace("'LEAK'", "")
        messages = [
            text
            for e in report.exercises
            for c in e.checks
            for text in (c.message, c.where, e.message, *e.remarks)
        ]
        assert not [text for text in messages for number in CHOSEN if number in text]
        assert all(c.expected is None and c.got is None for e in report.exercises for c in e.checks)


def test_answers_copied_from_public_cases_fail_hidden_cases(hidden, engine, bundles):
    exercise = next(e for b in bundles for e in b.exercises if e.name == "sequence_mask")
    table = {}  # the bytes of an input → the expected output
    for case in exercise.cases:
        if case.dtype != "float32":
            continue
        for call in case.all_of(Call):
            if call.name in case.expected:
                argument = case.tensors[call.args[0].name]
                table[argument.tobytes()] = case.expected[call.name].tolist()
    source = (
        f"import torch\nTABLE = {table!r}\n"
        "def sequence_mask(X, valid_len, value=0):\n"
        "    known = TABLE.get(X.detach().numpy().tobytes())\n"
        "    return X * 0.5 if known is None else torch.tensor(known).to(X.dtype) + 0 * X\n"
    )
    public = engine.grade(submission_of(source), ["sequence_mask"]).exercises[0]
    secret = hidden.grade(submission_of(source), ["sequence_mask"]).exercises[0]
    values = [c.outcome for c in public.checks if c.facet == "values"]
    assert values.count("passed") > len(values) / 2, "the copied table should pass public cases"
    assert secret.outcome == "failed"
    assert not [c for c in secret.checks if c.facet == "values" and c.outcome == "passed"]
