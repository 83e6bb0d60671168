"""No generated input crashes or hangs a reader: 150 to 500 inputs for each, and what ten seconds allow.

`python -m tests.fuzz` runs as long as you choose. The last test puts odd values into the exception of a worker's reply.
"""

import pytest

from fuzz.mutate import ODD
from fuzz.readers import READERS
from fuzz.run import fuzz
from grader.judge.observation import student_error

LONG = 10.0  # seconds


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_no_input_crashes_or_hangs_a_reader(name):
    findings = fuzz(name, inputs=READERS[name].inputs)
    assert findings.is_clean, findings.faults[:3]
    assert findings.inputs == READERS[name].inputs


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_no_input_of_a_long_run_crashes_or_hangs_a_reader(name):
    findings = fuzz(name, first=10_000_000, seconds=LONG)
    assert findings.is_clean, findings.faults[:3]
    assert findings.inputs


@pytest.mark.parametrize("value", ODD)
def test_an_exception_has_only_text_whatever_the_worker_sends(value):
    for fields in (
        value,
        {"type": value, "message": value, "where": value, "step": value},
        {"where": {"file": value, "line": value, "text": value}},
    ):
        error = student_error(fields)
        assert error is None or all(isinstance(text, str) for text in (error.type, error.message, error.step))
