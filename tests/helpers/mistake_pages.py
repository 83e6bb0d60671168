"""Run the example of a mistake's page as a student does at a Python prompt, with the reference and with the mistake.

Weights, inputs and dropout are random, as they are for a student. So it is not enough that two runs differ. A feature
of the output (a shape, a zero, two equal rows, a value in some range) must separate all runs of the reference from
all runs of the mistake.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import torch

SEEDS = range(8)
VISIBLE = 5e-4  # a difference that a reader sees is larger: torch prints four decimals
Features = dict[str, str | float]


def example(page: str) -> str:
    """Return the code of a page: its lines after `>>>` and `...`, otherwise its fenced block; "" if it has neither."""
    prompt = re.findall(r"^ *(?:>>>|\.\.\.) ?(.*)$", page, re.M)
    fenced = re.search(r"```python\n(.*?)```", page, re.S)
    if prompt:
        return "\n".join(prompt)
    return fenced[1] if fenced else ""


def lines(page: str) -> list[str]:
    """Return the lines of a page that contain code, with their prompts."""
    prompt = re.findall(r"^ *(?:>>>|\.\.\.).*$", page, re.M)
    return prompt or example(page).splitlines()


class Lesson:
    """The module of a lesson, with its demo cells, in which examples of mistake pages run."""

    def __init__(self, source: str):
        self.statements: list[ast.stmt] = []
        for node in ast.parse(source).body:
            # A demo cell is in a `try`, which catches the NotImplementedError of an empty stub.
            self.statements += node.body if isinstance(node, ast.Try) else [node]

    def parts(self, code: str) -> list[ast.stmt]:
        """Return the statements that an example may need: imports, definitions, and assignments."""
        wanted = names_in(ast.parse(code))
        needed = []
        for node in reversed(self.statements):
            if isinstance(node, ast.Assign):
                made = set().union(*map(names_in, node.targets))
                plain = not any(isinstance(part, ast.Call) for part in ast.walk(node.value))
                # An assignment without calls is always kept, because functions may read its names.
                if not (made & wanted or plain):
                    continue
                wanted |= names_in(node.value)
            elif not isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef):
                continue
            needed.append(node)
        return needed[::-1]

    def shows(self, code: str) -> list[Features]:
        """Run an example with every seed of `SEEDS`. Return the features of each run."""
        parts = [compile(ast.Module([node], []), "lesson", "exec") for node in self.parts(code)]
        return [features(at_the_prompt(code, space(parts, seed), seed)) for seed in SEEDS]


def names_in(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def space(parts: Sequence[object], seed: int) -> dict[str, object]:
    """Run compiled statements and return the names that they define. Go on after a statement that raises."""
    torch.manual_seed(seed)
    names: dict[str, object] = {}
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        for part in parts:
            with contextlib.suppress(Exception):
                exec(part, names)  # type: ignore[arg-type]
    return names


def at_the_prompt(code: str, names: dict[str, object], seed: int) -> list[object]:
    """Run code. Return all that a prompt shows: printed values, values of expressions, and the final exception."""
    shown: list[object] = []
    names["print"] = lambda *values, **_: shown.extend(values)
    torch.manual_seed(100 + seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for node in ast.parse(code).body:
                if isinstance(node, ast.Expr):
                    value = eval(compile(ast.Expression(node.value), "prompt", "eval"), names)
                    if value is not None:
                        shown.append(value)
                else:
                    exec(compile(ast.Module([node], []), "prompt", "exec"), names)
        except Exception as error:
            shown.append(f"raised {type(error).__name__}")
    return shown


def leaves(value: object, path: str) -> Iterator[tuple[str, torch.Tensor | str]]:
    """Yield the path and value of every tensor, number (as a tensor) and text in nested dicts, lists and tuples."""
    if isinstance(value, torch.Tensor):
        yield path, value
    elif isinstance(value, dict):
        yield f"{path} keys", str(list(value))
        for key, item in value.items():
            yield from leaves(item, f"{path}.{key}")
    elif isinstance(value, list | tuple) and not isinstance(value, torch.Size):
        yield f"{path} length", str(len(value))
        for number, item in enumerate(value):
            yield from leaves(item, f"{path}.{number}")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, torch.tensor(float(value))
    else:
        yield path, re.sub(r"0x[0-9a-f]+", "", str(value))


def features(shown: Sequence[object]) -> Features:
    """Return the features that a reader can see: texts, shapes, values, and how far slices and tensors differ."""
    out: Features = {"count": float(len(shown))}
    before = None
    for position, value in enumerate(shown):
        for path, leaf in leaves(value, str(position)):
            if isinstance(leaf, str):
                out[path] = leaf
                continue
            out[f"{path} form"] = f"{tuple(leaf.shape)} {leaf.dtype} {leaf.requires_grad} {leaf.device}"
            if leaf.device.type != "meta":
                array = leaf.detach().double().numpy()
                out |= {f"{path} {key}": number for key, number in _of_array(array, before).items()}
                before = array
    return out


def _of_array(array: np.ndarray, before: np.ndarray | None) -> Mapping[str, float]:
    """Return the features of one array. holes: how many values are infinite or NaN. levels: how many different values.

    before: the array shown before it, to compare with; None for the first.
    """
    finite = np.isfinite(array)
    out = {"holes": float((~finite).sum())}
    array = np.where(finite, array, 1e6)
    out |= {str(i): float(x) for i, x in enumerate(array.ravel()[:200])}
    if array.size:
        out |= {"zeros": float((array == 0).sum()), "spread": float(array.std())}
        out |= {"levels": float(len(set(np.round(array.ravel(), 4)))), "largest": float(array.max())}
    for axis in range(array.ndim):
        first, *rest = np.moveaxis(array, axis, 0) if array.size else [array]
        if rest:
            out[f"alike along {axis}"] = float(np.abs(np.array(rest) - first).max())
    if before is not None and before.shape == array.shape and array.size:
        out["like the one before"] = float(np.abs(array - np.where(np.isfinite(before), before, 1e6)).max())
    return out


def difference(right: Sequence[Features], wrong: Sequence[Features]) -> str:
    """Return a feature that separates all runs of the reference from all runs of the mistake; "" if there is none."""
    for key in sorted(set().union(*right, *wrong)):
        ours, theirs = [run.get(key) for run in right], [run.get(key) for run in wrong]
        if all(isinstance(x, float) for x in ours + theirs):
            a, b = np.array(ours, dtype=float), np.array(theirs, dtype=float)
            gap = max(b.min() - a.max(), a.min() - b.max())
            # The gap must also be clear: wider than a quarter of the spread of the runs.
            if gap > VISIBLE and gap > 0.25 * max(np.ptp(a), np.ptp(b)):
                return key
        elif not set(map(str, ours)) & set(map(str, theirs)):
            return key
    return ""
