"""`grader reset`: the original stub, with a copy of the old file."""

from helpers.command_line import run


def test_reset_restores_the_stub_and_saves_the_old_file(course):
    path = course / "04_heads" / "heads.py"
    stub = path.read_text("utf-8")
    path.write_text(
        stub.replace('raise NotImplementedError("transpose_qkv is not written yet")', "return X"), "utf-8"
    )
    assert run("reset", "transpose_qkv", cwd=course).returncode == 0
    assert path.read_text("utf-8") == stub
    (old_file,) = path.parent.glob("heads.*.old")
    assert "return X" in old_file.read_text("utf-8")
