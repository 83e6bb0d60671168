"""Known mistakes get their names, also two at once. A doubtful match gives no name."""

from collections import defaultdict
from itertools import combinations

import pytest
from helpers.answers import BY_ID
from helpers.command_line import ROOT

from grader.authoring.bank import apply
from grader.authoring.content import read_all
from grader.diagnosis import match as diagnosis
from grader.diagnosis.signature import NEAR, distances

ASSIGNMENTS = {e.name: a for a in read_all(ROOT / "solutions") for e in a.exercises}


@pytest.fixture
def answer(grade_one):
    """Return a function that grades the reference solution of an exercise with these known mistakes."""

    def graded(exercise: str, *ids: str):
        assignment = ASSIGNMENTS[exercise]
        mistakes = [next(m for m in assignment.mistakes(exercise) if m.id == id) for id in ids]
        return grade_one(apply(mistakes, assignment.source), exercise)

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


@pytest.mark.parametrize(
    ("product", "id"),
    [
        ("weights(queries, keys) @ queries", "mha-projected-queries-as-values"),
        ("weights(keys, queries) @ values", "mha-queries-and-keys-change-roles"),
    ],
)
def test_two_products_with_wrong_sizes_get_different_names(grade_one, product, id):
    """They raise the same exception wherever there are more keys than queries."""
    new = f"""
        def weights(rows, columns):
            scores = rows @ columns.transpose(1, 2) / rows.shape[-1] ** 0.5
            return self.attention.dropout(masked_softmax(scores, valid_lens))

        output = {product}
"""
    source = BY_ID["MultiHeadAttention/right_book"].source
    source = source.replace("        output = self.attention(queries, keys, values, valid_lens)\n", new)
    found = grade_one(f"from grader.given import masked_softmax\n{source}", "MultiHeadAttention").diagnosis
    assert found.alternatives == ((id,),)


@pytest.mark.parametrize(
    ("exercise", "old", "new", "stage"),
    [
        (
            "MultiHeadAttention",
            "(self.W_v(values)",
            "(1.01 * self.W_v(values)",
            "the values split into heads",
        ),
        ("MultiHeadAttention", "(output, self", "(output + 0.01, self", "the concatenated heads"),
        ("MultiHeadAttention", "(self.W_k(keys)", "(self.W_k(keys).flip(0)", "the keys split into heads"),
        ("DecoderBlock", "self.attention2(", "0.9 * self.attention2(", "the second addnorm"),
        ("DecoderBlock", "self.ffn(", "self.ffn(0.9 * ", "the feed-forward network"),
        ("EncoderBlock", "self.ffn(", "1.1 * self.ffn(", "the second addnorm"),
    ],
)
def test_an_unknown_mistake_names_the_first_stage_that_differs(grade_one, exercise, old, new, stage):
    source = BY_ID[f"{exercise}/right_book"].source
    assert source.count(old) == 1
    found = grade_one(source.replace(old, new), exercise).diagnosis
    assert found.kind == "unknown"
    assert f"the first intermediate result that differs: {stage}" in found.says.lower()


# Pairs of mistakes that no case can tell apart, by exercise. Add an entry only if both compute the same; otherwise
# write a case that separates the two.
TIES = {
    # Either way the embedding matrix gets no gradient and keeps its values.
    "TokenEmbedding": [("emb-detached", "emb-frozen")],
    # The transpose of a rotation matrix is its inverse.
    "shift_matrix": [("shift-backwards", "shift-layout-exchanged")],
    # Either way the random order is the same with every seed.
    "removal_experiment": [("removal-one-random-order", "removal-unshuffled")],
    # Either way the decoder attends to the newest word only.
    "greedy_decode": [("decode-in-training-mode", "decode-state-begun-anew")],
    # An answer that draws all its random numbers itself is a form of both.
    "verify_draft": [("verify-own-draws", "verify-own-last-draw")],
}


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
