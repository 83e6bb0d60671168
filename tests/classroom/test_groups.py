"""Groups of equal wrong answers get a name and a comment. A group with a right answer gets no name."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.browser.samples import KNOWN, UNKNOWN, entry, failed, result
from helpers.files import fill
from helpers.school import ANSWER, SHARED, WRONG, make_school, run

from grader.bundle.files import digest_of_cases
from grader.bundle.rules import FACTS, NAME, PAGE, Rules
from grader.classroom.groups import (
    FILE,
    ID,
    MAX_BYTES,
    Groups,
    Named,
    group_of,
    read_groups,
    text_of,
    write_groups,
)
from grader.classroom.summary import summarise
from grader.nbgrader.cell_outputs import comment_on
from grader.report.model import Line
from grader.support.errors import UsageError

HEX = "0123456789abcdef"  # the fingerprint of an answer's results
GROUP = f"sequence_mask:{HEX}"  # the id of a group: an exercise and a fingerprint
NAMED = Named("too-small", "every value is a tenth smaller", "By what do you multiply?")
# A bank of groups, as it is in the file FILE: group → name, and name or known mistake → comment.
BANK = Groups(
    {GROUP: NAMED}, {"too-small": "Look at line 3.", "mask-length-counts-one-more": "See section 2."}
)


def test_a_group_is_named_and_its_students_get_the_comment():
    assert group_of(failed(UNKNOWN, HEX)) == GROUP
    (named,) = BANK.apply([failed(UNKNOWN, HEX)])
    assert (named.diagnosis.alternatives, named.diagnosis.says) == ((("too-small",),), NAMED.says)
    assert named.remarks == ("Look at line 3.",)
    assert "every value is a tenth smaller" in comment_on(named)
    assert "Look at line 3." in comment_on(named)
    (mistake,) = summarise([entry("ada", named)]).mistakes
    assert mistake.group == "too-small"


def test_a_group_that_is_named_keeps_its_lines():
    lines = (Line("a.py", 3, "scores", "suspected"),)
    (named,) = BANK.apply([failed(replace(UNKNOWN, lines=lines), HEX)])
    assert named.diagnosis.lines == lines


def test_a_text_or_id_too_long_for_the_bank_is_refused():
    assert text_of(" a  b ", "--says") == "a b"
    with pytest.raises(UsageError, match="--says takes 1 to 550"):
        text_of("\x1b" * 500, "--says")  # longer after sanitizing
    assert ID.fullmatch("a" * 100)
    assert not ID.fullmatch("a" * 101)


def test_a_known_mistake_gets_a_comment_and_keeps_its_name():
    (commented,) = BANK.apply([failed(KNOWN)])
    assert commented.diagnosis == KNOWN
    assert commented.remarks == ("See section 2.",)


def test_no_other_answer_is_named():
    others = [
        failed(UNKNOWN, HEX[::-1]),
        failed(UNKNOWN, ""),
        result("sequence_mask", "passed", 3.0),
        result("masked_softmax", "failed", 1.0, diagnosis=UNKNOWN, fingerprint=HEX),
    ]
    assert list(BANK.apply(others)) == others


def test_the_level_of_the_course_limits_what_its_bank_shows():
    facts, name, page = (
        BANK.apply([failed(UNKNOWN, HEX)], level)[0].diagnosis for level in (FACTS, NAME, PAGE)
    )
    assert facts == UNKNOWN
    assert (name.says, name.asks, page.asks) == (NAMED.says, "", NAMED.asks)


def test_a_bank_of_an_earlier_version_is_read_and_never_stale(tmp_path, bundles):
    named = {"id": NAMED.id, "says": NAMED.says, "asks": NAMED.asks}
    (tmp_path / FILE).write_text(json.dumps({"named": {GROUP: named}, "comments": {}}), "utf-8")
    read = read_groups(tmp_path)
    assert read.named == {GROUP: NAMED}
    assert read.stale(bundles) == []


@pytest.mark.slow
def test_a_group_is_stale_if_its_digest_is_of_other_cases(bundles):
    masking = next(b.exercise("sequence_mask") for b in bundles if b.assignment == "02_masking")
    adopted = Groups({GROUP: replace(NAMED, cases=digest_of_cases(masking))})
    assert adopted.stale(bundles) == []
    fewer = replace(masking, cases=masking.cases[1:])
    other = [replace(b, exercises=(fewer,)) for b in bundles if b.assignment == "02_masking"]
    (sentence,) = adopted.stale(other)
    assert f"{GROUP} was adopted as too-small" in sentence
    assert adopted.stale([]) == []


@pytest.mark.slow
def test_a_group_is_not_stale_for_another_rule_of_the_course(bundles):
    masking = next(b.exercise("masked_softmax") for b in bundles if b.assignment == "02_masking")
    assert any(check.policy for case in masking.cases for check in case.checks)
    group = GROUP.replace("sequence_mask", "masked_softmax")
    adopted = Groups({group: replace(NAMED, cases=digest_of_cases(masking))})
    assert adopted.stale(Rules(counted=("precision",), points={"masked_softmax": 9}).apply(bundles)) == []


def test_the_bank_is_read_as_it_was_written(tmp_path):
    assert read_groups(tmp_path) == Groups()
    write_groups(tmp_path, BANK)
    assert read_groups(tmp_path) == BANK


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"named": [], "comments": {}}',
        '{"named": {}, "comments": {"a": 1}}',
        '{"named": {}, "comments": {"a": ""}}',
        '{"named": {"a": {"id": "a", "says": "s", "asks": "a"}}, "comments": {}}',
        json.dumps({"named": {GROUP: {"id": "A b", "says": "s", "asks": "a"}}, "comments": {}}),
        json.dumps({"named": {GROUP: {"id": "a", "says": "s" * 601, "asks": "a"}}, "comments": {}}),
        json.dumps({"named": {GROUP: {"id": "a", "says": "s"}}, "comments": {}}),
        json.dumps({"named": {GROUP: {"id": "a", "says": "s", "asks": "a", "cases": "x"}}, "comments": {}}),
        json.dumps({"named": {GROUP: {"id": "a", "says": "s", "asks": "a", "cases": 1}}, "comments": {}}),
        "[" * 100_000,
        " " * (MAX_BYTES + 1),
    ],
)
def test_a_malformed_bank_is_reported_in_one_sentence(tmp_path, text):
    (tmp_path / FILE).write_text(text, "utf-8")
    with pytest.raises(UsageError, match="correct it, or remove it") as refused:
        read_groups(tmp_path)
    assert "\n" not in str(refused.value)


# ---- with the real grader


@pytest.fixture(scope="module")
def school(tmp_path_factory) -> Path:
    root = make_school(tmp_path_factory.mktemp("school"))
    fill(root / "class", {"ada.py": ANSWER, "bob.py": WRONG, "cyd.py": SHARED})
    return root


def groups(school: Path) -> list[str]:
    """Return the ids of the groups without a name in the class report."""
    page = run(school, "grade", "class", "--format", "html").stdout
    return [
        line.split("<code>")[1].split("</code>")[0] for line in page.splitlines() if 'class="unnamed"' in line
    ]


def adopt(school: Path, group: str, *more: str, status: int = 0):
    options = ["--says", "every value is a third too large", "--asks", "By what do you multiply?", *more]
    return run(school, "adopt", group, *options, status=status)


@pytest.mark.slow
def test_a_group_is_adopted_named_commented_and_removed(school):
    (group,) = groups(school)
    done = adopt(school, group, "--id", "third-too-large")
    assert "right answers pass and are not in it" in done.stdout
    run(school, "comment", "third-too-large", "Come on Tuesday.")
    # The file has neither students nor their code.
    assert "bob" not in (school / FILE).read_text()
    assert "return" not in (school / FILE).read_text()
    records = [
        json.loads(line) for line in run(school, "grade", "class", "--format", "jsonl").stdout.splitlines()
    ]
    named = {r["student"]: r["exercises"][0]["diagnosis"]["alternatives"] for r in records}
    assert named == {"ada": [], "bob": [["third-too-large"]], "cyd": [["third-too-large"]]}
    assert records[1]["exercises"][0]["remarks"] == ["Come on Tuesday."]
    assert groups(school) == []
    run(school, "adopt", group, "--remove")
    assert groups(school) == [group]


@pytest.mark.slow
def test_a_group_is_stale_once_the_cases_have_changed(school):
    (group,) = groups(school)
    adopt(school, group, "--id", "third-too-large")
    cases = school / "solutions" / "04_heads" / "cases.py"
    before = cases.read_text("utf-8")
    assert "was adopted as" not in run(school, "grade", "class").stderr
    cases.write_text(f"{before}\n\nTITLE = 'changes no case'\n", "utf-8")
    assert "was adopted as" not in run(school, "grade", "class").stderr
    assert "low=2, high=6" in before
    cases.write_text(before.replace("low=2, high=6", "low=3, high=7"), "utf-8")
    try:
        printed = run(school, "grade", "class").stderr
    finally:
        cases.write_text(before, "utf-8")
    warning = f"{group} was adopted as third-too-large, and the cases of transpose_qkv have changed since"
    assert warning in printed
    assert printed.count("was adopted as") == 1
    run(school, "adopt", group, "--remove")


@pytest.mark.slow
def test_a_group_that_contains_a_right_answer_is_refused(school):
    """A variant that counts as right has the values of the group. `adopt` grades it and refuses."""
    (group,) = groups(school)
    variants = school / "solutions" / "04_heads" / "variants.py"
    before = variants.read_text("utf-8")
    wrong = WRONG.partition("\n")[2]
    variants.write_text(
        before + f'\nVARIANTS.append(variant("a-third-more", "transpose_qkv", {wrong!r}))\n', "utf-8"
    )
    try:
        (same,) = groups(school)
        refused = adopt(school, same, status=2)
    finally:
        variants.write_text(before, "utf-8")
    assert (
        "a-third-more is a right answer and gives the values of this group; nothing was adopted"
        in refused.stderr
    )
    assert not (school / FILE).exists() or json.loads((school / FILE).read_text())["named"] == {}
    assert group == same


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["x"], "x is no group; copy one from the class report"),
        ([f"transpose_qkw:{HEX}"], "did you mean transpose_qkv?"),
        (
            [f"transpose_qkv:{HEX}", "--id", "heads-cut-straight"],
            "a mistake is called heads-cut-straight already",
        ),
        ([f"transpose_qkv:{HEX}", "--id", "A b"], "--id takes lower-case words joined by dashes"),
        ([f"transpose_qkv:{HEX}", "--says", " "], "--says takes 1 to 550 characters"),
        ([f"transpose_qkv:{HEX}", "--remove"], "has no name in"),
    ],
)
def test_a_wrong_call_is_reported_in_one_sentence(school, options, sentence):
    (school / FILE).unlink(missing_ok=True)
    refused = adopt(school, *options, status=2)
    assert sentence in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1


@pytest.mark.slow
def test_a_comment_for_an_unknown_group_is_refused(school):
    assert "x is no group" in run(school, "comment", "x", "text", status=2).stderr
