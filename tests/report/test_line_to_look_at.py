"""The line to look at in a report: its place, its code, and the underlined part."""

from dataclasses import replace

from grader.report.line_to_look_at import lines_to_look_at
from grader.report.model import CheckResult, Diagnosis, ExerciseResult, Line

CODE = "return torch.arange(n)[None, :] <= valid_len[:, None]"


def result(certainty="repaired", change="", name="sequence_mask"):
    touched = len("return "), len(CODE)
    line = Line("masking.py", 41, CODE, certainty, change, touched)
    return ExerciseResult(name, "02_masking", "failed", 0.0, 1.0, diagnosis=Diagnosis("none", lines=(line,)))


def test_a_certain_line_is_named_with_its_code():
    (text,) = lines_to_look_at([result()])
    assert text.plain == f"look at masking.py:41   {CODE}"


def test_the_part_that_a_change_touches_is_underlined():
    (text,) = lines_to_look_at([result()])
    spans = [text.plain[s.start : s.end] for s in text.spans if "underline" in str(s.style)]
    assert spans == [CODE[7:]]


def test_a_suspected_line_begins_with_perhaps():
    (text,) = lines_to_look_at([result("suspected")])
    assert text.plain.startswith("perhaps look at")


def test_the_other_suspected_places_follow():
    suspected = result("suspected")
    lines = tuple(replace(suspected.diagnosis.lines[0], line=number) for number in (41, 30, 33))
    (text,) = lines_to_look_at([replace(suspected, diagnosis=replace(suspected.diagnosis, lines=lines))])
    assert text.plain == f"perhaps look at masking.py:41   {CODE}   or at lines 30, 33"


def test_the_kind_of_change_follows_the_code():
    (text,) = lines_to_look_at([result(change="a comparison")])
    assert text.plain.endswith("(a comparison)")


def test_lines_of_several_exercises_begin_with_their_names():
    texts = lines_to_look_at([result(), result(name="masked_softmax")])
    assert [text.plain.split(":")[0] for text in texts] == ["sequence_mask", "masked_softmax"]


def test_long_code_is_cut_before_the_part_that_a_change_touches():
    one = result()
    line = replace(one.diagnosis.lines[0], touched=(len(CODE) - 9, len(CODE)))
    (text,) = lines_to_look_at([replace(one, diagnosis=replace(one.diagnosis, lines=(line,)))], width=50)
    assert text.cell_len == 50
    assert text.plain.startswith("look at masking.py:41   …")
    assert text.plain.endswith("[:, None]")
    assert [text.plain[s.start : s.end] for s in text.spans if "underline" in str(s.style)] == ["[:, None]"]


def raised_at(line, says=""):
    """Return a result that suspects line 41, and has a failure at line `line`."""
    check = CheckResult("c/x", "values", "result", "failed", where=f"masking.py, line {line}: {CODE}")
    one = result("suspected")
    return replace(one, checks=(check,), diagnosis=replace(one.diagnosis, says=says))


def test_a_suspected_line_that_the_report_names_is_not_repeated():
    assert lines_to_look_at([raised_at(41)]) == []
    assert len(lines_to_look_at([raised_at(4)])) == 1


def test_a_slip_in_the_diagnosis_replaces_a_suspected_line():
    assert lines_to_look_at([raised_at(4, "masking.py, line 3: f returns no value")]) == []


def test_long_code_is_cut_and_other_places_are_shown():
    one = result("suspected")
    lines = tuple(replace(one.diagnosis.lines[0], line=number) for number in (41, 30))
    (text,) = lines_to_look_at([replace(one, diagnosis=replace(one.diagnosis, lines=lines))], width=60)
    assert text.cell_len == 60
    assert text.plain.endswith("…   or at line 30")
