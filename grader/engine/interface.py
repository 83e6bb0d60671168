"""Decide from the text whether a definition can be built and called as the course does it.

Nothing runs, so an exception inside a student's code is never taken for another interface.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from grader.bundle.model import Exercise, RecordedCase
from grader.intake.axes import axes_needed
from grader.intake.meanings import counterparts, meaning, same
from grader.intake.names import Names, Signature, function_of, signature
from grader.report.finding import Fact
from grader.support.sanitize import sanitize
from grader.worker.constructors import accepted_forms
from grader.worker.steps import Build, Call, Ref


@dataclass(frozen=True)
class Interface:
    """How the grader calls a definition.

    renamed: keyword of the course's constructor or function → the submission's parameter in its place.
    called: method, "" for a function → the submission's parameters in the course's order, if they have another one.
    other: how it differs, if the definition has another interface; None if it can be called.
    without_sizes: how it differs, if the constructor does not take a size that the class needs; None if it does. Such a
    class has another interface, unless it passes.
    for_other_inputs: how it differs, if it is written for other inputs, such as a mask where the course passes lengths.
    Its failure may be a mistake as well.
    remarks: differences that do not matter, or that make only some calls fail.
    """

    renamed: Mapping[str, str] = field(default_factory=dict)
    called: Mapping[str, Sequence[str]] = field(default_factory=dict)
    other: Fact | None = None
    without_sizes: Fact | None = None
    for_other_inputs: Fact | None = None
    remarks: tuple[Fact, ...] = ()

    @property
    def differs(self) -> Fact | None:
        """How it differs, if a failed definition may have another interface."""
        return self.other or self.without_sizes or self.for_other_inputs


def interface(exercise: Exercise, alias: str, source: Names, stub: Names) -> Interface:
    """Compare what the cases call with what the submission's `alias` accepts. stub: the original stub."""
    pair = _Pair(exercise, alias, source, stub)
    found = _constructor(pair, exercise.builds) if exercise.builds else Interface()
    for method, calls in exercise.calls.items():
        if not found.other and pair.own(method) and pair.asked(method):
            found = _with_method(found, pair, method, calls)
    return found


def way_to_be_graded(exercise: Exercise, name: str, source: Names, stub: Names) -> Fact | None:
    """Return how code with another name differs from the exercise that it may be meant as; None if its name is all."""
    pair = _Pair(exercise, name, source, stub)
    if pair.own("") and not pair.asked(""):
        return _called_otherwise(pair, "")
    return interface(exercise, name, source, stub).differs


@dataclass(frozen=True)
class _Pair:
    """A definition of a submission, and that of the stub."""

    exercise: Exercise
    alias: str
    source: Names
    stub: Names

    def own(self, method: str) -> Signature | None:
        return signature(self.source, self.alias, method)

    def asked(self, method: str) -> Signature | None:
        return signature(self.stub, self.exercise.name, method)


_Calls = Sequence[tuple[RecordedCase, Call]]


Way = tuple[int, Collection[str]]  # of a call: the number of positional arguments, and the keywords


def _with_method(found: Interface, pair: _Pair, method: str, calls: _Calls) -> Interface:
    """Add what differs between a method, or a function, and that of the stub."""
    own, asked, what = pair.own(method), pair.asked(method), ".".join(filter(None, (pair.alias, method)))
    assert own is not None and asked is not None
    ways: list[Way] = [*dict.fromkeys((len(call.args), (*call.kwargs,)) for _case, call in calls)]
    if renamed := {} if method else _renamed_keywords(asked, own, ways):
        return Interface(renamed, remarks=(_of_pairs("other-names/called", renamed),))
    remarks = _without_default(own, ways, asked)
    called = {}
    if ordered := _ordered(asked, own):
        called = {method: ordered}
        ways = [(0, [*ordered[:count], *keywords]) for count, keywords in ways]
        remarks = (Fact("by-name", {"name": what, "found": ", ".join(ordered)}), *remarks)
    if not any(own.accepts(*way) for way in ways):
        return Interface(other=_called_otherwise(pair, method))
    order = ordered or own.positional
    others = _for_mask(pair, method, order) or _for_axes(pair, method, order, calls)
    return replace(
        found,
        called={**found.called, **called},
        for_other_inputs=found.for_other_inputs or others,
        remarks=(*found.remarks, *remarks),
    )


def _ordered(asked: Signature, own: Signature) -> tuple[str, ...]:
    """Return the own parameters in the course's order; () if this is their order, or if the names do not decide."""
    pairs = counterparts(asked.positional, own.positional)
    ordered = tuple(pairs[name] for name in asked.positional) if pairs else ()
    return () if ordered == own.positional[: len(ordered)] else ordered


def _renamed_keywords(asked: Signature, own: Signature, ways: Sequence[Way]) -> dict[str, str]:
    """Return keyword → the parameter in its place, if calls of a function fit only with these names; {} otherwise."""
    if all(own.accepts(*way) for way in ways):
        return {}
    passed = {keyword for _count, keywords in ways for keyword in keywords}
    renamed = {name: other for name, other in renamed_in(asked.positional, own).items() if name in passed}
    fits = all(own.accepts(count, [renamed.get(k, k) for k in keywords]) for count, keywords in ways)
    return renamed if fits else {}


def _of_pairs(rule: str, renamed: Mapping[str, str]) -> Fact:
    return Fact(rule, {"pairs": ", ".join(f"`{name}` ({keyword})" for keyword, name in renamed.items())})


def _for_mask(pair: _Pair, method: str, order: Sequence[str]) -> Fact | None:
    """Return how a method differs that has a mask where the course passes lengths; None if it has none."""
    asked = pair.asked(method)
    pairs = zip(order, asked.positional if asked else (), strict=False)
    takes = any(meaning(mine) == "mask" and course.startswith("valid_len") for mine, course in pairs)
    return _called_otherwise(pair, method) if takes else None


def _for_axes(pair: _Pair, method: str, order: Sequence[str], calls: _Calls) -> Fact | None:
    """Return how many axes a method needs, if no call of the course passes as many; None if one does.

    order: its parameters in the course's order.
    """
    function = function_of(pair.source, pair.alias, method)
    for name, needed in axes_needed(function).items() if function else ():
        passed = set()
        for case, call in calls:
            value = dict(zip(order, call.args, strict=False)).get(name)
            if isinstance(value, Ref) and not value.at and value.name in case.tensors:
                passed.add(len(case.tensors[value.name].shape))
        if passed and needed not in passed:
            counts = {"needed": needed, "passed": min(passed)}
            return Fact("interface/axes", {"name": pair.alias, "parameter": name, **counts})
    return None


def _constructor(pair: _Pair, builds: Sequence[Build]) -> Interface:
    found, asked = pair.own("__init__"), pair.asked("__init__")
    if found is None or asked is None:
        return Interface()
    accepted = [accepted_forms(pair.exercise.name, build.kwargs) for build in builds]
    for order in ((), asked.positional, *map(list, accepted[0][1:])):  # the keywords of each constructor
        renamed = renamed_in(order, found)
        ways = [[renamed.get(key, key) for key in form] for forms in accepted for form in forms]
        if any(found.accepts(0, way) for way in ways):  # at least one case can build the class
            passed = [_passed(found, forms, renamed) for forms in accepted]
            lacks = _lacks_sizes(accepted, passed, pair.source)
            without = _built_otherwise(pair, found, asked) if lacks else None
            remarks = _without_default(found, [(0, form) for form in passed], asked)
            if renamed:
                remarks = (_of_pairs("other-names/built", renamed),)
            remarks = (*remarks, *_smaller_defaults(found, asked, renamed))
            return Interface(renamed, without_sizes=without, remarks=remarks)
    return Interface(other=_built_otherwise(pair, found, asked))


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
            renamed = renamed_in(asked.positional, found)
            return {parameter: keyword for keyword, parameter in renamed.items()}
    return {}


def renamed_in(asked: Sequence[str], own: Signature) -> dict[str, str]:
    """Return keyword → the parameter with its meaning or in its place, if only names and order differ; else {}."""
    pairs = counterparts(asked, (*own.positional, *own.keyword_only))
    return {name: other for name, other in pairs.items() if name != other}


def _without_default(found: Signature, ways: Sequence[Way], asked: Signature) -> tuple[Fact, ...]:
    """Return a remark per parameter that some calls leave out, and that has a default only in the stub."""
    if all(found.accepts(*way) for way in ways):
        return ()
    missing = [n for n in found.positional if n in found.needed and n in asked.names - asked.needed]
    passed = [(*found.positional[:count], *keys) for count, keys in ways]
    left_out = [name for name in missing if any(name not in names for names in passed)]
    return tuple(Fact("no-default", {"name": name}) for name in left_out)


def _smaller_defaults(found: Signature, asked: Signature, renamed: Mapping[str, str]) -> Iterator[Fact]:
    """Yield a remark per size whose default is smaller than the course's."""
    for name, default in asked.defaults.items():
        own = found.defaults.get(renamed.get(name, name))
        if type(default) is int and type(own) is int and own < default:
            yield Fact("smaller-default", {"name": renamed.get(name, name), "found": own, "asked": default})


# ---- how it differs, and what to do


def _built_otherwise(pair: _Pair, found: Signature, asked: Signature) -> Fact:
    has = same(asked.positional, found.positional)
    lacks = [f"`{name}`" for name in asked.positional if name not in has]
    shown = {"alias": pair.alias, "found": sanitize(found.text, 200)}
    lacking = lacks[0] if len(lacks) == 1 and found.names <= {*has.values()} else None
    return Fact("interface/built", shown | {"lacks": lacking} | _way_out(pair, "way/class"))


def _called_otherwise(pair: _Pair, method: str) -> Fact:
    own, asked = pair.own(method), pair.asked(method)
    after = f".{method}" if method else ""
    if asked is None:  # a function with the job of a class
        asked, after = pair.asked("forward"), ".forward"
    shown = {"found": sanitize(own.text, 200) if own else "", "called": asked.text if asked else ""}
    named = {"own": f"{pair.alias}.{method}" if method else pair.alias, "theirs": pair.exercise.name + after}
    return Fact("interface/called", shown | named | _way_out(pair, "way/called"))


def _way_out(pair: _Pair, rule: str) -> dict[str, Any]:
    """Return what the sentences say of how to have a definition graded: write the course's, which calls the own one."""
    init, forward, own = pair.asked("__init__"), pair.asked("forward"), pair.own("forward")
    asked = init or pair.asked("")
    mine, call, unused = _call(pair)
    data = {
        "call": call,
        "mine": mine,
        "forward": forward and forward.text,
        "unused": ", ".join(unused) or None,
    }
    course = {"name": pair.exercise.name, "asked": asked.text if asked else ""}
    if forward is None:
        rule = "way/function"
    elif own and len(own.needed) == 1 and {"query", "key"} <= {meaning(name) for name in forward.positional}:
        rule, data = "way/one-input", data | {"own": sanitize(own.text, 200)}
    elif rule == "way/class" and unused == ["`dropout`"]:
        rule = "way/dropout"
    elif rule == "way/class" and mine != pair.alias:
        rule = "way/rename"
    return course | {"way": Fact(rule, data | course)}


# Parameters whose value follows from the meaning of their names; `d_k`, for example, may be the width of a head.
_PASSED_ON = frozenset({"dropout", "length", "heads", "layers", "bias", "vocabulary", "inner", "width"})


def _call(pair: _Pair) -> tuple[str, str, Sequence[str]]:
    """Return a name for the own definition, how the course's may call it, as `Mine(d_model=num_hiddens, h=num_heads)`, and
    the course's parameters that this does not pass on.
    """
    first = "My" if pair.alias[0].isupper() else "my_"
    name = pair.alias if pair.alias != pair.exercise.name else first + pair.alias
    method = "__init__" if pair.own("__init__") else ""
    own, asked = pair.own(method), pair.asked(method)
    if own is None or asked is None:
        return name, f"{name}(…)", ()
    courses = {mine: course for course, mine in same(asked.positional, own.positional).items()}
    known = {mine for mine in courses if meaning(mine) in _PASSED_ON or mine in asked.names}
    given = [f"{mine}={courses[mine] if mine in known else '…'}" for mine in own.positional]
    unused = [f"`{course}`" for course in asked.positional if course not in {courses[mine] for mine in known}]
    return name, sanitize(f"{name}({', '.join(given)})", 300), unused
