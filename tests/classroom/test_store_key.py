"""The key of stored results depends on the grader's code, so results of other code are not reused."""

from __future__ import annotations

from grader.authoring.hidden_cases import COMPLETE
from grader.classroom import class_run


def test_results_of_other_code_are_not_reused(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADWAY_SEED_FILE", str(tmp_path / "seed"))
    (tmp_path / "seed").write_text("a secret seed that is long enough" * 2, "utf-8")
    (tmp_path / COMPLETE).write_text("cases", "ascii")  # the hash of the course
    key = class_run.store_key(tmp_path, "strict")
    assert class_run.store_key(tmp_path, "strict") == key
    monkeypatch.setattr(class_run, "code_digest", lambda: "other code")
    assert class_run.store_key(tmp_path, "strict") != key
