"""The wheels for computers without a connection, downloaded from a test index and installed with pip alone."""

import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

from grader.release.wheels import WHEELHOUSE, WHEELS, add_wheelhouse
from grader.support.errors import UsageError

TORCH = version("torch").split("+")[0]
PURE = "py3-none-any"
# Package → the tags of its wheels, and a package that it requires.
STUBS = {
    **dict.fromkeys(
        ("safetensors", "msgspec", "pyflakes", "rich", "jinja2", "pytest", "watchfiles", "colorama"),
        ((PURE,), ""),
    ),
    "click": ((PURE,), "colorama; sys_platform == 'win32'"),
    "numpy": (("cp312-cp312-win_amd64", "cp312-cp312-manylinux_2_17_x86_64"), ""),
    "torch": (("cp312-cp312-win_amd64", "cp312-cp312-manylinux_2_28_x86_64"), ""),
}


def stub(folder: Path, name: str, number: str, tag: str, needs: str) -> None:
    """Write a wheel without code. number: its version. needs: a requirement, or ""."""
    with zipfile.ZipFile(folder / f"{name}-{number}-{tag}.whl", "w") as wheel:
        about = f"{name}-{number}.dist-info"
        needed = f"Requires-Dist: {needs}\n" if needs else ""
        wheel.writestr(
            f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {number}\n{needed}"
        )
        wheel.writestr(f"{about}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n")
        wheel.writestr(f"{about}/RECORD", "")


@pytest.fixture
def kit(tmp_path, monkeypatch) -> Path:
    """Make a kit with a wheel, in an environment whose only package index is a folder of stub wheels."""
    index, kit = tmp_path / "index", tmp_path / "kit"
    index.mkdir()
    for name, (tags, needs) in STUBS.items():
        for tag in tags:
            stub(index, name, TORCH if name == "torch" else "99.0", tag, needs)
    (kit / WHEELS).mkdir(parents=True)
    stub(kit / WHEELS, "headway", "1", PURE, "torch")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    for name in ("UV_OFFLINE", "UV_NO_CACHE", "PIP_NO_INDEX"):
        monkeypatch.setenv(name, "1")
    for name in ("UV_FIND_LINKS", "PIP_FIND_LINKS"):
        monkeypatch.setenv(name, str(index))
    return kit


@pytest.mark.slow
def test_each_platform_gets_its_own_wheels_and_hashes(kit):
    messages = []
    add_wheelhouse(kit, ["windows", "linux"], "3.12", messages.append)
    names = {path.name for path in (kit / WHEELHOUSE).glob("*.whl")}
    assert {f"torch-{TORCH}-{tag}.whl" for tag in STUBS["torch"][0]} <= names
    windows, linux = ((kit / WHEELHOUSE / f"{name}.txt").read_text("utf-8") for name in ("windows", "linux"))
    assert "colorama==99.0" in windows
    assert "colorama" not in linux
    assert any(f"windows: package {len(STUBS)} of {len(STUBS)}" in line for line in messages)


@pytest.mark.slow
def test_a_kit_installs_without_an_index_unless_a_wheel_was_changed(kit, monkeypatch):
    digits = f"{sys.version_info[0]}{sys.version_info[1]}"  # of Python, as in a tag: 312 for 3.12
    for name, number in (("numpy", "99.0"), ("torch", TORCH)):
        stub(kit.parent / "index", name, number, f"cp{digits}-cp{digits}-manylinux_2_17_x86_64", "")
    add_wheelhouse(kit, ["linux"], f"{digits[0]}.{digits[1:]}", print)
    monkeypatch.delenv("PIP_FIND_LINKS")

    def installed(target: Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pip", "install", "--target", str(target), "--no-index"]
        command += ["--find-links", WHEELHOUSE, "--require-hashes", "-r", f"{WHEELHOUSE}/linux.txt"]
        return subprocess.run(command, cwd=kit, capture_output=True, text=True)

    done = installed(kit.parent / "first")
    assert done.returncode == 0, done.stderr
    assert (kit.parent / "first" / "headway-1.dist-info").is_dir()
    with zipfile.ZipFile(kit / WHEELHOUSE / "rich-99.0-py3-none-any.whl", "a") as wheel:
        wheel.writestr("rich.py", "")
    done = installed(kit.parent / "second")
    assert done.returncode != 0
    assert "DO NOT MATCH THE HASHES" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("platform", "index", "sentence"),
    [
        ("macos", "index", r"no wheels for macos and Python 3\.12: Because torch"),
        ("linux", "empty", "wheels were not downloaded: Could not find a version"),
    ],
)
def test_a_wheel_that_is_missing_or_not_downloaded_is_named_in_one_sentence(
    kit, monkeypatch, platform, index, sentence
):
    (kit.parent / "empty").mkdir()
    monkeypatch.setenv("PIP_FIND_LINKS", str(kit.parent / index))
    with pytest.raises(UsageError, match=sentence) as refused:
        add_wheelhouse(kit, [platform], "3.12", print)
    assert "\n" not in str(refused.value)


def test_without_uv_the_message_says_how_to_install_uv(kit, monkeypatch):
    monkeypatch.setattr("grader.release.wheels.find_spec", lambda name: None)
    with pytest.raises(UsageError, match="python -m pip install uv"):
        add_wheelhouse(kit, ["linux"], "3.12", print)
    assert not (kit / WHEELHOUSE).exists()
