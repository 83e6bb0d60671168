"""Describe an exception that student code raised, with the student's own line."""

from __future__ import annotations

import linecache
import re
import traceback
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from types import FunctionType
from typing import Any

import torch
from torch import nn

MAX_TEXT = 2000
PROVIDED = "provided"  # the file name of classes that come with a case
NEAR = 0.8  # how similar (0 to 1) an attribute's name must be to be suggested


def describe(error: BaseException, files: Collection[str]) -> dict[str, Any]:
    """Return the type, the message, and `where`: the innermost frame in one of `files` (the submission's), or None.

    For a syntax error in one of these files, `where` is its line. An AttributeError also has `near`, if the object has
    a public attribute with a similar name. `provided`: code that the submission called in a class of the case raised it.
    """
    frames = traceback.extract_tb(error.__traceback__)
    values = [frame.f_locals for frame, _line in traceback.walk_tb(error.__traceback__)]
    known = [frame for frame in frames if frame.filename in files or frame.filename == PROVIDED]
    own = [frame for frame in known if frame.filename in files]
    where: dict[str, Any] | None = None
    if own:
        file, line, text = own[-1].filename, own[-1].lineno or 0, (own[-1].line or "")[:200]
        where = {"file": file, "line": line, "text": text, "in": own[-1].name}
        where["shapes"] = _shapes(text, values[frames.index(own[-1])])
    if isinstance(error, SyntaxError) and isinstance(error.filename, str) and error.filename in files:
        where = {
            "file": error.filename,
            "line": error.lineno or 0,
            "text": text_of(error.text or "", 200).strip(),
        }
    message = text_of(error.msg if isinstance(error, SyntaxError) else error, MAX_TEXT)
    described = {"type": str(type(error).__name__)[:100], "message": message, "where": where}
    if isinstance(error, AttributeError):
        # The grader asked an object that is no module, but has a `forward`, for an attribute of modules.
        if where is None and hasattr(nn.Module, error.name or "") and "forward" in dir(type(error.obj)):
            message = f"{type(error.obj).__name__[:100]} is no nn.Module"
            return described | {"type": "TypeError", "message": message}
        if near := _near(error):
            described["near"] = near
    return described | {"provided": True} if known and known[-1] not in own else described


def _shapes(line: str, values: Mapping[str, Any]) -> dict[str, list[int]]:
    """Return the shapes of the local tensors that a line names."""
    named: dict[str, Any] = {name: values.get(name) for name in re.findall(r"\b[A-Za-z_]\w*", line)}
    tensors = (torch.Tensor, nn.Parameter)
    return {name: list(value.shape) for name, value in named.items() if type(value) in tensors}


def definition(called: object, files: Collection[str]) -> dict[str, Any] | None:
    """Return where the student's function begins; None if `called` is no plain function in `files`.

    It is the place to name if the function's result causes an exception in code outside the submission.
    """
    if type(called) is not FunctionType or called.__code__.co_filename not in files:
        return None
    file, line = called.__code__.co_filename, called.__code__.co_firstlineno
    return {"file": file, "line": line, "text": linecache.getline(file, line).strip()[:200]}


def _near(error: AttributeError) -> str:
    """Return the object's public attribute whose name is most similar to the missing one; "" if none is similar."""
    try:
        name, names = error.name, [name for name in dir(error.obj) if not name.startswith("_")]
        found = get_close_matches(name[:100], names, n=1, cutoff=NEAR) if name else []
        return str(found[0])
    except Exception:  # no name is similar (IndexError), or the student's object raises
        return ""


def text_of(thing: object, size: int) -> str:
    """Return `str(thing)` cut to `size` characters, or "" if that raises."""
    try:
        return str(thing)[:size]
    except BaseException:  # a student's __str__ may do anything
        return ""
