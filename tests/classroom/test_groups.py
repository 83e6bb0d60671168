"""Groups of equal wrong answers get a name and a comment. A group with a right answer gets no name."""

import re
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from helpers.files import fill
from helpers.samples import KNOWN, UNKNOWN, entry, failed, result
from helpers.school import ANSWER, SHARED, WRONG, make_school, records_of, run
from msgspec import structs

from grader.bundle.files import digest_of_cases
from grader.bundle.model import FACTS, NAME, PAGE, Rules
from grader.classroom.groups import (
    FILE,
    Groups,
    Named,
    adopt,
    comment,
    forget,
    group_of,
    read_groups,
    text_of,
    write_groups,
)
from grader.classroom.summary import Summary
from grader.intake.course import Course
from grader.nbgrader.preprocessors import comment_on
from grader.report.model import Line
from grader.support.errors import UsageError

HEX = "0123456789abcdef"  # the fingerprint of an answer's results
GROUP = f"sequence_mask:{HEX}"  # the id of a group: an exercise and a fingerprint
NAMED = Named("too-small", 'every "value" is\\ a tenth smaller', "By what do you multiply?", "0" * 64)
# A bank of groups, as it is in the file FILE: group → name, and name or known mistake → comment.
BANK = Groups(
    {GROUP: NAMED}, {"too-small": "Look at line 3.", "mask-length-counts-one-more": "See section 2."}
)


def test_a_group_is_named_and_its_students_get_the_comment():
    lines = (Line("a.py", 3, "scores", "suspected"),)
    assert group_of(failed(UNKNOWN, HEX)) == GROUP
    (named,) = BANK.apply([failed(replace(UNKNOWN, lines=lines), HEX)])
    assert (named.diagnosis.alternatives, named.diagnosis.says) == ((("too-small",),), NAMED.says)
    assert named.diagnosis.lines == lines
    assert named.remarks == ("Look at line 3.",)
    assert NAMED.says in comment_on(named)
    assert "Look at line 3." in comment_on(named)
    (mistake,) = Summary([entry("ada", named)]).mistakes
    assert mistake.name == "too-small"


def test_no_other_answer_is_named_and_a_known_mistake_gets_its_comment():
    (commented,) = BANK.apply([failed(KNOWN)])
    assert commented == replace(failed(KNOWN), remarks=("See section 2.",))
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


def test_a_group_in_the_bank_is_stale_once_its_cases_change(bundles):
    """A rule of the course that changes no case, such as its points, makes no group stale."""
    softmax = next(b.exercise("masked_softmax") for b in bundles if b.assignment == "02_masking")
    group = f"masked_softmax:{HEX}"
    adopted = Groups({group: msgspec.structs.replace(NAMED, cases=digest_of_cases(softmax))})
    assert (
        adopted.stale(Rules(counted=frozenset({"precision"}), points={"masked_softmax": 9}).apply(bundles))
        == []
    )
    fewer = structs.replace(softmax, cases=softmax.cases[1:])
    (sentence,) = adopted.stale(
        [structs.replace(b, exercises=(fewer,)) for b in bundles if b.assignment == "02_masking"]
    )
    assert f"{group} was adopted as too-small" in sentence


def test_the_bank_is_read_as_it_was_written(tmp_path):
    assert read_groups(tmp_path) == Groups()
    write_groups(tmp_path, BANK)
    assert read_groups(tmp_path) == BANK
    write_groups(tmp_path, Groups())
    assert read_groups(tmp_path) == Groups()


TABLE = f'[named."{GROUP}"]\nid = "a"\nsays = "s"\nasks = "a"\ncases = "c"\n'


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "at line 1"),
        ("named = []", "Expected `object`, got `array` - at `$.named`"),
        ("[comments]\na = 1", "Expected `str`, got `int` - at `$.comments[...]`"),
        (TABLE.replace("cases", "case"), "contains unknown field `case` - at `$.named[...]`"),
        (TABLE.replace('says = "s"\n', ""), "missing required field `says` - at `$.named[...]`"),
        (TABLE.replace('"a"', '"A b"'), "- at `$.named[...].id`"),
        (TABLE.replace(GROUP, "x"), "- at `key` in `$.named`"),
        ("a = " + "[" * 100_000, ""),
    ],
)
def test_a_malformed_bank_is_reported_in_one_sentence(tmp_path, text, why):
    (tmp_path / FILE).write_text(text, "utf-8")
    with pytest.raises(UsageError, match="correct it, or remove it") as refused:
        read_groups(tmp_path)
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("group", "id", "sentence"),
    [
        ("x", "a", "x is no group; copy one from the class report"),
        (f"sequence_msk:{HEX}", "a", "did you mean sequence_mask?"),
        (GROUP, "mask-length-counts-one-more", "a mistake is called mask-length-counts-one-more already"),
        (GROUP, "taken", "a mistake is called taken already"),
        (GROUP, "A b", "--id takes lower-case words joined by dashes"),
    ],
)
def test_an_unknown_group_or_a_wrong_id_changes_no_bank(tmp_path, bundles, group, id, sentence):
    bank = Groups({f"sequence_mask:{HEX[::-1]}": msgspec.structs.replace(NAMED, id="taken")})
    write_groups(tmp_path, bank)
    with pytest.raises(UsageError, match=re.escape(sentence)):
        adopt(tmp_path / "solutions", bundles, "basic", group, id, "says", "asks")
    assert read_groups(tmp_path) == bank


def test_a_bank_without_the_group_or_with_no_text_is_refused():
    course = Course(Path(__file__).parents[2] / "assignments")
    with pytest.raises(UsageError, match="has no name in"):
        forget(course, GROUP)
    with pytest.raises(UsageError, match="x is no group"):
        comment(course, "x", "text")
    assert text_of(" a  b ", "--says") == "a b"
    for text in (" ", "x" * 551):
        with pytest.raises(UsageError, match="--says takes 1 to 550"):
            text_of(text, "--says")


# ---- with the real grader


@pytest.fixture
def school(tmp_path) -> Path:
    fill(make_school(tmp_path) / "class", {"ada.py": ANSWER, "bob.py": WRONG, "cyd.py": SHARED})
    return tmp_path


SAYS = ["--says", "every value is a third too large", "--asks", "By what do you multiply?"]


def named(school: Path) -> dict[str, list]:
    """Return student → known mistakes or names of groups, and the comments, in the class report."""
    found = {}
    for record in records_of(run(school, "grade", "class", "--format", "jsonl")):
        (answer,) = record["exercises"]
        found[record["student"]] = [*answer["diagnosis"]["alternatives"], *answer["remarks"]]
    return found


def unnamed(school: Path) -> str:
    """Return the id of the only group without a name in the class report."""
    page = run(school, "grade", "class", "--format", "html").stdout
    (line,) = [line for line in page.splitlines() if 'class="unnamed"' in line]
    return line.split("<code>")[1].split("</code>")[0]


@pytest.mark.slow
def test_a_group_is_adopted_named_commented_and_removed_unless_it_has_a_right_answer(school):
    group = unnamed(school)
    variants = school / "solutions" / "04_heads" / "variants.py"
    before, same_values = variants.read_text("utf-8"), WRONG.partition("\n")[2]
    right = f'VARIANTS.append(variant("a-third-more", "transpose_qkv", {same_values!r}))'
    variants.write_text(f"{before}\n{right}\n", "utf-8")
    refused = run(school, "adopt", group, *SAYS, status=2)
    assert "a-third-more is a right answer and does not pass" in refused.stderr
    assert not (school / FILE).exists()
    variants.write_text(before, "utf-8")

    done = run(school, "adopt", group, *SAYS, "--id", "third-too-large", status=0)
    assert "right answers pass and are not in it" in done.stdout
    run(school, "comment", "third-too-large", "Come on Tuesday.", status=0)
    # The file has neither students nor their code.
    assert "bob" not in (school / FILE).read_text()
    assert "return" not in (school / FILE).read_text()
    of_group = [["third-too-large"], "Come on Tuesday."]
    assert named(school) == {"ada": [], "bob": of_group, "cyd": of_group}
    run(school, "adopt", group, "--remove", status=0)
    assert unnamed(school) == group
    run(school, "comment", "x", "text", status=2)
