"""Judges of models and their training: the share of right sentences, the written tokens, the returned weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from grader.bundle.model import Check, RecordedCase
from grader.bundle.safetensors import Array
from grader.judge.compare import judge, values_of, wrong_form
from grader.judge.observation import EMPTY, Observation
from grader.report.finding import PASSED, Fact, Finding, Spot
from grader.support.i18n import _


@judge
def accuracy(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """Enough sentences are right: at every step that counts, the best token is the right one.

    The scores are computed with the right tokens as input (teacher forcing). The best tokens are all right exactly if
    greedy decoding writes the right sentence. `labels`, `lens`: names of tensors that only the judge has: the right
    tokens, and how many of them count. `least`: the share of right sentences that is required.
    """
    (name,) = check.of
    scores = values_of(name, case, observation)  # (N, T, V)
    labels, lens = (case.for_judge[check.params[key]].astype(np.int64) for key in ("labels", "lens"))
    right = right_ones(scores, labels, lens)
    share, least = float(right.mean()), check.params["least"]
    data = {"share": int(100 * share), "n": len(right)}
    if share >= least:
        return Finding("passed/accuracy", data)
    first = int(np.flatnonzero(~right)[0])
    best = scores[first].astype(np.float64).argmax(-1)  # (T,)
    want, got = (_line(words[: lens[first]]) for words in (labels[first], best))
    data |= {"least": round(100 * least)}
    return Finding("accuracy", data, Fact("at/sequence", {"n": first}), want, got)


@judge
def loss(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """The mean of the losses of a trained model on new rows of text is at most `most`, and at least `least`.

    least: below it, the model would know more than the text says.
    """
    (name,) = check.of
    losses = values_of(name, case, observation).astype(np.float64)
    if not np.isfinite(losses).all():
        return Finding("not-finite/loss")
    mean, most = float(losses.mean()), check.params["most"]
    data = {"loss": f"{mean:.3f}", "most": f"{most:g}"}
    if mean < check.params.get("least", 0.0):
        return Finding("loss/impossible", data)
    if mean <= most:
        return Finding("passed/loss", data)
    return Finding("loss", data, expected=_("at most {most}").format(**data), got=data["loss"])


@judge
def rise(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """From the first rows to the second, the mean loss rises by `least` to `most`. says: what is wrong if not."""
    means = [float(values_of(name, case, observation).astype(np.float64).mean()) for name in check.of]
    if check.params["least"] <= means[1] - means[0] <= check.params["most"]:
        return PASSED
    one, other = (f"{mean:.3f}" for mean in means)
    return Finding("rise", {"says": check.params["says"], "one": one, "other": other})


def right_ones(scores: Array, labels: Array, lens: Array) -> Array:
    """Return (N,) of bool: at each step that counts, the best token is the right one.

    Scores have the shape (N, T, V). A sentence with a score that is NaN or infinite is wrong.
    """
    best = scores.astype(np.float64).argmax(-1)  # (N, T)
    beyond = np.arange(labels.shape[1]) >= lens[:, None]
    right: Array = ((best == labels) | beyond).all(1) & np.isfinite(scores).all((1, 2))
    return right


@judge
def sentences(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """Every sentence equals the one that the reference writes."""
    (name,) = check.of
    seen, header = observation.seen.get(name), case.headers[name]
    if seen is None or seen.array is None or seen.array.ndim != 2 or seen.dtype != "int64":
        form = wrong_form(seen, header)
        return form if form is not None else Finding("odd/sentences")
    got_count, want_count = len(seen.array), len(case.expected[name])
    if got_count != want_count:
        return Finding("count", {"got": got_count, "want": want_count})
    want, got = (_rows(array) for array in (case.expected[name], seen.array))
    wrong = [place for place, pair in enumerate(zip(want, got, strict=True)) if pair[0] != pair[1]]
    if not wrong:
        return PASSED
    first = wrong[0]
    data = {"count": len(wrong), "total": len(want)}
    place = Fact("at/sentence", {"n": first})
    return Finding("values/sentences", data, place, _line(want[first]), _line(got[first]))


@judge
def trained(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """A state dict was returned, with every weight of the model."""
    for name in check.of:
        seen, weight = observation.seen.get(name), name.removeprefix("state ")
        if seen is None:
            return Finding("absent/handed-in" if case.takes_weights else "absent/weight", {"weight": weight})
        if seen.shape is None:
            return Finding("odd/state", {"what": seen.odd})
        wrong = wrong_form(seen, case.headers[name])
        if wrong is not None:
            return replace(wrong, place=Spot(of=weight))
    return PASSED


# The cosine between 2,000 weights and as many random ones is about 0.02. Between the weights before and after 24 steps
# of Adam it is 0.99; with a hundred times the usual learning rate, 0.17.
RESEMBLES = 0.1


@judge
def moved(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """The returned weights differ from the weights that `module` began with, and still resemble them.

    Two sets of weights resemble each other if the cosine of the angle between them is above RESEMBLES. The mean of
    each weight is subtracted first, because the weights of a norm layer, which are all 1, prove nothing.
    """
    back = trained(check, case, observation)
    if not back.passed:
        return back
    module = check.params["module"]
    got = [values_of(name, case, observation).astype(np.float64) for name in check.of]
    begun = [case.tensors[f"{module}.{name.removeprefix('state ')}"].astype(np.float64) for name in check.of]
    if all(np.array_equal(one, other) for one, other in zip(got, begun, strict=True)):
        return Finding("as-begun")
    if not all(np.isfinite(weight).all() for weight in got):
        return Finding("not-finite/state")
    one, other = (np.concatenate([(w - w.mean()).ravel() for w in weights]) for weights in (got, begun))
    if one @ other > RESEMBLES * np.linalg.norm(one) * np.linalg.norm(other):
        return PASSED
    return Finding("other-weights")


def _rows(array: Array) -> list[list[int]]:
    return [row[row != EMPTY].tolist() for row in array]


def _line(words: Sequence[int] | Array) -> str:
    return " ".join(str(int(word)) for word in words) or _("(nothing)")
