"""What may be told of a failed check of a hidden case: nothing that a student's code could choose.

Code that has seen a hidden input could write it into a shape, a name or a number that we would quote. So a
sentence is told only if it stands here; a finding that is not known here is told by one sentence for all.
"""

from __future__ import annotations

import re

from grader.bundle.check import Check
from grader.judge.finding import Finding
from grader.support.i18n import _
from grader.support.sanitize import sanitize

# Judges whose place is one along the recorded axes, or the recorded name of a weight.
_PLACED = frozenset(
    ("equal", "one_of", "precise", "same", "unchanged", "sums_to_one", "carries", "kept_weights", "trained")
)

# Findings told in the judge's own words, but for the numbers: by the first word of their code. Those words
# are the judge's alone, or the names that a case gives to what it looks at.
_OWN_WORDS = {
    "equal": ("values", "absent"),
    "one_of": ("values", "absent"),
    "precise": ("values", "absent"),
    "shape": ("absent",),
    "unchanged": ("changed", "absent"),
    "parameters": ("absent",),
    "same": ("absent",),
    "carries": ("absent",),
    "witnessed": ("absent",),
    "kept_weights": ("values", "absent"),
    "trained": ("absent",),
    "moved": ("as", "other", "not", "absent"),
    "raises": ("accepted",),
    "dropped_weights": ("none", "constant", "features:", "scale", "rate", "not", "absent"),
    "dropped_elements": ("none", "structure", "rate", "together", "absent"),
    "dropped_regions": (
        *("none", "structure", "rate", "together", "absent"),
        *("scale", "levels", "elsewhere", "no", "not"),
    ),
    "varies": ("none", "absent"),
}


def message(check: Check, finding: Finding) -> str:
    """The sentence that tells of a hidden check, by its judge and its finding's code."""
    if finding.passed:
        return _("enough of the fresh sequences come out right") if check.judge == "accuracy" else ""
    word = finding.code.partition(" ")[0]
    if word in _OWN_WORDS.get(check.judge, ()):
        return sanitize(without_numbers(finding.message))
    of_any = {
        "shape": _("the shape is not the one asked for"),
        "dtype": _("the dtype is not the one asked for"),
        "odd": _("something else came back where a tensor or a plain value belongs"),
        "unjudged": _("what came back cannot be judged"),
    }
    return of_any.get(word) or _of_one(check).get(word, _("not as asked for"))


def where(check: Check, finding: Finding) -> str:
    """The place of a hidden failure, where it is one that the case itself has."""
    return finding.where if check.judge in _PLACED else ""


def _of_one(check: Check) -> dict[str, str]:
    """First word of a code → sentence, for the judge of this check."""
    says = check.params.get("says")
    sentences = {
        "same": {"differ": _(says or "two results that must agree do not")},
        "carries": {"differ": _(says or "")},
        "witnessed": {"differ": _(says or "")},
        "parameters": {"parameters": _("the parameters do not have the names and shapes asked for")},
        "value": {"value": _(says or "another value came back than should")},
        "raises": {"raised": _("another exception was raised than should be")},
        "sums_to_one": {"sums": _("a row of weights does not sum to 1")},
        "accuracy": {"accuracy": _("too few of the fresh sequences come out right")},
        "sentences": {
            "count": _("not as many sentences came back as should"),
            "values": _("some sentences are not those of the reference"),
        },
        "cost": {
            "whole": _("nothing has become smaller"),
            "cost": _("more is left than is enough"),
            "little": _("less is left than what is kept can do with"),
        },
        "ranks": {"ranks": _("the heads do not rank as they were planted")},
        "all_rows": {
            "seeds": _("an order has fewer seeds than it should"),
            "no": _("'removed' should list different heads"),
            "sizes": _("one row should be there for every number of removed heads"),
            "not": _("a head that was gone is back in the next row"),
        },
        "accuracies": {
            "empty": _("there are no rows"),
            "accuracies": _("some accuracies are not those of the model without these heads"),
        },
        "in_order": {
            "none": _("an order is missing"),
            "importance": _("the order importance removes strong heads first"),
            "reverse": _("the order reverse removes weak heads first"),
        },
        "drawn": {"one": _("the random order is the same with every seed")},
    }
    return sentences.get(check.judge, {})


def without_numbers(facts: str) -> str:
    """Facts about hidden cases: code that has seen an input could make it the factor by which it is wrong."""
    return re.sub(r"-?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?(?:, \d+)*", "…", facts)
