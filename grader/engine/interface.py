"""Decide from the text whether a definition can be built and called as the course does it.

Nothing runs, so an exception inside a student's code is never taken for another interface.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from grader.bundle.model import Exercise
from grader.intake.names import Names, Signature, signature
from grader.report.finding import Fact
from grader.support.sanitize import sanitize
from grader.worker.constructors import accepted_forms
from grader.worker.steps import Build, Call


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


def interface(exercise: Exercise, alias: str, source: Names, stub: Names) -> Interface:
    """Compare what the cases call with what the submission's `alias` accepts. stub: the original stub."""
    builds = [build for case in exercise.cases for build in case.all_of(Build) if build.of == exercise.name]
    found = _constructor(exercise, builds, alias, source, stub) if builds else Interface()
    if found.other:
        return found
    for method, calls in _calls(exercise, {build.name for build in builds}).items():
        own, asked = signature(source, alias, method), signature(stub, exercise.name, method)
        if own is None:
            continue
        renamed = {} if method else _renamed_keywords(asked, own, calls)
        if renamed:
            return Interface(renamed, remarks=(_of_pairs("by-position/called", renamed),))
        if not any(own.accepts(*call) for call in calls):
            return Interface(other=_called_otherwise(f"{alias}.{method}" if method else alias, own, asked))
        found = replace(found, remarks=(*found.remarks, *_without_default(own, calls, asked)))
    return found


Way = tuple[int, Collection[str]]  # of a call: the number of positional arguments, and the keywords


def _calls(exercise: Exercise, modules: Collection[str]) -> Mapping[str, Sequence[Way]]:
    """Return method → how cases call it, for the modules that cases build; "" for a function."""
    found: dict[str, list[Way]] = {}
    for call in (call for case in exercise.cases for call in case.all_of(Call)):
        on = call.on
        is_method = on.ref in modules and not on.at  # with `at`, a part of the module is called
        if is_method or (not modules and on.function == exercise.name):
            method = (on.method or "forward") if is_method else ""
            found.setdefault(method, []).append((len(call.args), call.kwargs))
    return found


def _renamed_keywords(asked: Signature | None, found: Signature, calls: Sequence[Way]) -> dict[str, str]:
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


def takes_mask(exercise: Exercise, alias: str, source: Names, stub: Names) -> Fact | None:
    """Return how the interface differs if `forward` has a mask where the course passes lengths; None otherwise."""
    found, asked = signature(source, alias, "forward"), signature(stub, exercise.name, "forward")
    if found is None or asked is None:
        return None
    pairs = zip(found.positional, asked.positional, strict=False)
    if not any("mask" in own.lower() and course.startswith("valid_len") for own, course in pairs):
        return None
    return _called_otherwise(f"{alias}.forward", found, asked)


def _constructor(
    exercise: Exercise, builds: Sequence[Build], alias: str, source: Names, stub: Names
) -> Interface:
    found, asked = signature(source, alias, "__init__"), signature(stub, exercise.name, "__init__")
    if found is None or asked is None:
        return Interface()
    accepted = [accepted_forms(exercise.name, build.kwargs) for build in builds]
    otherwise = _built_otherwise(alias, exercise.name, found, asked)
    for order in ((), asked.positional, *map(list, accepted[0][1:])):  # the keywords of each constructor
        renamed = renamed_by_position(order, found)
        ways = [[renamed.get(key, key) for key in form] for forms in accepted for form in forms]
        if any(found.accepts(0, way) for way in ways):  # at least one case can build the class
            passed = [_passed(found, forms, renamed) for forms in accepted]
            without = otherwise if _lacks_sizes(accepted, passed, source) else None
            remarks = _without_default(found, [(0, form) for form in passed], asked)
            if renamed:
                remarks = (_of_pairs("by-position/built", renamed),)
            return Interface(renamed, without_sizes=without, remarks=remarks)
    return Interface(other=otherwise)


def _passed(
    found: Signature, forms: Sequence[Mapping[str, Any]], renamed: Mapping[str, str]
) -> Mapping[str, Any]:
    """Return what the worker passes: the arguments of the first accepted constructor that fits, else of the first."""
    fitting = (form for form in forms if found.needed <= {renamed.get(k, k) for k in form} <= found.names)
    return next(fitting, forms[0])


def _lacks_sizes(
    accepted: Sequence[Sequence[Mapping[str, Any]]], passed: Sequence[Mapping[str, Any]], source: Names
) -> bool:
    """Whether a class with the shorter constructor of edition 1.x needs a size that it is not passed.

    Lazy layers need none. In a block of an encoder, for example, all inputs have the size that is passed.
    """
    if any("Lazy" in unit.source for unit in source.units):
        return False
    return not all(_sizes(forms[0]) <= _sizes(form) for forms, form in zip(accepted, passed, strict=True))


def _sizes(form: Mapping[str, Any]) -> set[int]:
    values = [item for value in form.values() for item in (value if isinstance(value, list) else [value])]
    return {value for value in values if type(value) is int}


def keywords_in_place(name: str, alias: str, source: Names, stub: Names) -> dict[str, str]:
    """Return a dict: keyword of a submission's function or constructor → the course's keyword at this position."""
    for method in ("__init__", ""):
        found, asked = signature(source, alias, method), signature(stub, name, method)
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


def _without_default(found: Signature, calls: Sequence[Way], asked: Signature | None) -> tuple[Fact, ...]:
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
