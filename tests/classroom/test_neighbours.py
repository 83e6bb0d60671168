"""A file is graded with the modules in its own folder and below, not with modules of other students."""

import tarfile
import zipfile
from pathlib import Path

import pytest
from helpers.files import fill

from grader.bundle.model import Bundle
from grader.classroom import discover as discovery
from grader.classroom.archives import MAX_GRADABLE
from grader.classroom.discover import SubmittedFile, discover
from grader.intake.read import MAX_IMPORTS, Submission, submission_from, with_neighbours

MAIN = "from pieces import split\nfrom layers.norm import scale\nimport other\nimport heads\n"
FILES = {"heads.py": MAIN, "pieces.py": "x = 1\n", "layers/norm.py": "from pieces import split\n"}


def neighbours(root: Path, bundles: list[Bundle], submission: str) -> list[str]:
    """Return the modules with which a submitted file is graded."""
    (file,) = [file for file in discover(root, bundles) if file.submission == submission]
    return [module.name for module in read(file).neighbours]


def read(file: SubmittedFile, data: bytes | None = None) -> Submission:
    return with_neighbours(submission_from(file.file, data or file.read()), file.beside())


@pytest.mark.parametrize(
    ("folder", "beside", "found"),
    [
        ("ada", "ada", ["pieces.py", "layers/norm.py"]),
        ("ada/a/b", "ada/a/b", ["pieces.py", "layers/norm.py"]),
        ("ada/04_heads", "ada", []),  # above the file
        (".", ".", []),  # files without a folder belong to different students
        ("ada", "bob", []),
    ],
)
def test_modules_in_the_folder_of_a_student_and_below_are_read(bundles, tmp_path, folder, beside, found):
    fill(tmp_path / beside, FILES)
    fill(tmp_path / folder, {"heads.py": MAIN})
    assert neighbours(tmp_path, bundles, str(Path(folder, "heads.py"))) == found


def test_modules_in_the_archive_of_a_file_are_read(bundles, tmp_path):
    with zipfile.ZipFile(tmp_path / "ada.zip", "w") as archive:
        for name, text in FILES.items():
            archive.writestr(name, text)
    with tarfile.open(tmp_path / "bob.tar", "w") as archive:
        archive.add(fill(tmp_path.parent / "elsewhere", FILES), "mine")
    wanted = ["pieces.py", "layers/norm.py"]
    assert neighbours(tmp_path, bundles, "ada.zip/heads.py") == wanted
    assert neighbours(tmp_path, bundles, "bob.tar/mine/heads.py") == wanted


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["ada/heads.safetensors"], b"ada/heads.safetensors"),
        (["ada/mine.safetensors"], b"ada/mine.safetensors"),  # the only ones
        (
            ["ada/mine.safetensors", "ada/heads.safetensors"],
            b"ada/heads.safetensors",
        ),  # those named as the file
        (["ada/a.safetensors", "ada/b.safetensors"], b""),
        (["ada/bundle.safetensors", "ada/case_mask.safetensors"], b""),  # of the grader
        (["heads.safetensors", "bob/heads.safetensors"], b""),
    ],
)
def test_weights_beside_a_file_are_read(bundles, tmp_path, names, found):
    fill(tmp_path, {"ada/heads.py": "", **{name: name for name in names}})
    files = discover(tmp_path, bundles)
    assert [file.student for file in files if not file.problem] == ["ada"]
    assert read(files[0], b"x = 1").weights == found
    assert with_neighbours(submission_from(tmp_path / "ada" / "heads.py", b"x = 1")).weights == found
    with zipfile.ZipFile(tmp_path.parent / "eve.zip", "w") as archive:
        for path in (tmp_path / "ada").iterdir():
            archive.write(path, path.name)
    (file,) = discover(tmp_path.parent / "eve.zip", bundles)
    assert read(file, b"x = 1").weights == found


def test_files_of_several_students_have_weights_of_their_names(bundles, tmp_path):
    fill(tmp_path, {"ada.py": "", "bob.py": "", "ada.safetensors": "of ada"})
    found = {file.student: read(file, b"x = 1").weights for file in discover(tmp_path, bundles)}
    assert found == {"ada": b"of ada", "bob": b""}


def test_links_in_a_folder_are_not_followed(bundles, tmp_path):
    fill(tmp_path / "bob", {"pieces.py": "x = 1\n"})
    fill(tmp_path / "ada", {"heads.py": MAIN})
    (tmp_path / "ada" / "pieces.py").symlink_to(tmp_path / "bob" / "pieces.py")
    assert neighbours(tmp_path, bundles, "ada/heads.py") == []


def test_equal_files_with_different_modules_have_different_hashes(bundles, tmp_path):
    fill(tmp_path / "ada", FILES)
    fill(tmp_path / "bob", FILES | {"pieces.py": "x = 2\n"})
    two = [file for file in discover(tmp_path, bundles) if file.submission.endswith("heads.py")]
    assert len({read(file).content for file in two}) == 2


@pytest.mark.parametrize(
    "bad",
    [b"\xff", b"x = 1\0", b"x = [" + b"1," * 60_000 + b"]", b"#" * (1 << 20) + b"#", b"x" + b".y" * 200],
)
def test_a_binary_too_large_or_too_deep_module_is_left_out(bad):
    answer = submission_from(Path("a.py"), b"import b\n")
    assert with_neighbours(answer, {"b.py": lambda: bad}).neighbours == ()


def test_the_number_of_imports_that_are_looked_up_is_bounded():
    """A module that many imports name is read once, and a name with too many parts is not looked up."""
    asked = []

    class Files(dict):
        def __missing__(self, place):
            asked.append(place)
            raise KeyError(place)

    files = Files({"b.py": lambda: asked.append("b.py") or b"x = 1\n"})
    source = "".join(f"import a{i}.b\n" for i in range(50)) + f"import {'.'.join('c' * 90)}.b\n"
    found = with_neighbours(submission_from(Path("a.py"), source.encode()), files)
    assert [module.name for module in found.neighbours] == ["b.py"]
    assert asked.count("b.py") == 1
    assert len(asked) <= 2 + 2 * 50  # b.py, b/__init__.py, and the same two in each folder a{i}
    asked.clear()
    source = "".join(f"import m{i}\n" for i in range(3 * MAX_IMPORTS))
    with_neighbours(submission_from(Path("a.py"), source.encode()), Files())
    assert len(asked) == 2 * MAX_IMPORTS  # two paths per name: m0.py and m0/__init__.py


def test_modules_are_read_for_graded_files_only(bundles, tmp_path, monkeypatch):
    """A student's folder may hold thousands of folders, such as a virtual environment."""
    find_modules, calls = discovery._beside, []
    monkeypatch.setattr(discovery, "_beside", lambda *of: calls.append(of) or find_modules(*of))
    fill(tmp_path, {f"ada/{i}/a.py": "x = 1\n" for i in range(2 * MAX_GRADABLE)})
    found = discover(tmp_path, bundles)
    assert len(found) == MAX_GRADABLE + 1  # the last entry counts the other files
    assert not calls
    assert [len(file.beside()) for file in found] == [0] * len(found)
    assert len(calls) == MAX_GRADABLE
