"""Decide from the text whether a definition can be built and called as the course does it.

Nothing runs, so an exception inside a student's code is never taken for another interface.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from grader.bundle.model import Exercise
from grader.intake.names import Names, Signature, signature
from grader.intake.read import Submission
from grader.report.finding import Fact
from grader.support.sanitize import sanitize
from grader.worker.constructors import accepted_forms
from grader.worker.steps import Build, Call, Callee


@dataclass(frozen=True)
class Interface:
    """How the grader calls a definition.

    renamed: keyword of the course's constructor or function → the submission's parameter in its place.
    other: how it differs, if the definition has another interface; None if it can be called.
    without_sizes: how it differs, if the constructor does not take a size that the class needs; None if it does. Such a
    class has another interface, unless it passes.
    remarks: differences that do not matter, or that make only some calls fail.
    """

    renamed: Mapping[str, str] = field(default_factory=dict)
    other: Fact | None = None
    without_sizes: Fact | None = None
    remarks: tuple[Fact, ...] = ()


@dataclass(frozen=True)
class Source:
    """A submission or a stub with its definitions."""

    submission: Submission
    names: Names

    def signature(self, name: str, method: str = "") -> Signature | None:
        return signature(self.submission, self.names, name, method)


def interface(exercise: Exercise, alias: str, source: Source, stub: Source) -> Interface:
    """Compare what the cases call with what the submission's `alias` accepts. stub: the original stub."""
    if any(_builds_of(exercise)):
        built = _constructor(exercise, alias, source, stub)
        return built if built.other else _methods(exercise, alias, source, stub, built)
    found = source.signature(alias)
    calls = [(n, kw) for on, n, kw in _calls(exercise) if on.function == exercise.name]
    if found is None or not calls:
        return Interface()
    asked = stub.signature(exercise.name)
    renamed = _renamed_keywords(asked, found, calls)
    if not renamed and not any(found.accepts(count, keywords) for count, keywords in calls):
        return Interface(other=_called_otherwise(alias, found, asked))
    if renamed:
        return Interface(renamed, remarks=(_of_pairs("by-position/called", renamed),))
    return Interface(remarks=_without_default(found, calls, asked))


def _renamed_keywords(
    asked: Signature | None, found: Signature, calls: Sequence[tuple[int, Collection[str]]]
) -> dict[str, str]:
    """Return keyword → the parameter in its place, if calls of a function fit only with these names; {} otherwise."""
    if asked is None or all(found.accepts(*call) for call in calls):
        return {}
    passed = {keyword for _count, keywords in calls for keyword in keywords}
    pairs = renamed_by_position(asked.positional, found)
    renamed = {name: parameter for name, parameter in pairs.items() if name in passed}
    fits = all(found.accepts(count, [renamed.get(k, k) for k in keywords]) for count, keywords in calls)
    return renamed if fits else {}


def _of_pairs(rule: str, renamed: Mapping[str, str]) -> Fact:
    return Fact(rule, {"pairs": ", ".join(f"`{name}` ({keyword})" for keyword, name in renamed.items())})


def takes_mask(exercise: Exercise, alias: str, source: Source, stub: Source) -> Fact | None:
    """Return how the interface differs if `forward` has a mask where the course passes lengths; None otherwise."""
    found, asked = source.signature(alias, "forward"), stub.signature(exercise.name, "forward")
    if found is None or asked is None:
        return None
    pairs = zip(found.positional, asked.positional, strict=False)
    if not any("mask" in own.lower() and course.startswith("valid_len") for own, course in pairs):
        return None
    return _called_otherwise(f"{alias}.forward", found, asked)


def _constructor(exercise: Exercise, alias: str, source: Source, stub: Source) -> Interface:
    found, asked = source.signature(alias, "__init__"), stub.signature(exercise.name, "__init__")
    if found is None or asked is None:
        return Interface()
    builds = [accepted_forms(exercise.name, build.kwargs) for build in _builds_of(exercise)]
    otherwise = _built_otherwise(alias, exercise.name, found, asked)
    if _builds(found, builds, {}):
        calls = [(0, _passed(found, forms, {})) for forms in builds]
        without = otherwise if _lacks_sizes(found, builds, {}, source) else None
        return Interface(without_sizes=without, remarks=_without_default(found, calls, asked))
    other_constructors = [list(form) for form in builds[0][1:]]  # the keywords of each
    for order in (asked.positional, *other_constructors):
        renamed = renamed_by_position(order, found)
        if renamed and _builds(found, builds, renamed):
            without = otherwise if _lacks_sizes(found, builds, renamed, source) else None
            remarks = (_of_pairs("by-position/built", renamed),)
            return Interface(renamed, without_sizes=without, remarks=remarks)
    return Interface(other=otherwise)


def _lacks_sizes(
    found: Signature,
    builds: Sequence[Sequence[Mapping[str, Any]]],
    renamed: Mapping[str, str],
    source: Source,
) -> bool:
    """Whether a class with the shorter constructor of edition 1.x needs a size that it is not passed.

    Lazy layers need none. In a block of an encoder, for example, all inputs have the size that is passed.
    """
    if any("Lazy" in unit.source for unit in source.submission.units):
        return False
    return not all(_sizes(forms[0]) <= _sizes(_passed(found, forms, renamed)) for forms in builds)


def _sizes(form: Mapping[str, Any]) -> set[int]:
    values = [item for value in form.values() for item in (value if isinstance(value, list) else [value])]
    return {value for value in values if type(value) is int}


def keywords_in_place(name: str, alias: str, source: Source, stub: Source) -> dict[str, str]:
    """Return a dict: keyword of a submission's function or constructor → the course's keyword at this position."""
    for method in ("__init__", ""):
        found, asked = source.signature(alias, method), stub.signature(name, method)
        if found is not None and asked is not None:
            renamed = renamed_by_position(asked.positional, found)
            return {parameter: keyword for keyword, parameter in renamed.items()}
    return {}


def renamed_by_position(asked: Sequence[str], found: Signature) -> dict[str, str]:
    """Return keyword → the parameter in the same position, if only names differ; {} if more differs."""
    renamed = {}
    for place, name in enumerate(asked):
        if name in found.names:
            continue
        if place >= len(found.positional):
            return {}
        parameter = found.positional[place]
        if parameter in asked or not _may_mean(name, parameter):
            return {}
        renamed[name] = parameter
    return renamed


# What a parameter is for, by parts of its name. A size may have any name that means nothing else.
_KINDS = {
    "dropout": ("drop", "prob", "rate"),
    "heads": ("head",),
    "layers": ("layer", "block", "blk"),
    "bias": ("bias",),
    "length": ("len", "steps", "max_pos"),
    "eps": ("eps",),
}
# Parameters with one letter as their whole name.
_SHORT = {"p": "dropout", "h": "heads", "n": "layers"}
# What a size measures: the beginning of a word in its name → a short word for the same, or "".
_MEASURED = {
    "vocab": "",
    "key": "k",
    "query": "q",
    "value": "v",
    "input": "in",
    "output": "out",
    "ff": "inner",
}


def _may_mean(asked: str, found: str) -> bool:
    if _kind(asked) != _kind(found):
        return False
    measured = _measured(asked), _measured(found)
    return measured[0] == measured[1] or "" in measured


def _kind(name: str) -> str:
    plain = name.lower()
    if plain.endswith(("mask", "masks")):
        return "mask"
    found = next((kind for kind, parts in _KINDS.items() if any(part in plain for part in parts)), "size")
    return _SHORT.get(plain, found)


def _measured(name: str) -> str:
    """Return what a size measures: "key" for `key_size` and `d_k`; "" if the name does not say it."""
    words = name.lower().split("_")
    for what, short in _MEASURED.items():
        if any(word.startswith(what) or (short and word == short) for word in words):
            return what
    return ""


def _builds(
    found: Signature, builds: Sequence[Sequence[Collection[str]]], renamed: Mapping[str, str]
) -> bool:
    """Whether at least one case can build the class, with the keywords of one of the accepted constructors."""
    forms = (form for forms in builds for form in forms)
    return any(found.accepts(0, [renamed.get(key, key) for key in form]) for form in forms)


def _passed(
    found: Signature, forms: Sequence[Mapping[str, Any]], renamed: Mapping[str, str]
) -> Mapping[str, Any]:
    """Return what the worker passes: the arguments of the first accepted constructor that fits, else of the first."""
    fitting = (form for form in forms if found.needed <= {renamed.get(k, k) for k in form} <= found.names)
    return next(fitting, forms[0])


def _methods(exercise: Exercise, alias: str, source: Source, stub: Source, built: Interface) -> Interface:
    """Return `built` with remarks on the methods that cases call.

    If a method cannot be called, return an Interface with `other`.
    """
    modules = {build.name for build in _builds_of(exercise)}
    calls: dict[str, list[tuple[int, Collection[str]]]] = {}
    for on, count, keywords in _calls(exercise):
        is_part = on.at  # a part of the module is called, not the module
        if on.ref in modules and not is_part:
            calls.setdefault(on.method or "forward", []).append((count, keywords))
    for method, ways in calls.items():
        found, asked = source.signature(alias, method), stub.signature(exercise.name, method)
        if found is not None and not any(found.accepts(*way) for way in ways):
            return Interface(other=_called_otherwise(f"{alias}.{method}", found, asked))
        if found is not None:
            remarks = (*built.remarks, *_without_default(found, ways, asked))
            built = replace(built, remarks=remarks)
    return built


def _without_default(
    found: Signature, calls: Sequence[tuple[int, Collection[str]]], asked: Signature | None
) -> tuple[Fact, ...]:
    """Return a remark per parameter that some calls leave out, and that has a default only in the stub."""
    if asked is None or all(found.accepts(*call) for call in calls):
        return ()
    missing = [n for n in found.positional if n in found.needed and n in asked.names - asked.needed]
    passed = [(*found.positional[:count], *keys) for count, keys in calls]
    left_out = [name for name in missing if any(name not in names for names in passed)]
    return tuple(Fact("no-default", {"name": name}) for name in left_out)


def _built_otherwise(alias: str, name: str, found: Signature, asked: Signature) -> Fact:
    lacks = [f"`{other}`" for other in asked.positional if other not in found.names]
    lacks_one = found.names < asked.names and len(asked.names - found.names) == 1
    data = {"alias": alias, "found": sanitize(found.text, 200), "name": name, "asked": asked.text}
    return Fact("interface/built", data | {"lacks": ", ".join(lacks) if lacks_one else None})


def _called_otherwise(what: str, found: Signature, asked: Signature | None) -> Fact:
    shown = asked.text if asked is not None else ""
    return Fact("interface/called", {"name": what, "found": sanitize(found.text, 200), "asked": shown})


def _builds_of(exercise: Exercise) -> list[Build]:
    return [build for case in exercise.cases for build in case.all_of(Build) if build.of == exercise.name]


def _calls(exercise: Exercise) -> Iterator[tuple[Callee, int, Collection[str]]]:
    calls = (call for case in exercise.cases for call in case.all_of(Call))
    return ((call.on, len(call.args), call.kwargs) for call in calls)
