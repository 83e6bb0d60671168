"""Known mistakes get their names, also two at once. A doubtful match gives no name."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from helpers.answers import BY_ID
from helpers.ties import TIES

from grader.authoring.bank import apply
from grader.authoring.content import read_all
from grader.diagnosis import match as diagnosis
from grader.diagnosis.distance import NEAR, distances
from grader.intake.read import Submission, Unit
from grader.support.code import definition_span

ROOT = Path(__file__).resolve().parents[2]
ASSIGNMENTS = {e["name"]: a for a in read_all(ROOT / "solutions") for e in a.exercises}


@pytest.fixture
def answer(engine):
    """Return a function that grades the reference solution of an exercise with these known mistakes."""

    def graded(exercise: str, *ids: str):
        assignment = ASSIGNMENTS[exercise]
        mistakes = [next(m for m in assignment.mistakes(exercise) if m.id == id) for id in ids]
        source = apply(mistakes, assignment.source)
        return engine.grade(
            Submission(Path("answer.py"), (Unit("answer.py", source),)), [exercise]
        ).exercises[0]

    return graded


@pytest.mark.parametrize(
    ("exercise", "ids"),
    [
        ("masked_softmax", ("softmax-over-queries", "softmax-one-key-too-many")),
        ("DotProductAttention", ("dot-not-scaled", "dot-softmax-over-queries")),
        ("MultiHeadAttention", ("mha-values-through-wk", "mha-no-output-layer")),
        ("DecoderBlock", ("decblock-no-causal-mask", "decblock-cross-without-lengths")),
    ],
)
def test_two_mistakes_at_once_are_both_named(answer, exercise, ids):
    found = answer(exercise, *ids).diagnosis
    assert found.kind == "exact"
    assert [set(names) for names in found.alternatives] == [set(ids)]
    assert "In addition:" in found.says


# Lines of right_dictionary_cache.py: one reads the cache, one returns the result.
READ = "key_values = torch.cat((box['seen'], X), dim=1)"
RETURNED = "return self.addnorm3(Z, self.ffn(Z)), state"


def cached(*changes: tuple[str, str]) -> str:
    """Return a right block whose cache is a dictionary, with these changes."""
    source = BY_ID["DecoderBlock/right_dictionary_cache"].source
    for old, new in changes:
        assert source.count(old) == 1
        source = source.replace(old, new)
    return source


UNREAD = cached((READ, "X; key_values = X"))
# Return the state as a list that can be unpacked but not indexed.
HIDDEN = (RETURNED, "return self.addnorm3(Z, self.ffn(Z)), Hidden(state)")
HIDING = """
class Hidden(list):
    def __getitem__(self, index):
        raise TypeError("ask by unpacking")
"""


@pytest.mark.parametrize(
    ("source", "names"),
    [
        (UNREAD, (("decblock-cache-unused",),)),
        (UNREAD.replace("state[2][self.i] = box", "pass"), (("decblock-cache-not-written",),)),
    ],
    ids=["stored and not read", "not stored"],
)
def test_a_cache_never_read_differs_from_a_cache_never_written(grade_one, source, names):
    """Both give the same values. The format of the stored state does not matter."""
    result = grade_one(source, "DecoderBlock")
    assert (result.outcome, result.diagnosis.alternatives) == ("failed", names)


def test_both_names_are_given_if_the_state_cannot_be_indexed(grade_one):
    unpacked = "enc_outputs, enc_valid_lens, boxes = state"
    source = HIDING + UNREAD.replace("enc_outputs, enc_valid_lens = state[0], state[1]", unpacked)
    source = source.replace("state[2]", "boxes").replace(*HIDDEN)
    found = grade_one(source, "DecoderBlock").diagnosis
    assert found.kind == "one_of"
    assert set(found.alternatives) == {("decblock-cache-unused",), ("decblock-cache-not-written",)}


def test_no_other_name_depends_on_what_the_state_stores(answer):
    """Without self-attention, no cache is needed: the name is the same with and without a cache."""
    for ids in (
        ("decblock-no-self-attention",),
        ("decblock-no-self-attention", "decblock-cache-not-written"),
    ):
        assert answer("DecoderBlock", *ids).diagnosis.alternatives == (("decblock-no-self-attention",),)


def test_no_name_when_another_mistake_is_close(monkeypatch, answer):
    """Diagnose one answer twice. The second time, other mistakes count as close even if they differ much (FAR)."""
    assert answer("masked_softmax", "softmax-over-queries").diagnosis.kind == "exact"
    monkeypatch.setattr(diagnosis, "FAR", 1e9)
    assert answer("masked_softmax", "softmax-over-queries").diagnosis.kind == "unknown"


RIGHT_ATTENTION = """
import torch
from torch import nn
from grader.given import DotProductAttention, transpose_qkv, transpose_output

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        q, k, v = self.W_q(queries), self.W_k(keys), self.W_v(values)
        q, k, v = (transpose_qkv(x, self.num_heads) for x in (q, k, v))
        if valid_lens is not None:
            valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)
        heads = self.attention(q, k, v, valid_lens)
        return self.W_o(transpose_output(heads, self.num_heads))
"""


@pytest.mark.parametrize(
    ("product", "id"),
    [
        ("weights(q, k) @ q", "mha-projected-queries-as-values"),
        ("weights(k, q) @ v", "mha-queries-and-keys-change-roles"),
    ],
)
def test_two_products_with_wrong_sizes_get_different_names(grade_one, product, id):
    """They raise the same exception wherever there are more keys than queries."""
    old = "        heads = self.attention(q, k, v, valid_lens)\n"
    new = """        def weights(rows, columns):
            scores = rows @ columns.transpose(1, 2) / rows.shape[-1] ** 0.5
            return self.attention.dropout(masked_softmax(scores, valid_lens))

        heads = PRODUCT
"""
    source = RIGHT_ATTENTION.replace(
        "DotProductAttention, ", "DotProductAttention, masked_softmax, "
    ).replace(old, new)
    found = grade_one(source.replace("PRODUCT", product), "MultiHeadAttention").diagnosis
    assert found.alternatives == ((id,),)


@pytest.mark.parametrize(
    ("old", "new", "stage"),
    [
        ("self.W_v(values)\n", "1.01 * self.W_v(values)\n", "the values split into heads"),
        (
            "self.attention(q, k, v, valid_lens)",
            "self.attention(q, k, v, valid_lens) + 0.01",
            "the concatenated heads",
        ),
        ("self.W_k(keys),", "self.W_k(keys).flip(0),", "the keys split into heads"),
    ],
)
def test_an_unknown_mistake_names_the_first_stage_that_differs(grade_one, old, new, stage):
    assert old in RIGHT_ATTENTION
    found = grade_one(RIGHT_ATTENTION.replace(old, new), "MultiHeadAttention").diagnosis
    assert found.kind == "unknown"
    assert f"the first intermediate result that differs: {stage}" in found.says.lower()


@pytest.mark.parametrize(
    ("exercise", "old", "new", "stage"),
    [
        ("DecoderBlock", "self.attention2(", "0.9 * self.attention2(", "the second addnorm"),
        ("DecoderBlock", "self.ffn(", "self.ffn(0.9 * ", "the feed-forward network"),
        ("EncoderBlock", "self.ffn(", "1.1 * self.ffn(", "the second addnorm"),
    ],
)
def test_an_unknown_mistake_in_a_block_names_its_stage(grade_one, exercise, old, new, stage):
    source = ASSIGNMENTS[exercise].source
    start, stop = definition_span(source, exercise)
    assert old in source[start:stop]
    changed = source[:start] + source[start:stop].replace(old, new) + source[stop:]
    found = grade_one(changed, exercise).diagnosis
    assert found.kind == "unknown"
    assert f"the first intermediate result that differs: {stage}" in found.says.lower()


def test_a_right_answer_gets_no_diagnosis(grade_one):
    result = grade_one(RIGHT_ATTENTION, "MultiHeadAttention")
    assert result.outcome == "passed"
    assert result.diagnosis.kind == "none"


def ties(table) -> set[tuple[str, str]]:
    """Return the pairs of mistakes that no case can tell apart."""
    singles = [row for row, ids in enumerate(table.explains) if len(ids) == 1]
    apart = {row: distances(table, table.states[row], table.numbers[row]).max(axis=1) for row in singles}
    out = set()
    for row, other in combinations(singles, 2):
        names = table.explains[row] + table.explains[other]
        if names[0] != names[1] and apart[row][other] < NEAR:
            out.add((min(names), max(names)))
    return out


def test_mistakes_that_no_case_tells_apart_are_all_in_the_table(bundles):
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    policies = {m.id for a in ASSIGNMENTS.values() for m in a.mistakes() if m.kind == "policy"}
    for bundle in bundles:
        for exercise in bundle.exercises:
            if exercise.signatures is not None:
                found[exercise.name] = {
                    pair for pair in ties(exercise.signatures) if not set(pair) & policies
                }
    assert {name: sorted(pairs) for name, pairs in found.items() if pairs} == TIES


def test_a_new_tie_is_found(bundles):
    """Add a mistake with almost the same results as a known one, under another name."""
    exercise = next(e for b in bundles for e in b.exercises if e.name == "transpose_qkv")
    assert ties(exercise.signatures) == set()
    table = exercise.signatures
    row = next(row for row, ids in enumerate(table.explains) if ids)
    (id,) = table.explains[row]
    twin = replace(
        table,
        explains=(*table.explains, ("heads-twin",)),
        states=np.concatenate([table.states, table.states[row : row + 1]]),
        numbers=np.concatenate([table.numbers, table.numbers[row : row + 1] + 1e-7]),
    )
    assert ties(twin) == {(id, "heads-twin")}
