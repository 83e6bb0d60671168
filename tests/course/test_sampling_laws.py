"""The laws of lesson 16 are the target's own: sums over a grid of draws are exact for the tables of the cases."""

import runpy
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from helpers.command_line import ROOT

CASES = runpy.run_path(str(ROOT / "solutions" / "16_sampling" / "cases.py"))
LAWS = {id: (tables, N, prompt, how) for id, tables, N, prompt, how in CASES["LAWS"]}


@pytest.fixture(scope="module")
def cases(bundles):
    bundle = next(b for b in bundles if b.assignment == "16_sampling")
    return {case.id: case for exercise in bundle.exercises for case in exercise.cases}


def whole(numbers, N):
    return all((number * N).denominator == 1 for number in numbers)


@pytest.mark.parametrize("id", LAWS)
def test_all_ratios_and_rests_are_on_the_grid(id):
    """In every pair of rows: a draft may see less of the text."""
    (target, draft), N, _prompt, _how = LAWS[id]
    for p, q in product(target, draft):
        assert whole([Fraction(x, sum(p)) for x in p], N)
        assert whole([Fraction(x, sum(q)) for x in q], N)
        assert whole([min(Fraction(1), Fraction(a, b)) for a, b in zip(p, q, strict=True) if b], N)
        rest = [max(0, a - b) for a, b in zip(p, q, strict=True)]
        assert not any(rest) or whole([Fraction(x, sum(rest)) for x in rest], N)


@pytest.mark.parametrize("id", LAWS)
def test_the_law_of_a_text_is_that_of_the_target(id, cases):
    (target, _draft), _N, prompt, how = LAWS[id]
    law = {}
    for new in product(range(3), repeat=how["max_new_tokens"]):
        text, share = list(prompt), 1.0
        for token in new:
            row = target[(sum(text) + 2 * (len(text) - 1)) % len(target)]
            share *= row[token] / sum(row)
            text.append(token)
        law[new] = share
    (expected,) = cases[f"law-{id}"].expected.values()
    assert np.array_equal(expected.ravel(), list(law.values()))


def test_the_law_of_a_round_is_that_of_the_targets_rows(cases):
    named = {}
    for p, q, _title in CASES["ONE_GUESS"]:
        named["".join(map(str, (*p, "-", *q)))] = p, (1, 1, 2)
    named["two-guesses"] = CASES["TARGET"]
    for id, rows in named.items():
        law = np.ones(())
        for row in rows:
            law = law[..., None] * (np.array(row) / sum(row))
        (expected,) = (values for name, values in cases[id].expected.items() if name.endswith("[1]"))
        assert np.array_equal(expected, law), id
