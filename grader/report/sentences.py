"""The sentences about findings: one row per rule, with the sentence of a public report and that of a hidden one.

A rule is a kind, or a kind and a variant: `values/nan`. A column with several sentences shows the first whose
placeholders all have a value. A finding without a sentence for hidden reports is left out of them, or replaced by a
general sentence; `Writer` gives a hidden sentence nothing but the placeholders in SAFE. So code that has seen a
hidden input has no way to put it there: neither a shape, a name, a value nor the message of an exception. The writer also translates the sentences.
"""

from __future__ import annotations

from typing import NamedTuple

# What the grader or the course chose, not student code: `builtin` is the name of an exception of Python, `case` and
# `axis` are names of the course, `says` and `stage` texts of the course.
SAFE = frozenset(("axis", "builtin", "case", "says", "seconds", "stage"))
OF_THE_COURSE = ("layout", "says", "stage")  # placeholders whose values are translated, too


class Row(NamedTuple):
    """shown: of a public report. hidden: of a hidden one, () for none.

    early: the values are from the text or from loading it, before the code could see a case. A hidden report shows them.
    many: the sentence if the placeholder `n` is not 1; "" for none.
    """

    shown: tuple[str, ...]
    hidden: tuple[str, ...] = ()
    early: bool = False
    many: str = ""


def _row(*shown: str, hidden: str | tuple[str, ...] = ()) -> Row:
    return Row(shown, (hidden,) if isinstance(hidden, str) else hidden)


def _both(*texts: str) -> Row:
    return Row(texts, texts)


def _detailed(with_detail: str, without: str) -> Row:
    return Row((with_detail, without), (without,))


def _early(*shown: str) -> Row:
    return Row(shown, shown, early=True)


def _counted(one: str, many: str) -> Row:
    return Row((one,), (one,), early=True, many=many)


NOT_SCALED = "kept values are not scaled to compensate for the dropped ones"
NO_EFFECT = "dropout has no effect in training mode"
NOTHING_DROPPED = "no attention weight is dropped in training mode"
WRONG_PLACE = "dropout is applied at the wrong place"
WRONG_RATE = "wrong dropout rate"
INCOMPLETE = "the returned state dict is incomplete"
UNEXPECTED = "unexpected type"
DIFFERENT = "values differ from the expected output"
NOT_GRADED = "a hidden case could not be graded"
WRONG_RESULT = "wrong result"  # of a check whose rule has no sentence for hidden reports

_JUDGED = {
    "passed": _both(""),
    "passed/accuracy": _row(
        "{share} % of {n} test sequences are correct", hidden="enough test sequences are correct"
    ),
    "passed/loss": _row("the loss on new text is {loss}", hidden="the loss on new text is small enough"),
    "absent": _both("no output was observed"),
    "absent/attribute": _both("the attribute `attention_weights` is missing"),
    "absent/weight": _row("the returned state dict has no {weight}", hidden=INCOMPLETE),
    "absent/handed-in": _row(
        "the handed-in weights have no {weight}", hidden="the handed-in weights are incomplete"
    ),
    "handed-in/none": _early(
        "there are no trained weights beside your file: let the lesson's last cell train with STEPS = 1000, and keep the"
        " .safetensors file that it writes beside this one"
    ),
    "handed-in/large": _early("the file with the trained weights is larger than {limit} MB"),
    "handed-in/unreadable": _early("the file with the trained weights cannot be read: {why}"),
    "absent/parameters": _both("the parameters could not be loaded"),
    "odd": _row("expected a tensor, got {what}", hidden=UNEXPECTED),
    "odd/attribute": _row(
        "`attention_weights` is {what}; expected tensors, all of one shape", hidden=UNEXPECTED
    ),
    "odd/value": _row("expected {want}, got {what}", hidden=UNEXPECTED),
    "odd/count": _row("the parameters or operations could not be counted", hidden=UNEXPECTED),
    "odd/sentences": _row("expected sentences of integers", hidden=UNEXPECTED),
    "odd/state": _row("expected a state dict, got {what}", hidden=UNEXPECTED),
    "odd/rows": _row("expected a list of dicts (see the lesson), got {what}", hidden=UNEXPECTED),
    "odd/too-many-rows": _row(
        "expected a list of dicts (see the lesson), got too many rows", hidden=UNEXPECTED
    ),
    "nothing": _both("nothing"),
    "shape": _row("wrong shape: {got}, expected {want}", hidden="wrong shape"),
    "dtype": _row("wrong dtype: {got}, expected {want}", hidden="wrong dtype"),
    # With a name, of a gradient.
    "values": _row(
        "{count} of {total} values of the gradient of {name} differ, by up to {largest:.2g}",
        "{count} of {total} values differ from the expected output, by up to {largest:.2g}",
        hidden=DIFFERENT,
    ),
    "values/nan": _row(
        "the gradient of {name} contains NaN ({count} of {total} values)",
        "the result contains NaN ({count} of {total} values)",
        hidden="the result contains NaN",
    ),
    "values/inf": _row(
        "the gradient of {name} contains inf ({count} of {total} values)",
        "the result contains inf ({count} of {total} values)",
        hidden="the result contains inf",
    ),
    "values/zero": _row(
        "the gradient of {name} is all zeros: no gradient flows back to {name}", hidden=DIFFERENT
    ),
    "values/attribute": _both("`attention_weights` differs from the expected weights"),
    "values/sentences": _row(
        "{count} of {total} sentences of token indices are wrong", hidden="some sentences are wrong"
    ),
    "differ": _both("{says}", "two results that must be equal differ"),
    "sums": _row(
        "attention weights of a query sum to {sum:.4f} instead of 1",
        hidden="attention weights of a query do not sum to 1",
    ),
    "changed": _row("the argument {name} was modified in place", hidden="an argument was modified in place"),
    "parameters": _row("{parts}", hidden="the parameters do not have the expected names and shapes"),
    "part/missing": _row("missing: {names}"),
    "part/misshapen": _row("wrong shape: {names}"),
    "part/unexpected": _row("unexpected: {names}"),
    "part/shared": _row(
        "{first} and {second} share the same parameter (and {n} more pairs)",
        "{first} and {second} share the same parameter",
    ),
    "value": _row("{says}", "expected {want}, got {got}", hidden=("{says}", "wrong value")),
    "accepted": _row(
        "expected {want} to be raised, but nothing was raised",
        hidden="an exception should be raised, but nothing was raised",
    ),
    "raised": _row("expected {want} to be raised, got {got}", hidden="the wrong exception was raised"),
    # dropout
    "none/weights": _row(
        "no attention weight is dropped in training mode: all rows still sum to 1", hidden=NOTHING_DROPPED
    ),
    "none": _both(NO_EFFECT),
    "none/calls": _row(
        "dropout has no effect: two calls in training mode give the same result", hidden=NO_EFFECT
    ),
    "no-weights": _row(
        "no attention weight is dropped in training mode: all rows sum to 1", hidden=NOTHING_DROPPED
    ),
    "constant": _both("all outputs are identical in training mode"),
    "features": _both("dropout is applied to the output instead of the attention weights"),
    "not-finite": _both("NaN or inf in training mode"),
    "scale/weights": _row(
        "kept attention weights are not scaled to compensate for the dropped ones", hidden=NOT_SCALED
    ),
    "scale": _row(
        "kept values are not scaled to compensate for the dropped ones, or dropout is applied twice",
        hidden=NOT_SCALED,
    ),
    "rate": _both(WRONG_RATE),
    "rate/weights": _row("wrong dropout rate for the attention weights", hidden=WRONG_RATE),
    "structure": _both(WRONG_PLACE),
    "structure/zero": _row(
        "all values are zero in evaluation mode, so dropout cannot be checked", hidden=WRONG_PLACE
    ),
    "together": _both("whole rows are dropped instead of single elements"),
    "elsewhere": _both("dropout is applied where it should not be"),
    "levels": _row(
        "outputs that should differ are equal in training mode", hidden="outputs that should differ are equal"
    ),
    # models and their training
    "accuracy": _row(
        "{share} % of {n} test sequences are correct; at least {least} % required",
        hidden="too few test sequences are correct",
    ),
    "count": _row("expected {want} sentences, got {got}", hidden="wrong number of sentences"),
    "loss": _row(
        "the loss on new text is {loss}; at most {most} required", hidden="the loss on new text is too large"
    ),
    "loss/impossible": _row(
        "the loss on new text is {loss}, and no model can come that low",
        hidden="the loss on new text is lower than any model can reach",
    ),
    "rise": _row("{says}: the loss goes from {one} to {other}", hidden="{says}"),
    "not-finite/loss": _both("the loss on new text is NaN or inf"),
    "as-begun": _both("the returned weights are unchanged by training"),
    "not-finite/state": _both("the returned weights contain NaN or inf"),
    "other-weights": _both("the returned weights are not those of this model after training"),
    # pruning
    "cost": _row(
        "{after} of {before} remain, expected {want}", hidden="too many parameters or operations remain"
    ),
    "little": _row(
        "only {after} remain, but about {want} are needed", hidden="too few parameters or operations remain"
    ),
    "whole": _both("the model did not get smaller"),
    # what it costs
    "at-most": _row("{says} ({got}; at most {limit})", hidden="{says}"),
    "law": _row(
        "the probability of the tokens ({tokens}) is {got:.4g} instead of {want:.4g}",
        hidden="the probabilities are wrong",
    ),
    "ranks": _row(
        "wrong ranking of heads (rank correlation with the expected ranking: {found:.2f})",
        hidden="wrong ranking of heads",
    ),
    "seeds": _row(
        "only {seeds} seeds for order {order}; at least 3 required", hidden="too few seeds for an order"
    ),
    "no-heads": _row(
        "'removed' must list different heads from 0 to {last}", hidden="'removed' must list different heads"
    ),
    "sizes": _row(
        "each number of removed heads up to {last} needs exactly one row",
        hidden="a number of removed heads has no row",
    ),
    "not-kept": _both("a removed head reappears in the next row"),
    "empty": _both("the table has no rows"),
    "accuracies": _row("{wrong} of {rows} accuracies are wrong", hidden="some accuracies are wrong"),
    "no-order": _row("the order `{order}` is missing", hidden="an order is missing"),
    "order/importance": _row(
        "the order `importance` removes important heads first: the rank correlation of importance and time of removal is {found:.2f}, expected near 1",
        hidden="the order `importance` removes important heads first",
    ),
    "order/reverse": _row(
        "the order `reverse` removes unimportant heads first: the rank correlation of importance and time of removal is {found:.2f}, expected near -1",
        hidden="the order `reverse` removes unimportant heads first",
    ),
    "one-order": _both("the random order does not depend on the seed"),
    # places that no hidden report shows
    "at/sequence": _row("sequence {n}"),
    "at/sentence": _row("sentence {n}"),
    "at/order": _row("order {order}, seed {seed:.0f}"),
    "at/removed": _row("order {order}, seed {seed:.0f}, removed {heads}"),
    # without a judge
    "unjudged": _both("the result could not be checked"),
    "fault": _row("the grader failed: {error}", hidden=NOT_GRADED),
    "fault/case": _row("{why}", hidden=NOT_GRADED),
    "skipped": _both("skipped: earlier checks failed"),
    "skipped/timeouts": _both("skipped: earlier cases did not finish"),
    "skipped/same": _row("skipped: the same exception", hidden="skipped: earlier checks failed"),
    "skipped/weights": _both("skipped: the weights of the case could not be loaded"),
    "cause/exception": _both("every call raises the same exception: fix it first"),
    "cause/weights": _both(
        "the weights of the tests do not fit into your layers, because the parameters have other names or shapes"
    ),
}

# Exceptions of student code, and workers that were lost.
_RAISED = ("raised {builtin}", "raised an exception")
_STOPPED = {
    "exception": _row("raised {what}", hidden=_RAISED),
    "exception/memory": _row("out of memory: the code asked for {size:,.1f} GiB at once", hidden=_RAISED),
    "exception/exit": _row("the code ends Python: remove `exit`, `quit` or `sys.exit`", hidden=_RAISED),
    "exception/debugger": _both("the code starts a debugger: remove `breakpoint` or `set_trace`"),
    # What an exception of the module that a student's test was called on means for the test.
    "advice/faulty": _both("The faulty module raised this inside your test. A test must return True then."),
    "advice/correct": _both(
        "A correct module raised this inside your test. Check what the test passes to it."
    ),
    # What to do, if the message of the exception does not say it.
    "advice/demonstration": _row(
        "{reader}, line {read} reads `{name}`, which only the demonstration in {file}, line {line} sets. While an"
        " exercise is graded, demonstrations are not there: pass `{name}` as an argument, or create it in your"
        " function or class.",
        "Only the demonstration in {file}, line {line} sets `{name}`. While an exercise is graded, demonstrations are"
        " not there: pass `{name}` as an argument, or create it in your function or class.",
    ),
    "advice/near": _row("Did you mean `{near}`?"),
    "advice/module": _row("If `{module}` is a file of yours, put it beside this one."),
    "no-memory": _detailed(
        "GPU out of memory: close other programs and run the check again ({error})",
        "GPU out of memory: close other programs and run the check again",
    ),
    "lost/time": _both(
        "stopped after {seconds} seconds; is there a loop that never ends?", "stopped: time limit exceeded"
    ),
    "lost/output": _detailed("stopped: too much output ({detail})", "stopped: too much output"),
    "lost/reply": _detailed(
        "stopped: the worker process sent an invalid result ({detail})",
        "stopped: the worker process sent an invalid result",
    ),
    "lost/fault": _detailed(
        "the worker failed twice while it ran your code ({detail})",
        "the worker failed twice while it ran your code",
    ),
    "lost/died": _detailed(
        "the worker process ended twice while it ran your code ({detail})",
        "the worker process ended twice while it ran your code",
    ),
}

# What is noticed about a wrong answer that is no known mistake. A report begins each with a capital letter, and ends it
# with a point.
_PART = ("the result is wrong only in a part of the axis {axis}", "the result is wrong only in a part")
_FACTS = {
    "one-value": _row("all values are {value:.4g}", hidden="all values are the same, and should not be"),
    "ratio": _row(
        "all values are {ratio:.4g} × the expected values",
        hidden="all values are the same multiple of the expected values",
    ),
    "positions": _both("the values are right but in the wrong positions"),
    "padding": _row(
        "only rows with padding are wrong", hidden="the result is wrong only where there is padding"
    ),
    "only/one": _row(
        "differences only at {axis} {first}", "differences only at axis {n} {first}", hidden=_PART
    ),
    "only/some": _row(
        "differences only at {axis} {places}", "differences only at axis {n} {places}", hidden=_PART
    ),
    "only/from": _row(
        "right up to {axis} {before}, wrong from {axis} {first} on",
        "right up to axis {n} {before}, wrong from axis {n} {first} on",
        hidden=_PART,
    ),
    "only/between": _row(
        "differences only from {axis} {first} to {last}",
        "differences only from axis {n} {first} to {last}",
        hidden=_PART,
    ),
    "facets/masking": _row(
        "correct without a mask, wrong with a mask",
        hidden="the result is right without a mask and wrong with a mask",
    ),
    "facets/some-masks": _row(
        "correct without a mask and with some masks, wrong with others",
        hidden="the result is right without a mask and with some masks, and wrong with others",
    ),
    "facets/gradients": _row(
        "outputs are correct, gradients are not", hidden="the outputs are right; the gradients are wrong"
    ),
    "facets/modes": _row(
        "values are correct, but not in every mode: compare train(), eval() and step-by-step decoding",
        hidden="the result is right in one mode only: compare train(), eval() and step-by-step decoding",
    ),
    "facets/calls": _row(
        "values are correct, but not if the steps come in several calls: compare these with a single call",
        hidden="the result is right in a single call, and wrong if the steps come in several calls",
    ),
    "facets/weights": _row(
        "outputs are correct, `attention_weights` is not",
        hidden="the outputs are right; `attention_weights` is wrong",
    ),
    "stage": _both("the first intermediate result that differs: {stage}"),
    "cause": _row("{cause}"),
    "shapes-here": _row("on this line, {shapes}"),
    "raises-with": _row("the calls that raise: {kinds}"),
    "lengths/0": _row("without lengths"),
    "lengths/1": _row("with one length per sequence (B,)"),
    "lengths/2": _row("with one length per query (B, T)"),
}

_REMARKS = {
    "ungraded": _row("{why}", hidden=NOT_GRADED),
    "layout": _row(
        "parameters were matched by shape, not by name (layout: {layout})",
        hidden="The parameters were matched by shape, not by name.",
    ),
    "measured": _row(
        "{case}: {share} % of {n} test sequences are correct",
        hidden="{case}: enough test sequences are correct",
    ),
    "measured/loss": _row(
        "{case}: the loss on new text is {loss}", hidden="{case}: the loss on new text is small enough"
    ),
    "instructor/checks": _early(
        "for the instructor: the grader raised an exception while it judged {checks}; look at this submission"
    ),
    "instructor/file": _early(
        "for the instructor: the grader raised {error} while it judged this submission; it graded a plain file without an exception"
    ),
    "grader-failed": _early("the grader failed: {error}"),
    # The text of the file, and how it was loaded.
    "text": _early("{sentence}"),
    "other-names/built": _early("built with other names of some parameters: {pairs}"),
    "other-names/called": _early("called with other names of some parameters: {pairs}"),
    "by-name": _early("`{name}` was called by the names of its parameters: {found}"),
    "no-default": _early("`{name}` has no default, but some calls of the course leave it out"),
    "smaller-default": _early("`{name}` is {found} by default, and {asked} in the course"),
    "interface/built": _early(
        "this file builds it as `{alias}({found})`, without {lacks}; the course asks for `{name}({asked})`: {way}",
        "this file builds it as `{alias}({found})`; the course asks for `{name}({asked})`: {way}",
    ),
    "interface/called": _early(
        "this file defines `{own}({found})`; the course calls `{theirs}({called})`: {way}"
    ),
    "interface/axes": _early(
        "`{name}` needs {needed} axes of `{parameter}`, and the course passes {passed}: to have it graded, write it for"
        " {passed} axes, or add and remove axes in a definition of this name that calls yours"
    ),
    "way/rename": _early(
        "to have it graded, rename yours to `{mine}`, and add a class of the course's name and parameters, whose"
        " `forward({forward})` calls `{call}`; the course also passes {unused}",
        "to have it graded, rename yours to `{mine}`, and add a class of the course's name and parameters, whose"
        " `forward({forward})` calls `{call}`",
    ),
    "interface/steps-first": _early(
        "`{name}` takes the steps on the first axis, (T, B, D), and the course passes (B, T, D): to have it graded, slice and"
        " add along axis 1"
    ),
    "way/class": _early(
        "to have it graded, add a class of this name and these parameters, whose `forward({forward})` calls `{call}`;"
        " the course also passes {unused}",
        "to have it graded, add a class of this name and these parameters, whose `forward({forward})` calls `{call}`",
    ),
    "way/dropout": _early(
        "to have it graded, give its constructor the course's parameters, and use `nn.Dropout(dropout)` where the lesson"
        " says"
    ),
    "way/one-input": _early(
        "its `forward({own})` takes one input, and the course passes different queries, keys and values: to have it"
        " graded, write `forward({forward})`, with a layer for each of them, and take these parameters"
    ),
    "way/called": _early(
        "to have it graded, add the class `{name}({asked})`, whose `forward` calls yours, `{call}`"
    ),
    "way/function": _early(
        "to have it graded, add a function of this name and these parameters that calls yours as `{call}`"
    ),
    "school/mask": _early(
        "graded in the form of {school}, with masks made from the lengths in the meaning that fits this class; not"
        " looked at: biases, and inputs of different sizes"
    ),
    "school/length": _early(
        "graded in the form of {school}; not looked at: biases, and inputs of different sizes"
    ),
    "school/causal": _early(
        "graded as causal self-attention in the form of {school}, which gets no points; not looked at: lengths, keys"
        " other than the queries, biases, and training mode"
    ),
    "school/network": _early(
        "graded in the form of {school}; not looked at: inputs and outputs of different sizes, and training mode"
    ),
    "school/positions": _early("graded in the form of {school}"),
    "school/small-layers": _early(
        "`{name}` projects with layers of {shape}, which all heads share; the course has one matrix of (num_hiddens,"
        " num_hiddens) each for queries, keys and values, so that each head has rows of its own: project first, then split"
    ),
    "school/untrained": _early(
        "training mode was not looked at, because the constructor takes no rate of dropout"
    ),
    "missing/framework": _early("`{name}` comes from {package}; these exercises are graded in PyTorch only"),
    "missing/block": _early(
        "`{name}` comes from `{module}`, which was not submitted, and the reference {name} is called differently:"
        " put {last}.py beside this file"
    ),
    "missing/everything": _early(
        "this file imports everything from `{module}`, which is not here: put {last}.py beside this file, or install the"
        " package {package}"
    ),
    "missing/name": _early(
        "`{name}` comes from `{module}`, which is not here: put {last}.py beside this file, or install the package"
        " {package}"
    ),
    "parts/reference": _early("built entirely from the reference code"),
    "parts/own": _early("built entirely from your own code"),
    "parts/some": _early("built from your own {names}; the other parts are reference code"),
    "slip": _early("{file}, line {line}: {slip}"),
    "uses": _early(
        "uses {call} ({file}, line {line}), which you are asked to implement yourself (−{share:.0%} of the points)",
        "uses {call}, which you are asked to implement yourself (−{share:.0%} of the points)",
        "uses {call} ({file}, line {line}), which you are asked to implement yourself",
        "uses {call}, which you are asked to implement yourself",
    ),
    "renamed": _early(
        "{file}, line {line} defines {found}; it was graded as {name}, the name in the course",
        "{found} was graded as {name}, the name in the course",
    ),
    "no-code": _early("{name} has no code yet"),
    "quick": _early("--quick: the longest training was skipped, so this is not a final score"),
    "no-gpu": _early(
        "{file}, line {line} asks for a GPU, and this machine has none: take the device of an argument, such as `X.device`,"
        " and the code can be graded here",
        "this code asks for a GPU, and this machine has none: take the device of an argument, such as `X.device`, and it"
        " can be graded here",
    ),
    "unreadable": _early("Python cannot read {name}: {file}, {why}"),
    "unreadable/file": _early("{file}, {why}"),
    "nested": _early(
        "{file}, line {line} defines {name} in a block that did not run: put it at the top level"
    ),
    "misspelt": _early("{file}, line {line} defines {similar}, but the exercise is called {name}: rename it"),
    "undefined": _early("{name} is not defined in {file}"),
    # Where a definition stands that is not graded.
    "elsewhere/comments": _early(
        "`{name}` stands in comments: remove the `#` in {file}, lines {line} to {end}, to have it graded"
    ),
    "elsewhere/string": _early(
        "`{name}` stands in a string: take it out of the quotes in {file}, lines {line} to {end}, to have it graded"
    ),
    "elsewhere/inside": _early(
        "`{name}` is defined inside `{where}`: put it at the top level ({file}, lines {line} to {end}) to have it graded"
    ),
    "elsewhere/markdown": _early(
        "`{name}` stands in {file}, line {line}, which is a Markdown cell: change it into a code cell to have it graded"
    ),
    "elsewhere/raw": _early(
        "`{name}` stands in {file}, line {line}, which is a raw cell: change it into a code cell to have it graded"
    ),
    "elsewhere/magic": _early(
        "`{name}` stands in {file}, line {line}, in a cell that begins with `{where}`: remove that line to have it graded"
    ),
    "elsewhere/notes": _early(
        "`{name}` stands in the text: put lines {line} to {end} of {file} between a line ```python and a line ```"
        " to have it graded"
    ),
    "elsewhere/book": _early(
        "{file}, line {line}: `{name}` is the book's class for the exercise {exercise}; to have it graded, write it as the"
        " function `{exercise}({asked})`",
        "{file}, line {line}: `{name}` is the book's class for the exercise {exercise}; to have it graded, write it as a"
        " function of this name",
    ),
    "endless": _early("{file}, line {line}: this definition timed out"),
    "note": _early("{file}, line {line}: {type}: {message}"),
    "left-out": _early("skipped because of an error: {file}, line {line}: {type}: {message}"),
    "given": _early("`{module}` cannot be imported here, so the reference {block} was used"),
    "not-loaded": _early("the file could not be loaded: {how}"),
    "not-loaded/time": _early(
        "the file could not be loaded: its top-level code did not finish at {file}, line {line}",
        "the file could not be loaded: its top-level code did not finish",
    ),
    "cached": _early("cached result: the files have not changed since an earlier check"),
    # Statements that were skipped, imports that were added, other files that were used.
    "left-out/exit": _early("{file}, line {line} ends Python: remove this statement; the grader skipped it"),
    "left-out/debugger": _early(
        "{file}, line {line} starts a debugger: remove `breakpoint` or `set_trace`; the grader skipped it"
    ),
    "left-out/endless": _early("{file}, line {line}: this statement timed out and was skipped"),
    "left-out/raised": _counted(
        "skipped {file}, line {line}: it raises {what}",
        "skipped {n} statements that raise exceptions; the first, in {file}, line {line}: {what}",
    ),
    "error": _early("{type}: {message} ({at}, line {line})", "{type}: {message}"),
    "imports": _early(
        "{file} uses names that it does not import: add at the top {imports}; the grader did so for this check"
    ),
    "imports/of-others": _early("{file} uses names that it does not import; the grader used {imports}"),
    "import": _early("`{import_}` ({cell}, line {line})", "`{import_}` (line {line})"),
    "file/used": _counted(
        "a file beside this one was used too: {files}", "files beside this one were used too: {files}"
    ),
    # Blocks of the student, and exercises that an exercise needs.
    "replaced/wrong": _counted(
        "your {blocks} has an error of its own, so the reference {blocks} was used here",
        "your {blocks} have errors of their own, so the reference blocks were used here",
    ),
    "replaced/unwritten": _counted(
        "your {blocks} is not written yet, so the reference {blocks} was used here",
        "your {blocks} are not written yet, so the reference blocks were used here",
    ),
    "replaced/unusable": _counted(
        "your {blocks} could not be used, so the reference {blocks} was used here",
        "your {blocks} could not be used as they are, so the reference blocks were used here",
    ),
    "replaced/wrong-beside": _early("{block} in {file} has an error, so the reference {block} was used here"),
    "replaced/unusable-beside": _early(
        "{block} in {file} could not be used, so the reference {block} was used here"
    ),
    "replaced/together": _early(
        "your parts ({blocks}) pass separately but fail together; graded with the reference parts instead;"
        " one possible reason is a part that begins its positions at 0 where they should continue"
    ),
    "blocked-by/unwritten": _early(
        "blocked by {other}, which it needs and which is not written yet: write {other} first"
    ),
    "blocked-by/wrong": _early(
        "blocked by {other}, which it needs and which does not pass yet: fix {other} first"
    ),
}

ROWS: dict[str, Row] = {**_JUDGED, **_STOPPED, **_FACTS, **_REMARKS}
assert len(ROWS) == sum(map(len, (_JUDGED, _STOPPED, _FACTS, _REMARKS))), "two rules have one name"
