"""Write the files of a small working exercise, which subtracts the mean of each row.

An author turns it into the exercise that is wanted.

The texts are templates in grader/authoring/templates/.
"""

from __future__ import annotations

import keyword
import re
from pathlib import Path

from grader.authoring.content import read_manifest
from grader.intake.names import plain
from grader.support.errors import UsageError
from grader.support.files import write_atomically

# Right answers written differently, and trivial answers: each is one expression.
_ANSWERS = (
    ("variant", "sum", "X - X.sum(1, keepdim=True) / X.shape[1]"),
    ("variant", "loop", "torch.stack([row - row.mean() for row in X])"),
    ("variant", "matrix", "X - X @ X.new_full((X.shape[1], X.shape[1]), 1 / X.shape[1])"),
    ("trivial", "zeros", "torch.zeros_like(X)"),
    ("trivial", "identity", "X"),
)


def scaffold(solutions: Path, assignment: str, exercise: str) -> list[Path]:
    """Write, or append to, the files of an assignment. Return their paths.

    Raises UsageError for an invalid name, an exercise that exists, or a wrong exercise.toml.
    """
    _require_names(assignment, exercise)
    _require_new(solutions, exercise)
    folder, module = solutions / assignment, assignment.split("_", 1)[1]
    files = {
        folder / f"{module}.py": "module.py",
        folder / "exercise.toml": "exercise.toml",
        folder / "cases.py": "cases.py",
        folder / "variants.py": "variants.py",
        folder / "mistakes" / f"{exercise}.py": "mistakes.py",
        folder / "mistakes" / f"{exercise}.md": "mistakes.md",
    }
    texts = {path: _text(template, path, assignment, exercise) for path, template in files.items()}
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text.encode())
    return list(texts)


def _text(template: str, path: Path, assignment: str, exercise: str) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("grader.authoring")
    options = Environment(
        loader=loader, trim_blocks=True, keep_trailing_newline=True, undefined=StrictUndefined
    )
    is_class = exercise[0].isupper()
    added = options.get_template(f"{template}.jinja").render(
        is_new=not path.exists(),
        is_class=is_class,
        name=exercise,
        call=f"{exercise}()" if is_class else exercise,
        # Begins the ids of its mistakes and variants: AddNorm gives add-norm.
        stem=re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", "-", exercise).strip("-").lower(),
        number=assignment[:2],
        title=assignment.split("_", 1)[1].replace("_", " ").capitalize(),
        answers=_ANSWERS,
    )
    if not path.exists():
        return added
    gap = "\n\n\n" if added.startswith(("def ", "# %%")) else "\n\n"
    return path.read_text("utf-8").rstrip("\n") + gap + added


def _require_names(assignment: str, exercise: str) -> None:
    if not re.fullmatch(r"\d\d_[a-z][a-z0-9_]*", assignment):
        raise UsageError(
            f"{assignment!r} is not a valid name for an assignment: use two digits and lower-case words, such as 12_normalising"
        )
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", exercise) or keyword.iskeyword(exercise):
        raise UsageError(
            f"{exercise!r} is not a valid name for an exercise: use ASCII letters, digits and underscores, begin with a letter,"
            " and avoid keywords of Python"
        )


def _require_new(solutions: Path, exercise: str) -> None:
    """Raise UsageError for a name in use; capitals and underscores make no difference."""
    for path in sorted(solutions.glob("[0-9][0-9]_*/exercise.toml")):
        for known in read_manifest(path).exercise:
            if plain(known.name) == plain(exercise):
                raise UsageError(f"{path.parent.name} already has an exercise {known.name}")
