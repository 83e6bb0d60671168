"""Run one case on edited versions of a loaded file, one after the other, with the models of the case built once."""

from __future__ import annotations

import contextlib
import io
import sys
import time
from collections.abc import Collection, Iterator, Mapping
from itertools import takewhile
from types import CodeType, FrameType, FunctionType
from typing import Any

import msgspec
import safetensors.torch
from torch import Tensor, nn

from grader.worker.load import Loaded
from grader.worker.program import Program
from grader.worker.results import packed
from grader.worker.steps import Build, Load, Mode, Provide, Run
from grader.worker.time_limit import cpu_limit

BUILDING = (Provide, Build, Load, Mode)  # steps that make models, load their weights and set their mode
MAX_LINES = 5000  # that a reply names


class Editor:
    """Observes cases on edited versions of one loaded file. Caches the case of the last request with several edits."""

    def __init__(self, loaded: Loaded, device: str):
        self._loaded, self._device = loaded, device
        self._last: _Case | None = None

    def try_edits(self, request: Mapping[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        """Observe a case once per edit. Return the reply and the tensors of all observations.

        An edit is `{"file", "source", "function"}`. With "" as the function, the source is a top-level statement,
        which is executed. Otherwise the source defines the named function, and only that function's code is replaced.

        For each edit, the reply has the observation without its tensors (`replies`), and their size in bytes (`sizes`).
        It also has the CPU seconds of all edits and, if the request asks for `lines`, the lines of the submission that
        ran.

        In the request, `each` limits the CPU seconds of one edit, and `seconds` those of all edits. The first edit
        always runs; a later one only if the longest edit so far would fit in the seconds that are left.
        """
        replies: list[dict[str, Any]] = []
        bodies: list[bytes] = []
        lines: set[tuple[str, int]] = set()
        started, longest = time.process_time(), 0.0
        case = self._case(request, body)
        for edit in request["edits"]:
            begun = time.process_time() - started
            if replies and begun + longest > request["seconds"]:
                break
            limit = max(min(request["each"], request["seconds"] - begun), 0.01)  # 0 would set no timer
            with _noting(self._loaded.files, lines) if request["lines"] else contextlib.nullcontext():
                words, tensors = _try(case, edit, limit)
            replies.append(words)
            bodies.append(tensors)
            longest = max(longest, time.process_time() - started - begun)
        cpu, ran = time.process_time() - started, sorted(lines)[:MAX_LINES]
        reply = {"replies": replies, "sizes": list(map(len, bodies)), "cpu": cpu, "lines": ran}
        return reply, b"".join(bodies)

    def _case(self, request: Mapping[str, Any], body: bytes) -> _Case:
        asked, last = msgspec.convert(request["case"], Run), self._last
        if last is not None and last.body == body and last.case == asked:
            return last
        case = _Case(self._loaded, asked, body, self._device)
        if len(request["edits"]) > 1 and self._device == "cpu":
            # If this fails, each edit builds its own models.
            with contextlib.suppress(BaseException), _silently(request["seconds"]):
                case.kept = KeptModels(case.program(), self._loaded.files)
            self._last = case
        return case


@contextlib.contextmanager
def _noting(files: Collection[str], lines: set[tuple[str, int]]) -> Iterator[None]:
    """Within the context, add (file, line) to `lines` for every line of these files that runs.

    For a function that runs, its first line is added, too.
    """

    def note(frame: FrameType, _event: str, _value: object) -> Any:
        if frame.f_code.co_filename not in files:
            return None
        lines.add((frame.f_code.co_filename, frame.f_lineno))
        return note

    before = sys.gettrace()
    sys.settrace(note)
    try:
        yield
    finally:
        sys.settrace(before)


class _Case:
    """A case with its decoded inputs, of which each program gets copies, and with its models if they can be reused."""

    def __init__(self, loaded: Loaded, case: Run, body: bytes, device: str):
        self.loaded, self.case, self.body, self.device = loaded, case, body, device
        self.tensors = safetensors.torch.load(body) if body else {}
        self.kept: KeptModels | None = None

    def program(self) -> Program:
        tensors = {name: tensor.clone() for name, tensor in self.tensors.items()}
        return _BriefProgram(self.loaded.names, self.case, tensors, self.device, self.loaded.with_own)


class _BriefProgram(Program):
    """A program that reports only the type of an exception: a description takes longer than most edits take to run."""

    def _described(self, error: BaseException, files: Collection[str]) -> dict[str, Any]:
        return {"type": type(error).__name__, "message": "", "where": None}


def _try(case: _Case, edit: Mapping[str, Any], seconds: float) -> tuple[dict[str, Any], bytes]:
    """Run the case on one edit. Return the reply and the packed tensors; then undo the edit."""
    names, kept = case.loaded.names, case.kept
    before = dict(names)
    try:
        with _silently(seconds), _edited(names, edit) as code:
            program = case.program()
            # An edited function that took part in building the models needs new models; so may a statement.
            if (
                kept is not None
                and code is not None
                and (code.co_filename, code.co_firstlineno) not in kept.ran
            ):
                kept.give(program)
            program.run(case.loaded.files)
            return program.reply, packed(program.observed) if program.observed else b""
    except BaseException as error:
        return {"error": {"type": type(error).__name__, "message": "", "where": None, "step": "load"}}, b""
    finally:
        names.clear()
        names.update(before)


@contextlib.contextmanager
def _edited(names: dict[str, Any], edit: Mapping[str, Any]) -> Iterator[CodeType | None]:
    """Apply an edit. Yield the code that it gives to a function; None if it is a statement.

    Afterwards the function has its own code again; the caller restores `names`. Raises LookupError if the
    function is missing or begins on another line.
    """
    compiled = compile(edit["source"], edit["file"], "exec", dont_inherit=True)
    if not edit["function"]:
        exec(compiled, names)
        yield None
        return
    inside: dict[str, Any] = dict(names)
    exec(compiled, inside)
    function, code = (_function(where, edit["function"]) for where in (names, inside))
    before, new = function.__code__, code.__code__
    if (before.co_filename, before.co_firstlineno) != (new.co_filename, new.co_firstlineno):
        raise LookupError(edit["function"])
    function.__code__ = new
    try:
        yield new
    finally:
        function.__code__ = before


def _function(names: Mapping[str, Any], path: str) -> FunctionType:
    """Return the function with this name, or the method, as in `Attention.forward`."""
    owner, _dot, name = path.rpartition(".")
    found = (vars(names[owner]) if owner else names).get(name)
    if type(found) is not FunctionType:
        raise LookupError(path)
    return found


@contextlib.contextmanager
def _silently(seconds: float) -> Iterator[None]:
    """Run code for at most this CPU time, and discard everything that it prints."""
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        cpu_limit(seconds),
    ):
        yield


class KeptModels:
    """The models that the first steps of a case build, and their state right after these steps.

    ran: the lines of the submission that these steps ran. An edit of a function that ran needs new models.
    """

    def __init__(self, program: Program, files: Collection[str]):
        """Build the models. Raises an exception if they cannot be reused."""
        self.ran: set[tuple[str, int]] = set()
        first = list(takewhile(lambda step: isinstance(step, BUILDING), program.steps))
        self._steps, program.steps = program.steps[len(first) :], first
        with _noting(files, self.ran):
            program.run(files)
        if "error" in program.reply or not all(isinstance(m, nn.Module) for m in program.env.values()):
            raise ValueError("no models")
        self._made = program
        parts = {part for module in program.env.values() for part in module.modules()}
        self._states = [(part, type(part), _copied(vars(part))) for part in parts]
        tensors = {id(t): t for part in parts for t in _tensors(vars(part))}
        self._values = [(t, t.data, t.data.clone(), t.requires_grad, t.is_leaf) for t in tensors.values()]
        self.give(program)  # fails for a lazy layer without values, and for an expanded buffer

    def give(self, program: Program) -> None:
        """Restore the models to their state right after they were built, and let a program start with them."""
        for part, kind, before in self._states:
            part.__class__ = kind  # a lazy layer changes its class in its first call
            vars(part).clear()
            vars(part).update(_copied(before))
        for tensor, data, values, requires_grad, was_leaf in self._values:
            data.copy_(values)
            tensor.data = data
            if was_leaf and not tensor.is_leaf:
                tensor.detach_()  # an edit changed it in place
            if tensor.is_leaf:
                tensor.grad = None
                tensor.requires_grad_(requires_grad)
        made = self._made
        program.env, program.steps = dict(made.env), self._steps
        program.fits, program.as_linear = dict(made.fits), dict(made.as_linear)
        if "parameters" in made.reply:
            program.reply["parameters"] = made.reply["parameters"]


def _copied(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of a module, with copies of those that are dicts, lists and sets."""
    return {name: v.copy() if isinstance(v, (dict, list, set)) else v for name, v in state.items()}


def _tensors(state: Mapping[str, Any]) -> Iterator[Tensor]:
    """Yield the tensors among the attributes of a module, and those in dicts such as `_parameters`."""
    for value in state.values():
        inner = value.values() if isinstance(value, dict) else (value,)
        yield from (one for one in inner if isinstance(one, Tensor))
