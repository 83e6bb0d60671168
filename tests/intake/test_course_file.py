"""headway.toml: settings take effect; the message on a wrong value names the key and, if possible, valid values."""

from pathlib import Path

import pytest
from helpers.command_line import ROOT
from msgspec.structs import replace

from grader.bundle.model import FACETS, NO_RULES, Rules
from grader.intake.course import MAX_BYTES, Course, CourseFile, read_course_file
from grader.support.errors import UsageError


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """Return an instructor's checkout with one assignment."""
    for folder in ("assignments", "solutions"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "04_heads").symlink_to(ROOT / folder / "04_heads")
    return Course(tmp_path / "assignments")


def write(course: Course, text: str) -> Course:
    (course.root / "headway.toml").write_text(text, "utf-8")
    return course


def test_a_file_that_sets_nothing_changes_nothing(course):
    write(course, 'course = "x"\n')
    assert course.settings == CourseFile("x")
    assert course.rules.words() == ""
    (bundle,) = course.bundles
    (plain,) = NO_RULES.apply(course.bundles)
    assert bundle == plain


def test_points_weights_and_level_change_the_exercises(course):
    text = 'level = 1\nkeep = "best"\n[points]\ntranspose_qkv = 7\n[weights]\npurity = 0\n[weights.transpose_qkv]\nvalues = 3\n'
    (bundle,) = write(course, text).bundles
    first, second = bundle.exercise("transpose_qkv"), bundle.exercise("transpose_output")
    assert course.settings.keep == "best"
    assert (first.points, first.weights["values"], first.counts("purity")) == (7, 3, False)
    assert second.points != 7
    assert second.weights.get("values", 1) != 3
    assert not second.counts("purity")
    assert first.level == 1
    assert {(m.asks, m.page) for m in first.mistakes} == {("", "")}
    assert all(m.says for m in first.mistakes)


def test_a_course_never_raises_the_level_of_an_exercise(course):
    (bundle,) = write(course, "level = 2\n").bundles
    low = replace(bundle, exercises=tuple(replace(e, level=0) for e in bundle.exercises))
    assert {e.level for e in course.rules.apply([low])[0].exercises} == {0}


def test_only_equal_rules_have_equal_words():
    rules = Rules(points={"a": 1, "b": 2}, weights={"values": 1})
    assert rules.words() == Rules(points={"b": 2, "a": 1}, weights={"values": 1}).words()
    others = [
        NO_RULES,
        Rules(points={"a": 2, "b": 2}, weights={"values": 1}),
        Rules(level=1),
        Rules(weights={"values": 1}),
        Rules(own_weights={"a": {"values": 1}}),
        Rules(counted=frozenset({"precision"})),
    ]
    assert len({each.words() for each in [rules, *others]}) == 7


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("pionts = 3\n", "headway.toml cannot be read: Object contains unknown field `pionts`"),
        ("level = 4\n", "Expected `int` <= 3 - at `$.level`"),
        ("level = true\n", "Expected `int`, got `bool` - at `$.level`"),
        ("level = 1" + "0" * 5000 + "\n", "headway.toml cannot be read: "),
        ('keep = "last"\n', "Expected `str` matching regex '^(newest|best)$' - at `$.keep`"),
        (
            'policies_that_count = ["x"]\n',
            "regex '^(precision|odd-width|grad-mode)$' - at `$.policies_that_count[0]`",
        ),
        ("points = 3\n", "Expected `object`, got `int` - at `$.points`"),
        ("[points]\ntranspose_qkv = -1\n", "Expected `float` >= 0.0 - at `$.points[...]`"),
        ("[points]\ntranspose_qkv = nan\n", "Expected `float` >= 0.0 - at `$.points[...]`"),
        ("[points]\ntranspose_qkv = inf\n", "Expected `float` <= 10000.0 - at `$.points[...]`"),
        ("[points]\ntranspose_qkv = 1" + "0" * 400 + "\n", "Number out of range - at `$.points[...]`"),
        ('[points]\ntranspose_qkv = "x"\n', "Expected `float`, got `str` - at `$.points[...]`"),
        ('[canvas]\n04_heads = "a\\nb"\n', "canvas.04_heads: it is more than one line"),
        (
            "[points]\ntranspose_qkw = 1\n",
            "points.transpose_qkw: there is no such exercise; there are transpose_qkv,",
        ),
        ("[weights]\nvalue = 1\n", "weights.value: the facets are shapes, values,"),
        ("[weights.transpose_qkv]\nvalue = 1\n", "|cost|training)$' - at `key` in `$.weights[...]`"),
        (
            "[weights.transpose_qkv]\nvalues = false\n",
            "Expected `float`, got `bool` - at `$.weights[...][...]`",
        ),
        ("[weights.nothing]\nvalues = 1\n", "weights.nothing: there is no such exercise"),
        ("[points\n", "headway.toml cannot be read: "),
        ("x = " + "[" * 5000, "headway.toml cannot be read: "),
        ("#" * (MAX_BYTES + 1), "it is larger than 64 KiB"),
    ],
)
def test_a_wrong_value_is_reported_in_one_sentence(course, text, sentence):
    with pytest.raises(UsageError) as refused:
        _ = write(course, text).bundles
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "key", [key for key in CourseFile.__struct_fields__ if key != "course"]
)  # "course" sets nothing
def test_the_guide_explains_every_key_that_sets_something(key):
    text = (ROOT / "docs" / "instructor.md").read_text("utf-8")
    assert f"| `{key}` |" in text or f"| `[{key}]` |" in text


def test_weights_that_leave_no_check_are_refused(course):
    text = "[weights.transpose_qkv]\n" + "".join(f"{facet} = 0\n" for facet in FACETS)
    with pytest.raises(UsageError, match="every facet of transpose_qkv has weight 0"):
        _ = write(course, text).bundles


def test_a_kit_ignores_exercises_that_it_does_not_have(tmp_path):
    (tmp_path / "04_heads").symlink_to(ROOT / "assignments" / "04_heads")
    (tmp_path / "headway.toml").write_text("[points]\ntrain = 9\n", "utf-8")
    assert len(Course(tmp_path).bundles) == 1


def test_a_missing_file_is_reported(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        read_course_file(tmp_path / "headway.toml")
