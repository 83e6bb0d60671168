"""The modules beside a submission that it imports: inside its folder only, and bounded."""

from grader.intake.read import MAX_NEIGHBOURS, read_submission, with_neighbours


def test_neither_links_nor_outside_files_nor_frameworks_are_read(tmp_path):
    outside = tmp_path / "outside"
    inside = tmp_path / "inside"
    (inside / "sub").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret.py").write_text("x = 1\n")
    (inside / "linked.py").symlink_to(outside / "secret.py")
    (inside / "folder").symlink_to(outside)
    (inside / "near.py").symlink_to(inside / "plain.py")
    (inside / "plain.py").write_text("x = 1\n")
    (inside / "tensorflow.py").write_text("x = 1\n")
    names = ["tensorflow", "linked", "folder.secret", "..outside.secret", "near", "plain", "answer"]
    lines = [f"from {name} import x\n" for name in names]
    (inside / "answer.py").write_text("".join(lines))
    found = with_neighbours(read_submission(inside / "answer.py"))
    assert [file.name for file in found.neighbours] == ["plain.py"]


def test_the_number_and_the_size_of_neighbours_are_bounded(tmp_path):
    for i in range(MAX_NEIGHBOURS + 5):
        (tmp_path / f"m{i}.py").write_text(f"x = {i}\n")
    (tmp_path / "answer.py").write_text("".join(f"import m{i}\n" for i in range(MAX_NEIGHBOURS + 5)))
    assert len(with_neighbours(read_submission(tmp_path / "answer.py")).neighbours) == MAX_NEIGHBOURS
    for i in range(3):
        (tmp_path / f"m{i}.py").write_text("#" * 600_000)  # two together exceed MAX_SOURCE_BYTES
    assert len(with_neighbours(read_submission(tmp_path / "answer.py")).neighbours) == 1
