"""Look in the files of a kit for answers (in code by syntax tree, elsewhere as text), for the secret seed, and for
tensors of hidden cases.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import re
import tokenize
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.bundle.files import TENSORS_FILE
from grader.bundle.safetensors import decode
from grader.given import BLOCKS
from grader.release.answers import Answer
from grader.release.trees import bodies, kinds, lines_of, shape
from grader.support.stub import BEGIN, END

MIN_TEXT = 30  # characters, spaces not counted; a shorter text may be equal by chance

# (answer, where it may be): answers that a kit contains on purpose.
INTENDED = {
    # Students get the faulty class `MixedUpAttention` to repair it. It has the constructor of `MultiHeadAttention`.
    ("MultiHeadAttention.__init__", "MixedUpAttention.__init__"),
}


@dataclass(frozen=True)
class Document:
    """One file of the kit, or one inside its wheel."""

    name: str
    data: bytes

    @property
    def suffix(self) -> str:
        return Path(self.name).suffix

    @property
    def text(self) -> str:
        return self.data.decode("utf-8")


def documents(folder: Path) -> list[Document]:
    """Return every file below a folder, and every file in its wheels."""
    out = []
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        name = str(path.relative_to(folder))
        if path.suffix == ".whl":
            with zipfile.ZipFile(path) as archive:
                out += [Document(f"{name}!{inner}", archive.read(inner)) for inner in archive.namelist()]
        else:
            out.append(Document(name, path.read_bytes()))
    return out


def leaks(documents: Sequence[Document], answers: Sequence[Answer], blocks: Sequence[str]) -> Iterator[str]:
    """Yield a sentence per answer or mark of a solution that is found, and per file that cannot be searched.

    blocks: the building blocks that the kit contains on purpose.
    """
    index = _index(answers)
    for document in documents:
        if document.suffix == ".safetensors":  # see `hidden_cases`
            continue
        try:
            text = document.text
        except UnicodeDecodeError:
            yield f"{document.name} is not text, so it cannot be searched for answers"
            continue
        if any(re.search(rf"^\s*#?\s*{re.escape(mark)}", text, re.M) for mark in (BEGIN, END)):
            yield f"{document.name} holds the mark of a solution"
        yield from _in_code(document, index, blocks)
        yield from _in_prose(document, answers)


def _index(answers: Sequence[Answer]) -> dict[tuple[str, ...], list[Answer]]:
    index: dict[tuple[str, ...], list[Answer]] = defaultdict(list)
    for answer in answers:
        index[answer.kinds].append(answer)
    return index


# ---- code


def _in_code(
    document: Document, index: Mapping[tuple[str, ...], Sequence[Answer]], blocks: Sequence[str]
) -> Iterator[str]:
    lengths = sorted({len(key) for key in index})
    for code in _code(document):
        for body in bodies(code):
            row = kinds(body.statements)  # compared first, because `shape` is slow
            for length in lengths:
                for start in range(len(row) - length + 1):
                    alike = index.get(row[start : start + length])
                    if not alike:
                        continue
                    found = shape(body.statements[start : start + length])
                    for answer in alike:
                        if answer.shape == found and not _meant(answer, document, body.owner, blocks):
                            yield f"{document.name}: {body.owner or 'its top level'} holds the answer {answer.owner}"


def _meant(answer: Answer, document: Document, owner: str, blocks: Sequence[str]) -> bool:
    """Whether the kit contains an answer on purpose: it is in INTENDED, or in the file of a building block.

    A block's file may contain the answer to the exercise with its name. It may also contain constructors of other
    exercises, because their stubs name the layers anyway.
    """
    if (answer.owner, owner) in INTENDED:
        return True
    both_construct = answer.owner.endswith(".__init__") and owner.endswith(".__init__")
    allowed = [b for b in blocks if both_construct or b == answer.exercise]
    return any(document.name.endswith(f"!grader/given/{BLOCKS[b]}") for b in allowed)


def _code(document: Document) -> Iterator[ast.AST]:
    """Yield the syntax trees of all parts of a document that parse as Python."""
    for text in _texts(document):
        with contextlib.suppress(SyntaxError, ValueError, RecursionError):
            yield ast.parse(text)


def _texts(document: Document) -> Iterator[str]:
    if document.suffix in (".json", ".ipynb"):
        yield from _strings(json.loads(document.text))
    elif document.suffix == ".py":
        yield document.text
    else:
        yield from re.findall(r"^```\w*\n(.*?)^```", document.text, re.S | re.M)


def _strings(value: object) -> Iterator[str]:
    """Yield the strings of a JSON document. A list of strings is one text, as in notebooks."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        if value and all(isinstance(v, str) for v in value):
            yield "".join(value)
        else:
            for item in value:
                yield from _strings(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)


# ---- text


def _in_prose(document: Document, answers: Sequence[Answer]) -> Iterator[str]:
    said = "\n" + "\n".join(_prose(document)) + "\n"
    for answer in answers:
        if len(answer.text) >= MIN_TEXT and f"\n{answer.text}\n" in said:
            yield f"{document.name}: its text holds the answer {answer.owner}"


def _prose(document: Document) -> Iterator[str]:
    """Yield the lines to compare as text: of Python, the comments and strings; of other text, all lines."""
    if document.suffix == ".py":
        yield from _comments(document.text)
    elif document.suffix in (".json", ".ipynb"):
        for text in _strings(json.loads(document.text)):
            yield from _comments(text) if _is_python(text) else lines_of(text)
    else:
        yield from lines_of(document.text)


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True


def _comments(source: str) -> Iterator[str]:
    with contextlib.suppress(tokenize.TokenError, SyntaxError):
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type in (tokenize.COMMENT, tokenize.STRING):
                yield from lines_of(token.string)


# ---- seeds and hidden cases


def seeds(documents: Sequence[Document], seed: str) -> Iterator[str]:
    """Yield a sentence per file with the secret seed: as text, as bytes or in base64."""
    forms = [seed.encode(), seed.upper().encode(), base64.b64encode(seed.encode())]
    with contextlib.suppress(ValueError):
        forms.append(bytes.fromhex(seed))
    for document in documents:
        if any(form in document.data for form in forms):
            yield f"{document.name} holds the secret seed"


def hidden_cases(documents: Sequence[Document], drawn: set[bytes]) -> Iterator[str]:
    """Yield a sentence per file with a tensor of a hidden case, and per file of tensors that is not a bundle.

    drawn: see `answers.drawn`.
    """
    for document in documents:
        if Path(document.name).name == TENSORS_FILE:
            arrays = decode(document.data)
            if any(array.tobytes() in drawn for array in arrays.values()):
                yield f"{document.name} holds numbers of a hidden case"
        elif document.suffix == ".safetensors":
            yield f"{document.name} is not a bundle, so it cannot be searched for answers"
