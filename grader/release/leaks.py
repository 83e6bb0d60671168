"""Prove by construction that a filled kit holds no answer: each file has a known origin, and no solution and no seed is in any."""

from __future__ import annotations

import ast
import base64
import contextlib
import json
import re
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import dedent

from grader.authoring.bank import apply
from grader.authoring.content import Assignment
from grader.authoring.hidden_cases import seed_file
from grader.bundle.answers import ANSWERS_FILE
from grader.bundle.answers import answers as answers_in
from grader.given import BLOCKS
from grader.release.folder import files_of_lesson
from grader.release.kit import NOTEBOOK, KitPlan
from grader.support.code import BEGIN, END, definition_span, owner_of, stub
from grader.support.errors import GraderError
from grader.support.i18n import _

# Characters without white space. Shorter code, such as `return self.net(X)`, gives nothing away.
MIN_TEXT = 40
_MARKED = re.compile(rf"^[ ]*{BEGIN}\n(.*?)^[ ]*{END}$", re.S | re.M)

# (owner of an answer, folder that holds it on purpose)
INTENDED = {
    # Students get the faulty class `MixedUpAttention` to repair it. It has the constructor of `MultiHeadAttention`.
    ("MultiHeadAttention.__init__", "05_multi_head_attention"),
}


def documents(folder: Path) -> dict[str, bytes]:
    """Return the content of every file below a folder by its path, and of every file in a wheel by "path!path in it"."""
    out: dict[str, bytes] = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        name = path.relative_to(folder).as_posix()
        if path.suffix == ".whl":
            with zipfile.ZipFile(path) as archive:
                out |= {f"{name}!{inner}": archive.read(inner) for inner in archive.namelist()}
        else:
            out[name] = path.read_bytes()
    return out


# ---- what must not be found


def answers(assignments: Sequence[Assignment]) -> dict[str, str]:
    """Return what no student may get: code in a form that can be compared → its owner.

    This is each paragraph about a question of a lesson, each marked solution, each function of a right answer (the reference or one of variants.py) that the stub
    lacks, and each other Python file of solutions/ as a whole.
    """
    found: dict[str, str] = {}
    for assignment in assignments:
        codes = (*_marked(assignment), *_functions(assignment), *_files(assignment))
        for owner, code in (*codes, *_questions(assignment)):
            for text in (_unparsed(code), _plain(code)):
                if len(text) >= MIN_TEXT:
                    found.setdefault(text, owner)
    return found


def unmarked(assignment: Assignment) -> list[str]:
    """Return the exercises without a marked solution: their whole solution would stay in the stub."""
    text = assignment.source
    marked = [match.span() for match in _MARKED.finditer(text)]
    spans = {exercise.name: definition_span(text, exercise.name) for exercise in assignment.exercises}
    return [
        name
        for name, (start, stop) in spans.items()
        if not any(first < stop and start < last for first, last in marked)
    ]


def _marked(assignment: Assignment) -> Iterator[tuple[str, str]]:
    text = assignment.source
    tree = ast.parse(text)
    for match in _MARKED.finditer(text):
        code = dedent(match[1])
        owner = owner_of(tree, text.count("\n", 0, match.start()) + 1)
        if owner:
            yield owner, code
        else:  # whole definitions, such as a repaired class
            for node in ast.parse(code).body:
                yield getattr(node, "name", assignment.module), ast.get_source_segment(code, node) or ""


def _functions(assignment: Assignment) -> Iterator[tuple[str, str]]:
    source, given = assignment.source, _unparsed(stub(assignment.source))
    right = [variant for variant in assignment.variants() if variant.kind in ("same", "also")]
    answers = [(exercise.name, source) for exercise in assignment.exercises]
    answers += [(variant.of, apply(variant, source)) for variant in right]
    for name, text in answers:
        start, stop = definition_span(text, name)
        for node in ast.walk(ast.parse(text[start:stop])):
            if isinstance(node, ast.FunctionDef):
                code = ast.unparse(_without_docstrings(ast.Module(node.body, [])))
                if _unparsed(code) not in given:
                    yield name, code


def _files(assignment: Assignment) -> Iterator[tuple[str, str]]:
    for path in sorted(assignment.folder.rglob("*.py")):
        if path != assignment.folder / f"{assignment.module}.py":
            yield path.relative_to(assignment.folder.parent).as_posix(), path.read_text("utf-8")


def _questions(assignment: Assignment) -> Iterator[tuple[str, str]]:
    for name, data in assignment.answers.items():
        for number, answer in answers_in(data.decode()).items():
            yield from ((f"{number} of {assignment.name}/{name}", part) for part in answer.split("\n\n"))


# ---- the search


def leaks(
    documents: Mapping[str, bytes], answers: Mapping[str, str], blocks: Collection[str]
) -> Iterator[str]:
    """Yield a sentence per answer or mark of a solution that is found, and per file that cannot be searched.

    answers: see the function of that name. blocks: building blocks that may be answers.
    """
    listed = tuple(f"!grader/given/{BLOCKS[block]}" for block in blocks)
    for name, data in documents.items():
        if name.endswith((".safetensors", *listed)):
            continue
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            yield f"{name} is not text, so it cannot be searched for answers"
            continue
        if re.search(rf"^\s*#?\s*(?:{BEGIN}|{END})", text, re.M):
            yield f"{name} holds the mark of a solution"
        forms = "\n".join(_forms(text, is_json=name.endswith((".json", ".ipynb"))))
        for answer, owner in answers.items():
            if answer in forms and (owner, name.split("/")[0]) not in INTENDED:
                yield f"{name} holds the answer {owner}"


def _forms(text: str, is_json: bool) -> Iterator[str]:
    """Yield all texts of a document as they are, and those that are Python also as the texts of their syntax trees."""
    for part in _strings(json.loads(text)) if is_json else (text,):
        yield _plain(part)
        yield from map(_unparsed, (part, *re.findall(r"^```\w*\n(.*?)^```", part, re.S | re.M)))


def _strings(value: object) -> Iterator[str]:
    """Yield the strings of a JSON document. A list of strings is one text, as in notebooks."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and value and all(isinstance(v, str) for v in value):
        yield "".join(value)
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


def _plain(text: str) -> str:
    """Return a text without white space, comments at the ends of lines, and marks such as `#` and `>` at their starts."""
    lines = (re.sub(r"\s#.*$", "", re.sub(r"^[\s#>*|`.]+", "", line)) for line in text.splitlines())
    return re.sub(r"\s", "", "".join(lines))


def _unparsed(text: str) -> str:
    """Return the text of a syntax tree without docstrings and white space; "" if the text is no Python."""
    with contextlib.suppress(SyntaxError, ValueError, RecursionError):
        return re.sub(r"\s", "", ast.unparse(_without_docstrings(ast.parse(text))))
    return ""


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            match node.body:
                case [ast.Expr(value=ast.Constant()), *_rest]:
                    del node.body[0]
    return tree


def seeds(documents: Mapping[str, bytes], seed: str) -> Iterator[str]:
    """Yield a sentence per file with the secret seed: as text, as bytes or in base64."""
    forms = [seed.encode(), seed.upper().encode(), base64.b64encode(seed.encode())]
    with contextlib.suppress(ValueError):
        forms.append(bytes.fromhex(seed))
    for name, data in documents.items():
        if any(form in data for form in forms):
            yield f"{name} holds the secret seed"


def prove(plan: KitPlan, kit: Path, assignments: Path, with_answers: bool = False) -> tuple[str, ...]:
    """Return what was proved about a kit, a sentence per claim. with_answers: it has `answers.md` of each lesson.

    Raises GraderError with exit status 1 if the proof fails: there is an answer in the kit, or a file that does not
    belong to it.
    """
    files = documents(kit)
    secret = answers(plan.solutions)
    names = (name for assignment in plan.solutions for name in unmarked(assignment))
    _refuse(_of_unknown_origin(plan, files, assignments, with_answers))
    _refuse(f"the solution of {name} is not marked in solutions/" for name in names)
    wanted = {f"{a.name}/{ANSWERS_FILE}" for a in plan.solutions if with_answers}
    _refuse(leaks({n: data for n, data in files.items() if n not in wanted}, secret, plan.blocks))
    _refuse(seeds(files, seed_file().read_text("utf-8").strip()))
    return (
        "lessons, stubs and bundles are those of assignments/; their inputs are drawn from the public seed",
        f"answers to questions are {f'in {ANSWERS_FILE} of the lessons only' if with_answers else 'in no file'}",
        f"the wheel holds {len(plan.blocks)} building blocks: those that the exercises may use",
        f"no other file of the {len(files)} holds a solution, another right answer or the source of known mistakes"
        f" ({len(secret)} texts were compared, with their names)",
        "no file holds the secret seed",
    )


def _of_unknown_origin(
    plan: KitPlan, files: Mapping[str, bytes], assignments: Path, with_answers: bool
) -> Iterator[str]:
    """Yield a sentence per file of a lesson that differs from assignments/, and per block that no exercise may use."""
    names = [
        f"{a.name}/{name}"
        for a in plan.solutions
        for name in (*files_of_lesson(a.module), *a.pictures, *a.pages)
    ]
    names += [f"{a.name}/{name}" for a in plan.solutions for name in a.answers if with_answers]
    known = {name: assignments / name for name in names}
    blocks = {"__init__.py", *(BLOCKS[block] for block in plan.blocks)}
    lessons = {assignment.name for assignment in plan.solutions}
    for path, data in files.items():
        folder, _slash, name = path.partition("/")
        inside = path.partition("!grader/given/")[2]
        if inside and inside not in blocks:
            yield f"{path} is a building block that no exercise of the kit may use"
        elif path in known:
            if data != known[path].read_bytes():
                yield f"{path} is not the file in {assignments}"
        elif path.endswith(".safetensors") or (folder in lessons and name != NOTEBOOK):
            yield f"{path} is no file of {assignments}"


def _refuse(sentences: Iterable[str]) -> None:
    if found := list(sentences):
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        unproved = GraderError(f"{_('not released')}: {found[0]}{more}")
        unproved.exit_status = 1
        raise unproved
