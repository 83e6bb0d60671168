"""Read the reply of a worker as an observation: what was seen in one run of one case, with each result in one layout.

A tensor that was not requested is refused. Stored attention weights become (B, H, T, S); sentences become padded rows.
The attention weights of a decoder with one query per step become (steps, B, 1, S), those of a stack of layers
(L, B, H, T, S).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from grader.bundle.model import RecordedCase
from grader.bundle.safetensors import Array, read
from grader.support.errors import BadData
from grader.worker.steps import Sentences, Step, Weights

MAX_LINE = 1 << 20  # an error with a larger line number has no `where`
MAX_KEPT = 1 << 22  # values of 8 bytes; a tensor with more bytes is not read
_NO_EXIT = frozenset(("name 'exit' is not defined", "name 'quit' is not defined"))
MAX_EMPTY_AXIS = 1 << 16  # a tensor without values has no bytes that would limit its axes
MAX_ROWS = 1 << 16  # of sentences; a result with more is left as it is
EMPTY, PAD = -1, 0  # EMPTY fills up shorter rows here; PAD does so in a student's tensor of tokens


@dataclass(frozen=True)
class Seen:
    """One observed value: a tensor with its values, a tensor of which only the shape is known, or no tensor (`odd`
    says what it is).
    """

    shape: tuple[int, ...] | None = None
    dtype: str = ""
    array: Array | None = None
    odd: str = ""


@dataclass(frozen=True)
class StudentError:
    """An exception that student code raised. `where` is (file, line, source text) of the student's line.

    step: the kind of step that raised it. near: if an attribute does not exist, the most similar one that does.
    set_by: if a name does not exist because only a demonstration set it, (name, file, line) of the demonstration.
    provided: whether a class that comes with the case raised it, called by the submission. shapes: of the tensors that
    the student's line names.
    """

    type: str
    message: str
    where: tuple[str, int, str] | None
    step: str
    near: str = ""
    set_by: tuple[str, str, int] | None = None
    provided: bool = False
    shapes: tuple[tuple[str, tuple[int, ...]], ...] = ()

    @property
    def ends_python(self) -> bool:
        """Whether the code called `sys.exit`, or `exit` or `quit`, which a worker does not have."""
        return self.type == "SystemExit" or self.message in _NO_EXIT

    @property
    def starts_debugger(self) -> bool:
        """Whether the code called `breakpoint` or `set_trace`: without a keyboard, the debugger ends the program."""
        return self.type == "BdbQuit"


@dataclass(frozen=True)
class Observation:
    """Everything that was observed in one run of one case."""

    seen: Mapping[str, Seen]
    error: StudentError | None = None
    parameters: Mapping[str, Any] | None = None  # how the weights were loaded, see `_parameters`
    # Results that are no tensors.
    values: Mapping[str, bool | int | float | None] = field(default_factory=dict)
    stacked: frozenset[str] = frozenset()  # tensors that the worker stacked from a list, or from unequal rows
    printed: str = ""  # by student code, unchanged; a report on hidden cases never shows it
    used: frozenset[str] = frozenset()  # forbidden calls that the code made; it may hide some


def without_inside(observation: Observation) -> Observation:
    """Return an observation without what was inside the answer: intermediate results, and the line of an exception."""
    seen = {name: one for name, one in observation.seen.items() if not name.startswith("stage ")}
    error = observation.error
    return replace(observation, seen=seen, error=error and replace(error, where=None))


def read_observation(
    words: Mapping[str, Any],
    body: bytes,
    asked: frozenset[str],
    files: frozenset[str] | None = None,
) -> Observation:
    """Turn a reply into an observation. Raises BadData for tensors that were not requested or cannot be read: the
    worker's own code never sends such a reply. Its message quotes nothing of the reply, which may contain inputs of a
    hidden case. Other entries that were not requested are left out.

    files: names of the submission's files; for an error in any other file `where` is None.
    """
    seen: dict[str, Seen] = {}
    if body:
        try:
            tensors = read(body)
        except BadData:
            raise BadData("not the tensors it claims to be") from None
        for name, tensor in tensors.items():
            if name not in asked:
                raise BadData("a tensor that was not asked for")
            if 0 in tensor.shape and max(tensor.shape) > MAX_EMPTY_AXIS:
                raise BadData("an empty tensor with a huge axis")
            small = len(tensor.data) <= 8 * MAX_KEPT
            seen[name] = Seen(tensor.shape, tensor.dtype, tensor.array() if small else None)
    for name, what in _mapping(words.get("odd")).items():
        if name in asked and name not in seen:
            fields = _mapping(what)
            shape = fields.get("shape")
            known = tuple(n for n in shape if isinstance(n, int)) if isinstance(shape, list) else None
            seen[name] = Seen(shape=known, odd=_text(fields.get("is"), 120))
    return Observation(
        seen=seen,
        error=student_error(words.get("error"), files),
        parameters=_parameters(words.get("parameters")),
        values={
            name: value
            for name, value in _mapping(words.get("values")).items()
            if name in asked and (value is None or isinstance(value, (bool, int, float)))
        },
        stacked=frozenset(texts(words.get("stacked"))) & asked,
        used=frozenset(texts(words.get("used"))),
    )


def read_observations(
    words: Mapping[str, Any], body: bytes, cases: Sequence[RecordedCase], files: frozenset[str]
) -> list[Observation]:
    """Turn a reply about several cases into one observation per case. Raises BadData.

    The last cases may have none: a worker stops early if its results are large.

    files: as for `read_observation`.
    """
    replies, sizes = words.get("replies"), words.get("sizes")
    if not isinstance(replies, list) or not isinstance(sizes, list) or len(replies) != len(sizes):
        raise BadData("no list of replies")
    if len(replies) > len(cases) or not all(type(size) is int and size >= 0 for size in sizes):
        raise BadData("replies to other cases")
    if sum(sizes) != len(body):
        raise BadData("other tensors than those of the replies")
    seen, at = [], 0
    for case, reply, size in zip(cases, replies, sizes, strict=False):
        seen.append(read_observation(_mapping(reply), bytes(body[at : at + size]), case.asked, files))
        at += size
    return seen


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object, size: int = 2000) -> str:
    return value[:size] if isinstance(value, str) else ""


def texts(value: object) -> list[str]:
    """Read a list as the worker sends it: its texts, at most 500, each cut to 300 characters."""
    return (
        [_text(item, 300) for item in value if isinstance(item, str)][:500] if isinstance(value, list) else []
    )


def student_error(value: object, files: frozenset[str] | None = None) -> StudentError | None:
    """Read an exception as the worker describes it. Student code may have changed the texts, so bad ones are
    tolerated. files: as for `read_observation`.
    """
    if not isinstance(value, dict):
        return None
    where, set_by = _mapping(value.get("where")), _mapping(value.get("set_by"))
    place, setter = _place(where, files), _place(set_by, files)
    return StudentError(
        _text(value.get("type"), 100) or "Exception",
        _text(value.get("message")),
        (*place, _text(where.get("text"), 200)) if place else None,
        _text(value.get("step"), 40),
        _text(value.get("near"), 60),
        (_text(set_by.get("name"), 100), *setter) if setter else None,
        value.get("provided") is True,
        tuple(_shapes(where.get("shapes")).items()),
    )


def _place(value: Mapping[str, Any], files: frozenset[str] | None) -> tuple[str, int] | None:
    """Return the file and line that a value names; None if they are impossible or the file is not in `files`."""
    file, line = _text(value.get("file"), 400), value.get("line")
    if not isinstance(line, int) or not 0 <= line < MAX_LINE:
        return None
    return (file, line) if files is None or file in files else None


def _parameters(value: object) -> Mapping[str, Any] | None:
    if not isinstance(value, dict):
        return None
    shared = value.get("shared")
    pairs = map(texts, shared[:100] if isinstance(shared, list) else ())
    return {
        **{key: texts(value.get(key)) for key in ("missing", "unexpected", "misshapen")},
        "shared": [pair for pair in pairs if len(pair) == 2],
        "layout": _text(value.get("layout"), 100),
        "shapes": {name: [*shape] for name, shape in _shapes(value.get("shapes")).items()},
    }


def _shapes(value: object) -> dict[str, tuple[int, ...]]:
    return {
        name[:200]: tuple(n for n in size if isinstance(n, int))
        for name, size in _mapping(value).items()
        if isinstance(size, list)
    }


def normalise_layouts(observation: Observation, steps: Sequence[Step]) -> Observation:
    """Return the observation with each result in one layout, if it has an accepted one; others stay as they are.

    Attention weights of several heads: (B, H, T, S), (B·H, T, S) with row b·H + h, or a list with one (B, T, S) per
    head. Of a decoder with one query per step: a list with one (B, 1, S) or (B, S) per step, or one tensor with the
    steps as its first or second axis. Of a stack of layers: a list or a tensor with one of these per layer.
    """
    seen = dict(observation.seen)
    for step in steps:
        if not isinstance(step, (Sentences, Weights)) or step.name not in seen:
            continue
        one, stacked = seen[step.name], step.name in observation.stacked
        if one.array is not None:
            if isinstance(step, Sentences):
                array = _written(one.array, step, stacked)
            else:
                array = _weights(one.array, step, stacked)
            seen[step.name] = replace(one, shape=array.shape, array=array)
    return replace(observation, seen=seen)


def _written(array: Array, step: Sentences, stacked: bool) -> Array:
    """Return the tokens before `eos`, one row per sentence, padded with -1: (B, steps), or longer if a row is longer.

    After `eos`, a row may repeat one token of any kind as padding; otherwise the row stays as it is. A row without
    `eos` may end with PAD. Rows of several lengths hold nothing after the sentence, so an end token there was written.
    """
    if array.ndim != 2 or array.dtype.kind != "i" or len(array) > MAX_ROWS:
        return array
    rows = [_before(row[row != EMPTY].tolist(), EMPTY if stacked else step.eos) for row in array]
    out = np.full((len(rows), max([step.steps, *map(len, rows)])), EMPTY, dtype=np.int64)
    for place, row in enumerate(rows):
        out[place, : len(row)] = row
    return out


def _before(row: list[int], eos: int) -> list[int]:
    if eos in row:
        end = row.index(eos)
        return row[:end] if len(set(row[end + 1 :])) < 2 else row
    while row and row[-1] == PAD:
        row = row[:-1]
    return row


def _weights(array: Array, step: Weights, stacked: bool) -> Array:
    if step.layers and step.heads:  # the same as below, after a first axis of layers
        if array.ndim == 5 and stacked:
            return np.swapaxes(array, 1, 2)
        if array.ndim == 4 and array.shape[1] % step.heads == 0:
            return array.reshape(len(array), array.shape[1] // step.heads, step.heads, *array.shape[2:])
    elif step.heads:
        if array.ndim == 4 and stacked and len(array) == step.heads:
            return np.swapaxes(array, 0, 1)
        if array.ndim == 3 and len(array) % step.heads == 0:
            return array.reshape(len(array) // step.heads, step.heads, *array.shape[1:])
    elif step.steps and array.ndim in (3, 4):
        array = array[:, :, None] if array.ndim == 3 else array
        steps_are_second = len(array) != step.steps and array.shape[1] == step.steps
        return np.swapaxes(array, 0, 1) if steps_are_second else array
    return array
