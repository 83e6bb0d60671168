"""Estimate how likely each statement is to be wrong. This proves nothing; it only orders edits and suspected lines."""

from __future__ import annotations

import ast
import math
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from grader.bundle.model import RecordedCase
from grader.judge.observation import Observation
from grader.lines.candidates import Place

Statement = tuple[str, int]  # the unit, and the first line

# Log-likelihood ratios of a statement, fitted with a listwise softmax to the answers of tests/answers and of the bank
# that are not held out.
# ALIKE is multiplied by the likeness of its words to those of the named mistake, from 0 to 1.
# MOST_ALIKE is multiplied by this likeness divided by the largest one.
ALIKE, MOST_ALIKE = 1.2, 2.1
RAISED = 0.3  # a report names its line
DEFINITION, CONSTRUCTOR, BLOCK = -0.5, -0.45, -0.35  # the kind of the statement
# An edit of it passes all cases; passes only the case tried first; reduces the distance; more than halves it.
REPAIRS, PASSES_ONE, NEARER, MUCH_NEARER = 1.4, 0.7, 1.1, 0.9
NO_EFFECT = -0.4  # no edit of it that ran changed the distance

# An edit that removes an exception counts as this share of the way to the expected output.
CURES_EXCEPTION = 0.4
FAR = 10.0  # the largest error of one observation in a distance
LARGE = 1e3  # used in place of infinity and NaN


@dataclass
class Effects:
    """What edits of one statement did to the case on which candidates are tried first.

    distances: 0 is the expected output, infinity an exception. passed_one: how many edits pass it but not all cases.
    """

    distances: list[float] = field(default_factory=list)
    passed_one: int = 0


def prior(
    places: Iterable[Place], named: Sequence[Words], marked: Collection[Statement]
) -> dict[Statement, float]:
    """Return statement → score, before any edit was tried.

    named: the words of each known mistake that may explain the answer. marked: lines that the report names.
    """
    scores: dict[Statement, float] = {}
    words: dict[Statement, Words] = {}
    for place in places:
        constructors = _constructors(place.node)
        kinds = {node.lineno: node for node in ast.walk(place.node) if isinstance(node, ast.stmt)}
        for line, found in words_by_line(place.node).items():
            statement = (place.unit, line)
            words[statement] = found
            scores[statement] = RAISED * (statement in marked) + CONSTRUCTOR * (line in constructors)
            if isinstance(kinds[line], (ast.FunctionDef, ast.ClassDef)):
                scores[statement] += DEFINITION
            elif hasattr(kinds[line], "body"):
                scores[statement] += BLOCK
    shared = _alike(words, named)
    most = max(shared.values(), default=0)
    return {
        statement: score + (ALIKE + MOST_ALIKE / most) * shared[statement] if most else score
        for statement, score in scores.items()
    }


def ranked(
    before: Mapping[Statement, float],
    effects: Mapping[Statement, Effects],
    at_first: float,
    repaired: Collection[Statement],
) -> list[Statement]:
    """Return the statements, the likeliest to be wrong first.

    before: the scores of `prior`. at_first: the distance of the submission's own result. repaired: statements with an
    edit that passes every case.
    """

    def score(statement: Statement) -> float:
        one = effects.get(statement, Effects())
        reached = [distance for distance in one.distances if distance < math.inf]
        total = (
            before[statement] + REPAIRS * (statement in repaired) + PASSES_ONE * math.log1p(one.passed_one)
        )
        if not reached or not at_first:
            return total
        if at_first == math.inf:  # an edit removed the exception
            return total + NEARER * CURES_EXCEPTION
        gain = max(0.0, 1 - min(reached) / at_first)
        still = all(math.isclose(distance, at_first, rel_tol=1e-6) for distance in reached)
        return total + NEARER * gain + MUCH_NEARER * (gain > 0.5) + NO_EFFECT * still

    return sorted(before, key=score, reverse=True)


def likeness(places: Iterable[Place], named: Sequence[Words]) -> dict[Statement, float]:
    """Return how similar the words of each statement are to those of the most similar named mistake, from 0 to 1."""
    words = {
        (place.unit, line): found for place in places for line, found in words_by_line(place.node).items()
    }
    return _alike(words, named)


def agreement(
    alike: Mapping[Statement, float], statement: Statement, neighbours: Collection[Statement]
) -> float:
    """Return the likeness of a statement, or of one beside it, divided by the largest; 1.0 if none has any."""
    most = max(alike.values(), default=0.0)
    return max(alike.get(one, 0.0) for one in (statement, *neighbours)) / most if most else 1.0


def distance(case: RecordedCase, observation: Observation) -> float:
    """Return the mean error of what was observed, relative to the expected output; infinite after an exception."""
    if observation.error is not None:
        return math.inf
    errors = []
    judged = {name for check in case.checks for name in check.of}
    for name, expected in case.expected.items():
        if name not in judged:
            continue
        seen = observation.seen.get(name)
        if seen is None or seen.array is None or seen.array.shape != expected.shape:
            errors.append(1.0)
        elif expected.dtype.kind == "f":
            mine, wanted = (
                np.nan_to_num(a, nan=LARGE, posinf=LARGE, neginf=-LARGE) for a in (seen.array, expected)
            )
            size = np.abs(wanted).mean() + 1e-9 if wanted.size else 1.0
            errors.append(min(float(np.abs(mine - wanted).sum() / max(wanted.size, 1) / size), FAR))
        else:
            errors.append(float((seen.array != expected).mean()) if expected.size else 0.0)
    return sum(errors) / len(errors) if errors else 0.0


def _constructors(node: ast.stmt) -> set[int]:
    found = [part for part in ast.walk(node) if isinstance(part, ast.FunctionDef) and part.name == "__init__"]
    return {inner.lineno for part in found for inner in ast.walk(part) if isinstance(inner, ast.stmt)}


def _alike(words: Mapping[Statement, Words], named: Sequence[Words]) -> dict[Statement, float]:
    """Return, per statement, the largest cosine similarity of its words and those of a known mistake, from 0 to 1.

    Rare words count most.
    """
    counts = Counter(word for own in words.values() for word in own)
    rare = {word: math.log((len(words) + 1) / (count + 0.5)) ** 2 for word, count in counts.items()}
    unknown = math.log((len(words) + 1) / 0.5) ** 2

    def weight(of: Words) -> float:
        return sum(rare.get(word, unknown) for word in of)

    return {
        statement: max(
            (weight(mine & one) / (math.sqrt(weight(mine) * weight(one)) or 1.0) for one in named),
            default=0.0,
        )
        for statement, mine in words.items()
    }


Words = frozenset[int]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def words_by_line(tree: ast.AST, names: Mapping[str, str] | None = None) -> dict[int, Words]:
    """Return first line → words, for every statement except docstrings and calls of `print`.

    The words of statements inside a statement count only for the inner ones. names: the labels of the names
    in functions around the tree, see `_names`.
    """
    labels = dict(names or {})
    if isinstance(tree, FUNCTIONS):
        labels |= _names(tree)
    found: dict[int, Words] = {}
    if isinstance(tree, ast.stmt) and not _only_prints(tree):
        found[tree.lineno] = frozenset(zlib.crc32(word.encode()) & 0xFFFF for word in _words(tree, labels))
    for part in ast.iter_child_nodes(tree):
        if isinstance(part, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            found |= words_by_line(part, labels)
    return found


def changed_words(wrong: str, right: str) -> tuple[int, ...]:
    """Return the words of the statements that only one of two sources has, sorted."""
    before, after = (words_by_line(ast.parse(source)).values() for source in (wrong, right))
    only = [words for words in before if words not in after]
    only += [words for words in after if words not in before]
    return tuple(sorted(frozenset[int]().union(*only)))


def _only_prints(statement: ast.stmt) -> bool:
    """Whether a statement is a docstring or a call of `print`."""
    match statement:
        case ast.Expr(ast.Constant()) | ast.Expr(ast.Call(ast.Name("print"))):
            return True
    return False


def _names(function: ast.AST) -> dict[str, str]:
    """Name → label. Students choose names: a parameter gets its position, and every local name gets the same label."""
    assert isinstance(function, FUNCTIONS)
    arguments = function.args
    parameters = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    stored = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    places = {name: f"parameter {place}" for place, name in enumerate(parameters) if name != "self"}
    return dict.fromkeys(stored, "local name") | places


def _words(statement: ast.stmt, names: Mapping[str, str]) -> Iterator[str]:
    waiting = [(type(statement).__name__, part) for part in _inner(statement)]
    yield type(statement).__name__
    while waiting:
        outer, node = waiting.pop()
        label = _label(node)
        label = names.get(label, label) if isinstance(node, (ast.Name, ast.arg)) else label
        yield from (label, f"{outer}>{label}")
        waiting += [(label, part) for part in _inner(node)]


def _inner(node: ast.AST) -> list[ast.AST]:
    """Return the children of a node without statements, operators and contexts; for a call, its arguments and the
    object of a method.
    """
    if isinstance(node, ast.Call) and isinstance(node.func, (ast.Attribute, ast.Name)):
        owner = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        return [*owner, *node.args, *node.keywords]
    kinds = (ast.expr, ast.keyword, ast.arg, ast.arguments, ast.comprehension, ast.withitem)
    return [part for part in ast.iter_child_nodes(node) if isinstance(part, kinds)]


def _label(node: ast.AST) -> str:
    if isinstance(node, ast.Call):
        return f"{_label(node.func)}()"
    if isinstance(node, ast.Compare):
        return type(node.ops[0]).__name__
    if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.BoolOp)):
        return type(node.op).__name__
    if isinstance(node, ast.Constant):
        return repr(node.value)
    if isinstance(node, ast.Attribute):
        return node.attr.rstrip("_")
    return str(getattr(node, "id", None) or getattr(node, "arg", None) or type(node).__name__)
