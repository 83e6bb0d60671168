"""The sentences about findings: one row per rule, with the sentence of a public report and that of a hidden one.

A rule is a kind, or a kind and a variant: `values/nan`. A column with several sentences shows the first whose
placeholders all have a value. A finding without a sentence for hidden reports is left out of them, or replaced by a
general sentence; `writer.py` gives a hidden sentence nothing but the placeholders in SAFE. So code that has seen a
hidden input has no way to put it there: neither a shape, a name, a value nor the message of an exception.
"""

from __future__ import annotations

from typing import NamedTuple

from grader.support.i18n import N_

# What the grader or the course chose, not student code: `builtin` is the name of an exception of Python, `case` and
# `axis` are names of the course, `says` and `stage` texts of the course.
SAFE = frozenset(("axis", "builtin", "case", "says", "seconds", "stage"))
OF_THE_COURSE = ("layout", "says", "stage")  # placeholders whose values are translated, too


class Row(NamedTuple):
    """shown: of a public report. hidden: of a hidden one, () for none.

    early: the values are from the text or from loading it, before the code could see a case. A hidden report shows them.
    """

    shown: tuple[str, ...]
    hidden: tuple[str, ...] = ()
    early: bool = False


def _row(*shown: str, hidden: str | tuple[str, ...] = ()) -> Row:
    return Row(shown, (hidden,) if isinstance(hidden, str) else hidden)


def _both(*texts: str) -> Row:
    return Row(texts, texts)


def _detailed(with_detail: str, without: str) -> Row:
    return Row((with_detail, without), (without,))


def _early(*shown: str) -> Row:
    return Row(shown, shown, early=True)


def _raised(*shown: str) -> Row:
    return Row(shown, (N_("raised {builtin}"), N_("raised an exception")))


NOT_SCALED = N_("kept values are not scaled to compensate for the dropped ones")
NO_EFFECT = N_("dropout has no effect in training mode")
NOTHING_DROPPED = N_("no attention weight is dropped in training mode")
WRONG_PLACE = N_("dropout is applied at the wrong place")
WRONG_RATE = N_("wrong dropout rate")
INCOMPLETE = N_("the returned state dict is incomplete")
UNEXPECTED = N_("unexpected type")
DIFFERENT = N_("values differ from the expected output")
HAS_NAN = N_("the result contains NaN")
HAS_INF = N_("the result contains inf")
NOT_GRADED = N_("a hidden case could not be graded")
WRONG_RESULT = N_("wrong result")  # of a check whose rule has no sentence for hidden reports

_JUDGED = {
    "passed": _both(""),
    "passed/accuracy": _row(
        N_("{share} % of {n} test sequences are correct"), hidden=N_("enough test sequences are correct")
    ),
    "absent": _both(N_("no output was observed")),
    "absent/attribute": _both(N_("the attribute `attention_weights` is missing")),
    "absent/weight": _row(N_("the returned state dict has no {weight}"), hidden=INCOMPLETE),
    "absent/parameters": _both(N_("the parameters could not be loaded")),
    "odd": _row(N_("expected a tensor, got {what}"), hidden=UNEXPECTED),
    "odd/attribute": _row(
        N_("`attention_weights` is {what}; expected tensors, all of one shape"), hidden=UNEXPECTED
    ),
    "odd/value": _row(N_("expected {want}, got {what}"), hidden=UNEXPECTED),
    "odd/count": _row(N_("the parameters or operations could not be counted"), hidden=UNEXPECTED),
    "odd/sentences": _row(N_("expected sentences of integers"), hidden=UNEXPECTED),
    "odd/state": _row(N_("expected a state dict, got {what}"), hidden=UNEXPECTED),
    "odd/rows": _row(N_("expected a list of dicts (see the lesson), got {what}"), hidden=UNEXPECTED),
    "odd/too-many-rows": _row(
        N_("expected a list of dicts (see the lesson), got too many rows"), hidden=UNEXPECTED
    ),
    "nothing": _both(N_("nothing")),
    "shape": _row(N_("wrong shape: {got}, expected {want}"), hidden=N_("wrong shape")),
    "dtype": _row(N_("wrong dtype: {got}, expected {want}"), hidden=N_("wrong dtype")),
    "values": _row(
        N_("{count} of {total} values differ from the expected output, by up to {largest:.2g}"),
        hidden=DIFFERENT,
    ),
    "values/nan": _row(N_("the result contains NaN ({count} of {total} values)"), hidden=HAS_NAN),
    "values/inf": _row(N_("the result contains inf ({count} of {total} values)"), hidden=HAS_INF),
    "values/gradient": _row(
        N_("{count} of {total} values of the gradient of {name} differ, by up to {largest:.2g}"),
        hidden=DIFFERENT,
    ),
    "values/gradient-nan": _row(
        N_("the gradient of {name} contains NaN ({count} of {total} values)"), hidden=HAS_NAN
    ),
    "values/gradient-inf": _row(
        N_("the gradient of {name} contains inf ({count} of {total} values)"), hidden=HAS_INF
    ),
    "values/gradient-zero": _row(
        N_("the gradient of {name} is all zeros: no gradient flows back to {name}"), hidden=DIFFERENT
    ),
    "values/attribute": _both(N_("`attention_weights` differs from the expected weights")),
    "values/sentences": _row(
        N_("{count} of {total} sentences of token indices are wrong"), hidden=N_("some sentences are wrong")
    ),
    "differ": _both(N_("two results that must be equal differ")),
    "differ/says": _both("{says}"),
    "sums": _row(
        N_("attention weights of a query sum to {sum:.4f} instead of 1"),
        hidden=N_("attention weights of a query do not sum to 1"),
    ),
    "changed": _row(
        N_("the argument {name} was modified in place"), hidden=N_("an argument was modified in place")
    ),
    "parameters": _row("{parts}", hidden=N_("the parameters do not have the expected names and shapes")),
    "part/missing": _row(N_("missing: {names}")),
    "part/misshapen": _row(N_("wrong shape: {names}")),
    "part/unexpected": _row(N_("unexpected: {names}")),
    "part/shared": _row(
        N_("{first} and {second} share the same parameter (and {n} more pairs)"),
        N_("{first} and {second} share the same parameter"),
    ),
    "value": _row(N_("expected {want}, got {got}"), hidden=N_("wrong value")),
    "value/says": _both("{says}"),
    "accepted": _row(
        N_("expected {want} to be raised, but nothing was raised"),
        hidden=N_("an exception should be raised, but nothing was raised"),
    ),
    "raised": _row(
        N_("expected {want} to be raised, got {got}"), hidden=N_("the wrong exception was raised")
    ),
    # dropout
    "none/weights": _row(
        N_("no attention weight is dropped in training mode: all rows still sum to 1"), hidden=NOTHING_DROPPED
    ),
    "none": _both(NO_EFFECT),
    "none/calls": _row(
        N_("dropout has no effect: two calls in training mode give the same result"), hidden=NO_EFFECT
    ),
    "no-weights": _row(
        N_("no attention weight is dropped in training mode: all rows sum to 1"), hidden=NOTHING_DROPPED
    ),
    "constant": _both(N_("all outputs are identical in training mode")),
    "features": _both(N_("dropout is applied to the output instead of the attention weights")),
    "not-finite": _both(N_("NaN or inf in training mode")),
    "scale/weights": _row(
        N_("kept attention weights are not scaled to compensate for the dropped ones"), hidden=NOT_SCALED
    ),
    "scale": _row(
        N_("kept values are not scaled to compensate for the dropped ones, or dropout is applied twice"),
        hidden=NOT_SCALED,
    ),
    "rate": _both(WRONG_RATE),
    "rate/weights": _row(N_("wrong dropout rate for the attention weights"), hidden=WRONG_RATE),
    "structure": _both(WRONG_PLACE),
    "structure/zero": _row(
        N_("all values are zero in evaluation mode, so dropout cannot be checked"), hidden=WRONG_PLACE
    ),
    "together": _both(N_("whole rows are dropped instead of single elements")),
    "elsewhere": _both(N_("dropout is applied where it should not be")),
    "levels": _row(
        N_("outputs that should differ are equal in training mode"),
        hidden=N_("outputs that should differ are equal"),
    ),
    # models and their training
    "accuracy": _row(
        N_("{share} % of {n} test sequences are correct; at least {least} % required"),
        hidden=N_("too few test sequences are correct"),
    ),
    "count": _row(N_("expected {want} sentences, got {got}"), hidden=N_("wrong number of sentences")),
    "as-begun": _both(N_("the returned weights are unchanged by training")),
    "not-finite/state": _both(N_("the returned weights contain NaN or inf")),
    "other-weights": _both(N_("the returned weights are not those of this model after training")),
    # pruning
    "cost": _row(
        N_("{after} of {before} remain, expected {want}"),
        hidden=N_("too many parameters or operations remain"),
    ),
    "little": _row(
        N_("only {after} remain, but about {want} are needed"),
        hidden=N_("too few parameters or operations remain"),
    ),
    "whole": _both(N_("the model did not get smaller")),
    "ranks": _row(
        N_("wrong ranking of heads (rank correlation with the expected ranking: {found:.2f})"),
        hidden=N_("wrong ranking of heads"),
    ),
    "seeds": _row(
        N_("only {seeds} seeds for order {order}; at least 3 required"),
        hidden=N_("too few seeds for an order"),
    ),
    "no-heads": _row(
        N_("'removed' must list different heads from 0 to {last}"),
        hidden=N_("'removed' must list different heads"),
    ),
    "sizes": _row(
        N_("each number of removed heads up to {last} needs exactly one row"),
        hidden=N_("a number of removed heads has no row"),
    ),
    "not-kept": _both(N_("a removed head reappears in the next row")),
    "empty": _both(N_("the table has no rows")),
    "accuracies": _row(N_("{wrong} of {rows} accuracies are wrong"), hidden=N_("some accuracies are wrong")),
    "no-order": _row(N_("the order `{order}` is missing"), hidden=N_("an order is missing")),
    "order/importance": _row(
        N_(
            "the order `importance` removes important heads first: the rank correlation of importance and time of removal is {found:.2f}, expected near 1"
        ),
        hidden=N_("the order `importance` removes important heads first"),
    ),
    "order/reverse": _row(
        N_(
            "the order `reverse` removes unimportant heads first: the rank correlation of importance and time of removal is {found:.2f}, expected near -1"
        ),
        hidden=N_("the order `reverse` removes unimportant heads first"),
    ),
    "one-order": _both(N_("the random order does not depend on the seed")),
    # places that no hidden report shows
    "at/sequence": _row(N_("sequence {n}")),
    "at/sentence": _row(N_("sentence {n}")),
    "at/order": _row(N_("order {order}, seed {seed:.0f}")),
    "at/removed": _row(N_("order {order}, seed {seed:.0f}, removed {heads}")),
    # without a judge
    "unjudged": _both(N_("the result could not be checked")),
    "fault": _row(N_("the grader failed: {error}"), hidden=NOT_GRADED),
    "fault/case": _row("{why}", hidden=NOT_GRADED),
    "skipped": _both(N_("skipped: earlier checks failed")),
    "skipped/timeouts": _both(N_("skipped: earlier cases did not finish")),
    "skipped/same": _row(N_("skipped: the same exception"), hidden=N_("skipped: earlier checks failed")),
    "skipped/weights": _both(N_("skipped: the weights of the case could not be loaded")),
    "cause/exception": _both(N_("every call raises the same exception: fix it first")),
    "cause/weights": _both(
        N_("the weights of the cases could not be loaded, because the parameters have other names or shapes")
    ),
}

# Exceptions of student code, and workers that were lost.
_STOPPED = {
    "exception": _raised(N_("raised {what}")),
    "exception/memory": _raised(N_("out of memory: the code asked for {size:,.1f} GiB at once")),
    "exception/exit": _raised(N_("the code ends Python: remove `exit`, `quit` or `sys.exit`")),
    "exception/debugger": _both(N_("the code starts a debugger: remove `breakpoint` or `set_trace`")),
    # What an exception of the module that a student's test was called on means for the test.
    "advice/faulty": _both(
        N_("The faulty module raised this inside your test. A test must return True then.")
    ),
    "advice/correct": _both(
        N_("A correct module raised this inside your test. Check what the test passes to it.")
    ),
    # What to do, if the message of the exception does not say it.
    "advice/demonstration": _row(
        N_(
            "{reader}, line {read} reads `{name}`, which only the demonstration in {file}, line {line} sets. While an"
            " exercise is graded, demonstrations are not there: pass `{name}` as an argument, or create it in your"
            " function or class."
        ),
        N_(
            "Only the demonstration in {file}, line {line} sets `{name}`. While an exercise is graded, demonstrations are"
            " not there: pass `{name}` as an argument, or create it in your function or class."
        ),
    ),
    "advice/near": _row(N_("Did you mean `{near}`?")),
    "advice/module": _row(N_("If `{module}` is a file of yours, put it beside this one.")),
    "advice/numpy": _row(N_("NumPy computes no gradients: use functions of torch.")),
    "advice/recursion": _row(N_("A function calls itself without end.")),
    "advice/none": _row(N_("A value is None here.")),
    "advice/truth": _row(N_("`if`, `and`, `or` and `not` need a single value.")),
    "no-memory": _detailed(
        N_("GPU out of memory: close other programs and run the check again ({error})"),
        N_("GPU out of memory: close other programs and run the check again"),
    ),
    "lost/time": _both(
        N_("stopped after {seconds} seconds; is there a loop that never ends?"),
        N_("stopped: time limit exceeded"),
    ),
    "lost/output": _detailed(N_("stopped: too much output ({detail})"), N_("stopped: too much output")),
    "lost/reply": _detailed(
        N_("stopped: the worker process sent an invalid result ({detail})"),
        N_("stopped: the worker process sent an invalid result"),
    ),
    "lost/fault": _detailed(
        N_("the worker failed twice while it ran your code ({detail})"),
        N_("the worker failed twice while it ran your code"),
    ),
    "lost/died": _detailed(
        N_("the worker process ended twice while it ran your code ({detail})"),
        N_("the worker process ended twice while it ran your code"),
    ),
}

# What is noticed about a wrong answer that is no known mistake. A report begins each with a capital letter, and ends it
# with a point.
_PART = (
    N_("the result is wrong only in a part of the axis {axis}"),
    N_("the result is wrong only in a part"),
)
_FACTS = {
    "one-value": _row(
        N_("all values are {value:.4g}"), hidden=N_("all values are the same, and should not be")
    ),
    "ratio": _row(
        N_("all values are {ratio:.4g} × the expected values"),
        hidden=N_("all values are the same multiple of the expected values"),
    ),
    "positions": _both(N_("the values are right but in the wrong positions")),
    "padding": _row(
        N_("only rows with padding are wrong"), hidden=N_("the result is wrong only where there is padding")
    ),
    "only/one": _row(
        N_("differences only at {axis} {first}"), N_("differences only at axis {n} {first}"), hidden=_PART
    ),
    "only/some": _row(
        N_("differences only at {axis} {places}"), N_("differences only at axis {n} {places}"), hidden=_PART
    ),
    "only/from": _row(
        N_("right up to {axis} {before}, wrong from {axis} {first} on"),
        N_("right up to axis {n} {before}, wrong from axis {n} {first} on"),
        hidden=_PART,
    ),
    "only/between": _row(
        N_("differences only from {axis} {first} to {last}"),
        N_("differences only from axis {n} {first} to {last}"),
        hidden=_PART,
    ),
    "facets/masking": _row(
        N_("correct without a mask, wrong with a mask"),
        hidden=N_("the result is right without a mask and wrong with a mask"),
    ),
    "facets/some-masks": _row(
        N_("correct without a mask and with some masks, wrong with others"),
        hidden=N_("the result is right without a mask and with some masks, and wrong with others"),
    ),
    "facets/gradients": _row(
        N_("outputs are correct, gradients are not"),
        hidden=N_("the outputs are right; the gradients are wrong"),
    ),
    "facets/modes": _row(
        N_("values are correct, but not in every mode: compare train(), eval() and step-by-step decoding"),
        hidden=N_("the result is right in one mode only: compare train(), eval() and step-by-step decoding"),
    ),
    "facets/weights": _row(
        N_("outputs are correct, `attention_weights` is not"),
        hidden=N_("the outputs are right; `attention_weights` is wrong"),
    ),
    "stage": _both(N_("the first intermediate result that differs: {stage}")),
    "sizes-of": _row(N_("sizes that do not match: {a} ({one}) and {b} ({other})")),
    "axis-of": _row(N_("axis {n} of `{input}`")),
    "argument": Row(("`{name}`",)),
}

_REMARKS = {
    "ungraded": _row("{why}", hidden=NOT_GRADED),
    "layout": _row(
        N_("parameters were matched by shape, not by name (layout: {layout})"),
        hidden=N_("The parameters were matched by shape, not by name."),
    ),
    "measured": _row(
        N_("{case}: {share} % of {n} test sequences are correct"),
        hidden=N_("{case}: enough test sequences are correct"),
    ),
    "instructor/checks": _early(
        N_(
            "for the instructor: the grader raised an exception while it judged {checks}; look at this submission"
        )
    ),
    "instructor/file": _early(
        N_(
            "for the instructor: the grader raised {error} while it judged this submission; it graded a plain file without an exception"
        )
    ),
    "grader-failed": _early(N_("the grader failed: {error}")),
    # The text of the file, and how it was loaded.
    "text": _early("{sentence}"),
    "by-position/built": _early(N_("built by position, because some parameters have other names: {pairs}")),
    "by-position/called": _early(N_("called by position, because some parameters have other names: {pairs}")),
    "no-default": _early(N_("`{name}` has no default, but some calls of the course leave it out")),
    "interface/built": _early(
        N_(
            "this file builds it as `{alias}({found})`, without {lacks}; the course asks for `{name}({asked})`"
        ),
        N_("this file builds it as `{alias}({found})`; the course asks for `{name}({asked})`"),
    ),
    "interface/called": _early(N_("this file defines `{name}({found})`; the course calls `{name}({asked})`")),
    "missing/framework": _early(
        N_("`{name}` comes from {package}; these exercises are graded in PyTorch only")
    ),
    "missing/package": _early(
        N_(
            "the package {package} is not installed here, and `{name}` comes from it: install it, or write the code"
            " without it"
        )
    ),
    "missing/block": _early(
        N_(
            "`{name}` comes from `{module}`, which was not submitted, and the reference {name} is called differently:"
            " put {last}.py beside this file"
        )
    ),
    "missing/everything": _early(
        N_(
            "this file imports everything from `{module}`, which was not submitted: put {last}.py beside this file"
        )
    ),
    "missing/name": _early(
        N_("`{name}` comes from `{module}`, which was not submitted: put {last}.py beside this file")
    ),
    "parts/reference": _early(N_("built entirely from the reference code")),
    "parts/own": _early(N_("built entirely from your own code")),
    "parts/some": _early(N_("built from your own {names}; the other parts are reference code")),
    "slip": _early(N_("{file}, line {line}: {slip}")),
    "uses": _early(
        N_(
            "uses {call} ({file}, line {line}), which you are asked to implement yourself (−{share:.0%} of the points)"
        ),
        N_("uses {call}, which you are asked to implement yourself (−{share:.0%} of the points)"),
        N_("uses {call} ({file}, line {line}), which you are asked to implement yourself"),
        N_("uses {call}, which you are asked to implement yourself"),
    ),
    "renamed": _early(
        N_("{file}, line {line} defines {found}; it was graded as {name}, the name in the course"),
        N_("{found} was graded as {name}, the name in the course"),
    ),
    "no-code": _early(N_("{name} has no code yet")),
    "quick": _early(N_("--quick: the longest training was skipped, so this is not a final score")),
    "no-gpu": _early(N_("this code needs a GPU, and this machine has none")),
    "unreadable": _early(N_("Python cannot read {name}: {file}, {why}")),
    "unreadable/file": _early(N_("{file}, {why}")),
    "nested": _early(
        N_("{file}, line {line} defines {name} in a block that did not run: put it at the top level")
    ),
    "misspelt": _early(
        N_("{file}, line {line} defines {similar}, but the exercise is called {name}: rename it")
    ),
    "undefined": _early(N_("{name} is not defined in {file}")),
    "endless": _early(N_("{file}, line {line}: this definition timed out")),
    "note": _early(N_("{file}, line {line}: {type}: {message}")),
    "left-out": _early(N_("skipped because of an error: {file}, line {line}: {type}: {message}")),
    "given": _early(N_("`{module}` cannot be imported here, so the reference {block} was used")),
    "not-loaded": _early(N_("the file could not be loaded: {how}")),
    "not-loaded/time": _early(
        N_("the file could not be loaded: its top-level code did not finish at {file}, line {line}"),
        N_("the file could not be loaded: its top-level code did not finish"),
    ),
}

ROWS: dict[str, Row] = {**_JUDGED, **_STOPPED, **_FACTS, **_REMARKS}
assert len(ROWS) == sum(map(len, (_JUDGED, _STOPPED, _FACTS, _REMARKS))), "two rules have one name"
