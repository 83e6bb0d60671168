"""Choose which tests run in `make test`. The others are marked slow; `make test-all` runs all tests."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import pytest

T = TypeVar("T")


def first_of_each(items: Iterable[T], key: Callable[[T], Hashable], name: Callable[[T], str]) -> list[Any]:
    """Return parameters for `parametrize`: all but the first of each key are marked slow."""
    seen: set[Hashable] = set()
    out = []
    for item in items:
        marks = [pytest.mark.slow] if key(item) in seen else []
        seen.add(key(item))
        out.append(pytest.param(item, id=name(item), marks=marks))
    return out


# Files that take long → pattern of the test names that stay in `make test`; "" for none.
SLOW_FILES = {
    "attacks/test_hidden.py": r"^(?!test_no_report)|raised\]|printed|error",
    "attacks/test_reach.py": r"strict-where",
    "attacks/test_train_labels.py": "scores_of_the_weights",
    "authoring/test_random_mistakes.py": "open|refused",
    "authoring/test_recordings.py": "texts|depend|build_of_one",
    "cases/test_nothing_extra_travels.py": "02_masking|06_positions",
    "classroom/test_archives.py": r"^(?!.*(entries|bzip2))",
    "classroom/test_bounded_reader.py": r"^(?!.*\[sleep)",
    "classroom/test_class_run.py": r"^(?!.*\[hang)",
    "classroom/test_cluster.py": "^(?!test_hosts|test_only_certificates|test_a_real_worker)",
    "classroom/test_discover.py": "^(?!test_a_file_beyond_the_limits)",
    "classroom/test_grade.py": "deserved|cannot_be_read|report|cell|sentence",
    "classroom/test_hostile_submissions.py": r"names\]",
    "classroom/test_groups.py": "is_named|known_mistake|no_other|level|bank",
    "classroom/test_privacy.py": "shared_report|pseudonym|breaks|path",
    "classroom/test_recipes.py": "",
    "classroom/test_regrade.py": "^(?!test_a_class_is_regraded)",
    "classroom/test_stopped_grading.py": "",
    "cli/test_case.py": "every_public|expected",
    "cli/test_kill.py": "",
    "cli/test_main.py": "^(?!.*(ascii|latin-1))",
    "cli/test_new.py": "",
    "cli/test_other_platforms.py": "win32|typeshed",
    "cli/test_targets.py": r"\[(device|link|socket)\]|heads\.py\]|sentence",
    "cli/test_verify.py": "",
    "cli/test_watch.py": "every_save|^test_without",
    "course/test_capstone.py": "",
    "course/test_content.py": "^(?!test_assignments_are_what_solutions_give|test_every_known_answer.*(01|03|05|06|07|08|09|1._))",
    "course/test_knowing_nothing.py": "",
    "course/test_pruning_lesson.py": "find_the_important",
    "course/test_notebooks.py": "",
    "course/test_one_screen.py": "softmax-one-key",
    "course/test_precision.py": "",
    "course/test_sizes.py": "AddNorm|overflows",
    "course/test_mistake_pages.py": "02_masking",
    "diagnosis/test_unnamed_mistakes.py": "EncoderBlock",
    "course/test_words.py": r"^(?!.*\[mo\])",
    "engine/test_beginners.py": "^(?!.*endless)",
    "engine/test_result_cache.py": "^(?!.*endless)",
    "engine/test_session.py": "^(?!.*within_torch)",
    "engine/test_unjudged.py": r"^(?!.*(costs_no_points\[by_check|by_course-False))",
    "engine/test_worker_slot.py": "^(?!.*(endless|no_cpu))",
    "fuzz/test_readers.py": r"^(?!.*\[(notes|replies|store))",
    "intake/test_limits.py": r"^(?!.*\.ipynb)(?!.*\.py-(many|one))",
    "judge/test_dropout.py": "^(?!.*(regions_pass|weights_pass_for_every_seed))",
    "lines/test_operators.py": r"^(?!.*\[q, k)",
    "nbgrader/test_both_ways.py": "",
    "nbgrader/test_class.py": "^(?!test_making)",
    "nbgrader/test_class_of_60.py": "",
    "nbgrader/test_converter.py": "",
    "nbgrader/test_downloads.py": "",
    "nbgrader/test_engine_cache.py": "serves|gigabytes|refusals",
    "nbgrader/test_formgrader.py": "",
    "nbgrader/test_guide.py": "",
    "nbgrader/test_leaks.py": "",
    "nbgrader/test_odd_files.py": "",
    "nbgrader/test_regrade.py": "",
    "nbgrader/test_tensors.py": "",
    "nbgrader/test_validate.py": "",
    "nbgrader/test_walk.py": "",
    "release/test_kit.py": "",
    "release/test_leaks.py": "",
    "release/test_wheelhouse.py": "without_uv",
    "sandbox/test_basic.py": "^(?!test_memory_of_libraries)",
    "sandbox/test_users.py": "",
    "student/test_saved_files.py": "^test_an_announced",
    "student/test_pytest_plugin.py": "public_checks|outside",
    "test_scripts.py": "",
    "worker/test_sim.py": "rules|masked_softmax",
}


def wholly_slow(path: Path, root: Path) -> bool:
    """Return whether no test of a file runs in `make test`, so that `make test` need not import it."""
    return path.is_relative_to(root) and SLOW_FILES.get(path.relative_to(root).as_posix()) == ""


def mark_slow(items: Iterable[pytest.Item], root: Path) -> None:
    """Mark the tests of `SLOW_FILES` that do not match their pattern.

    Raises KeyError if a file of the table does not exist.
    """
    for name in SLOW_FILES:
        if not (root / name).is_file():
            raise KeyError(f"tests/helpers/lanes.py names {name}, which does not exist")
    for item in items:
        name = item.path.relative_to(root).as_posix() if item.path.is_relative_to(root) else ""
        pattern = SLOW_FILES.get(name)
        if pattern == "" or (pattern and not re.search(pattern, item.name)):
            item.add_marker(pytest.mark.slow)
