"""What stands below the heading of an exercise: a specification in plain Python, and an example in PyTorch."""

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache

import torch

from grader.authoring.content import read_all
from grader.support.code import definition_spans, definitions
from helpers.command_line import ROOT

# exercise → its assignment, in the order of the course
OF = {e.name: a for a in read_all(ROOT / "solutions") for e in a.exercises}
HEADING = re.compile(r"^## (?:Exercise|Repair)(?: \d)?: `(\w+)`$", re.M)
PLAIN, EXAMPLE = "**In plain Python.**", "**In PyTorch, something similar.**"


def plain_name(exercise: str) -> str:
    """Return the name of the specification: "KVCache" gives "kv_cache_plain"."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", exercise)
    return f"{words.lower()}_plain"


def below_heading(exercise: str) -> str:
    """Return the text between the heading of an exercise and the end of its cell."""
    for cell in re.split(r"^# %%", OF[exercise].source, flags=re.M):
        text = re.sub(r"^# ?", "", cell, flags=re.M)
        for heading in HEADING.finditer(text):
            if heading[1] == exercise:
                return text[heading.end() :]
    raise AssertionError(f"{exercise} has no heading")


def block(exercise: str, title: str) -> str:
    """Return the code below one of the two titles; "" if there is none."""
    _before, _title, after = below_heading(exercise).partition(title)
    found = re.search(r"```python\n(.*?)^```$", after.partition("\n**")[0], re.M | re.S)
    return found[1] if found else ""


@cache
def _specifications() -> dict[str, dict]:
    """Return the names that each block defines. A block knows the specifications of earlier exercises, and no others."""
    earlier: dict = {}
    found = {}
    for exercise in OF:
        names = dict(earlier)
        exec(block(exercise, PLAIN), names)
        del names["__builtins__"]
        found[exercise] = {name: value for name, value in names.items() if name not in earlier}
        earlier |= {name: value for name, value in found[exercise].items() if name == plain_name(exercise)}
    return found


def defined(exercise: str) -> set[str]:
    """Return the names that the block defines and imports."""
    return set(_specifications()[exercise])


def specification(exercise: str) -> Callable:
    return _specifications()[exercise][plain_name(exercise)]


@cache
def lesson(assignment: str) -> dict:
    """Return the names that the reference of an assignment defines."""
    source = next(a.source for a in OF.values() if a.name == assignment)
    names: dict = {}
    exec(definitions(source), names)
    return names


def reference(exercise: str) -> Callable:
    return lesson(OF[exercise].name)[exercise]


def given_class(exercise: str) -> type:
    """Return the class that students repair."""
    source = OF[exercise].source
    start, stop = definition_spans(source, ast.parse(source), exercise)[0]
    names = dict(lesson(OF[exercise].name))
    exec(source[start:stop], names)
    return names[exercise]


def as_answer(exercise: str) -> str:
    """Return the lesson's reference in which the specification has taken the place of the exercise.

    A class keeps its layers, and its forward (of a cache: append) calls the specification.
    """
    blocks = [block(name, PLAIN) for name in list(OF)[: list(OF).index(exercise) + 1]]
    call = f"{plain_name(exercise)}(*args, **kwargs)"
    if isinstance(found := reference(exercise), type):
        method = "forward" if hasattr(found, "forward") else "append"
        last = f"_right = {exercise}\nclass {exercise}(_right):\n    def {method}(self, *args, **kwargs): return {call}\n"
    else:
        last = f"def {exercise}(*args, **kwargs): return {call}\n"
    return "\n".join((OF[exercise].source, *blocks, last))


class Table(dict[str, Callable]):
    """exercise → a function that gets the specification and the reference, and yields what both compute.

    It yields pairs: nested lists (or a number, a bool, a set), and a tensor (or the same).
    """

    def of(self, exercise: str) -> Callable[[Callable], Callable]:
        return lambda compare: self.setdefault(exercise, compare)

    def check(self, exercise: str) -> None:
        pairs = 0
        with in_float64():
            torch.manual_seed(0)
            for plain, right in self[exercise](specification(exercise), reference(exercise)):
                pairs += 1
                if isinstance(right, torch.Tensor):
                    torch.testing.assert_close(torch.tensor(plain, dtype=right.dtype), right.detach())
                else:
                    assert plain == right
        assert pairs


def each(plain: Callable, batches: Iterable[torch.Tensor], *shared: object) -> list:
    """Return what the specification computes for each row of a batch; `shared` is the same for all rows."""
    rows = zip(*(batch.tolist() for batch in batches), strict=True)
    return [plain(*row, *shared) for row in rows]


def weights_of(module: torch.nn.Module) -> list:
    """Return the weights of the linear layers that the module itself has, as nested lists."""
    return [layer.weight.tolist() for layer in module.children() if isinstance(layer, torch.nn.Linear)]


def on_lists(module: torch.nn.Module) -> Callable:
    """Return a function that calls the module with one sequence as nested lists."""
    return lambda *sequence: module(*(torch.tensor([part]) for part in sequence))[0].tolist()


@contextmanager
def in_float64() -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def run_example(exercise: str) -> int:
    """Run the example in PyTorch, and compare what stands beside its lines; return how many comments were compared.

    Beside an assignment or a value may stand its shape, its shape and elements, or, if it is no tensor, the value itself:
    "(2,)", "(2,): [1, 3]" or "True". More text may follow a shape after a comma.
    """
    text = block(exercise, EXAMPLE)
    names = {"torch": torch, "nn": torch.nn}
    compared = 0
    for statement in ast.parse(text).body:
        _code, _hash, comment = text.splitlines()[statement.end_lineno - 1].partition("  # ")
        match statement:
            case ast.Expr(value=expression):
                value = eval(compile(ast.Expression(expression), "example", "eval"), names)
            case _:
                exec(compile(ast.Module([statement], []), "example", "exec"), names)
                target = statement.targets[0] if isinstance(statement, ast.Assign) else None
                value = names[target.id] if isinstance(target, ast.Name) else None
        if comment:
            _compare(value, comment)
            compared += 1
    return compared


def _compare(value: object, comment: str) -> None:
    shape, elements = re.fullmatch(r"(?:(\([\d, ]*\))(?:, .*|: (?=\[)|$))?(.*)", comment).groups()
    if not shape:
        assert value == ast.literal_eval(elements), comment
    else:
        assert value.shape == ast.literal_eval(shape), comment
    if shape and elements:
        said = torch.tensor(ast.literal_eval(elements)).to(value.dtype)
        torch.testing.assert_close(value.detach(), said, atol=0.006, rtol=0.0)
