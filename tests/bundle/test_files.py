"""A bundle is read as it was written, its tensors when they are asked for, and a wrong file is refused in a sentence."""

import json
import shutil

import pytest
from helpers.command_line import ROOT

from grader.bundle.files import MANIFEST_FILE, TENSORS_FILE, dump, load, loads
from grader.bundle.safetensors import Later
from grader.support.errors import BadData

FOLDER = ROOT / "assignments" / "02_masking"


@pytest.fixture
def folder(tmp_path):
    for name in (MANIFEST_FILE, TENSORS_FILE):
        shutil.copy(FOLDER / name, tmp_path / name)
    return tmp_path


def test_a_bundle_is_read_as_it_was_written():
    bundle = load(FOLDER)
    written = dump(bundle)
    assert dump(loads(*written)) == written
    # The cases in other dtypes are not stored: they follow from those that they repeat.
    again = [case for exercise in bundle.exercises for case in exercise.cases if case.like]
    assert again
    assert all(case.steps and case.tensors for case in again)


def test_only_the_tensors_that_are_asked_for_are_decoded():
    first, *others = load(FOLDER).exercises
    assert all(case.body for case in first.cases)
    arrays = [a for e in others for case in e.cases for a in (case.tensors, case.expected, case.for_judge)]
    assert arrays
    for one in arrays:  # a comparison would decode them
        assert "_made" not in vars(one) if isinstance(one, Later) else not one


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"schema": 2}, "has the format 2, and this version of the grader reads the format 3"),
        ({"schema": 4, "news": []}, "has the format 4, and this version of the grader reads the format 3"),
        ({"minutes": "ten"}, r"Expected `int`, got `str` - at `\$\.minutes`"),
        ({"mood": "good"}, "contains unknown field `mood`"),
        ({"exercises": [{"name": 3}]}, r"Expected `str`, got `int` - at `\$\.exercises\[0\]\.name`"),
        (None, "JSON is malformed"),
    ],
    ids=["an older format", "a newer format", "another type", "unknown field", "deeper", "no JSON"],
)
def test_wrong_text_is_refused_with_the_file_and_the_place(folder, change, sentence):
    path = folder / MANIFEST_FILE
    path.write_text("no JSON" if change is None else json.dumps(json.loads(path.read_bytes()) | change))
    with pytest.raises(BadData, match=rf"{MANIFEST_FILE}:? .*{sentence}"):
        load(folder)


@pytest.mark.parametrize("size", [0, 5, 1000, -1])
def test_tensors_that_are_cut_off_are_refused(folder, size):
    path = folder / TENSORS_FILE
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(BadData):
        load(folder)
