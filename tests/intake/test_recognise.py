"""Which exercises a file defines: only by their own name, a spelling of it, or a customary alias."""

import pytest
from helpers.minimal import submission_of

from grader.engine.student_file import CourseTables
from grader.intake.names import read_names
from grader.intake.recognise import MOST_COMPARED, REPAIRS, match, not_graded


@pytest.fixture(scope="module")
def contracts(bundles):
    return CourseTables.of(bundles).contracts


@pytest.fixture(scope="module")
def recognised(contracts):
    return lambda source: match(contracts, names_in(source))


@pytest.fixture(scope="module")
def meant(contracts):
    """Return a function: the source of one definition that is no exercise → the exercise it may be meant as."""

    def of(source):
        (other,) = not_graded({}, (), contracts, names_in(source))
        return other.meant

    return of


def names_in(source):
    return read_names(submission_of(source))


def a_class(name, takes="", forward="", base="nn.Module"):
    """Return the source of a class. takes, forward: the parameters of its constructor and of `forward`."""
    lines = [f"class {name}({base}):"]
    lines += [f"    def __init__(self, {takes}): ..."] if takes else []
    lines += [f"    def forward(self, {forward}): ..."] if forward else []
    return "\n".join([*lines, "    x = 1"])


def test_the_exact_name_comes_before_another_spelling(recognised):
    found = recognised("def Masked_SoftMax(X, valid_lens): ...\ndef masked_softmax(X, valid_lens): ...")
    assert found == {"masked_softmax": "masked_softmax"}


@pytest.mark.parametrize("near", ["multiheadAttention", "Multi_Head_Attention", "MultiHeadedAttention"])
def test_another_spelling_counts_if_the_exact_name_is_missing(recognised, near):
    assert recognised(f"class {near}: ...") == {"MultiHeadAttention": near}
    both = f"class MultiHeadAttention: ...\nclass {near}: ..."
    assert recognised(both) == {"MultiHeadAttention": "MultiHeadAttention"}


@pytest.mark.parametrize("exercise", ["EncoderBlock", "DecoderBlock"])
def test_the_names_of_edition_1_count(recognised, exercise):
    assert recognised(f"class Transformer{exercise}: ...") == {exercise: f"Transformer{exercise}"}


def test_a_variable_counts_only_under_the_exact_name(recognised):
    assert recognised("multi_head_attention = 1") == {}
    assert recognised("MultiHeadAttention = f") == {"MultiHeadAttention": "MultiHeadAttention"}


@pytest.mark.parametrize(
    ("source", "exercise"),
    [
        (a_class("AdditiveAttention", "num_hiddens, dropout", "q, k, v, lens"), "AdditiveAttention"),
        (a_class("AddNorm", "dropout", "X, Y"), "AddNorm"),
        (a_class("MultiHeadAttention", "d_model, n_head", "q, k, v, mask"), "MultiHeadAttention"),
        (a_class("MultiHeadAttention", "embed_dim, num_heads, dropout", "x"), "MultiHeadAttention"),
        (a_class("PositionalEncoding", "dropout", "X"), "PositionalEncoding"),
        (a_class("TokenEmbedding", "vocab_size, width", base="nn.Embedding"), "TokenEmbedding"),
        (a_class("TokenEmbedding", base="nn.Embedding"), "TokenEmbedding"),
    ],
)
def test_a_class_with_the_name_of_an_exercise_is_never_another_one(recognised, source, exercise):
    assert recognised(source) == {exercise: exercise}


@pytest.mark.parametrize(
    "source",
    [
        a_class("SelfAttention", "embed_dim, num_heads, dropout", "x"),
        a_class("SelfAttention", "d_model, n_head", "x"),
        a_class("FeedForward", "num_hiddens, dropout", "X, Y"),
        a_class("InputEmbeddings", "d_model, vocab_size", "x"),
        a_class("RowEmbedding", "num_hiddens, dropout", "X"),
        a_class("TokenEmbedding", "embedding_name"),
        a_class("Seq2SeqDecoder", "vocab_size, embed_size, num_hiddens, num_layers, dropout=0", "X, state"),
        a_class("TokenEmbedding", "vocab_size, d_model, max_len, dropout", "x"),
        "def train(net, data_iter, lr, num_epochs, device): ...",
        "def train(net, data_iter, lr): ...",
        "def train(): ...",
        "train = load('data')",
        "def greedy_decode(model, src, src_mask, max_len, start_symbol): ...",
        "def greedy_decode(net, X, mask, length, first, last): ...",
    ],
)
def test_other_definitions_are_not_taken_for_an_exercise(recognised, source):
    assert recognised(source) == {}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("def train(model, batches, steps): ...", "train"),
        ("def train(net, batches, steps, seed=0): ...", "train"),
        ("def greedy_decode(model, src, lens, num_steps, bos, eos): ...", "greedy_decode"),
        (a_class("TokenEmbedding", "vocab_size, d_model", base="nn.Embedding"), "TokenEmbedding"),
    ],
)
def test_a_common_name_with_the_contracts_parameters_is_an_exercise(recognised, source, found):
    assert recognised(source) == {found: found}


BLOCK = "key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens, num_heads, dropout"
ATTENTION = "queries, keys, values, valid_lens"


@pytest.mark.parametrize(
    ("source", "exercise"),
    [
        # the same keywords, and `forward` with as many arguments
        (a_class("MLPAttention", "units, dropout", ATTENTION), "AdditiveAttention"),
        (a_class("Attention", "dropout", ATTENTION), "DotProductAttention"),
        (a_class("Positions", "num_hiddens, dropout, max_len=500", "X"), "PositionalEncoding"),
        (a_class("Network", "ffn_num_input, ffn_num_hiddens, ffn_num_outputs", "x"), "PositionWiseFFN"),
        # a longer name
        (a_class("DotProductAttentionDistance", "dropout", "q, k, v, lens"), "DotProductAttention"),
        (a_class("PositionalEncodingLearned", "num_hiddens, dropout", "X"), ""),
        (a_class("TransformerEncoderOnly", "vocab_size, d_model", "x"), "TransformerEncoder"),
        (a_class("CrossDecoderBlock", BLOCK, "X, state"), "DecoderBlock"),
        # a similar name
        (a_class("MutliHeadAttention", "num_hiddens, num_heads, dropout", "X"), "MultiHeadAttention"),
        ("def mask_softmax(X, valid_lens): ...", "masked_softmax"),
        # another model, another part, a class like a repair
        (a_class("BertAttention", "vocab_size, num_hiddens, num_heads", "tokens, segments"), ""),
        (a_class("ResidualDropoutNorm", "dropout", "X, Y"), ""),
        # the same job, but never that of a repair
        (a_class("SelfAttention", "d_model, n_head", "x"), "MultiHeadAttention"),
        (a_class("CausalSelfAttention", "embed_dim, num_heads, dropout", "x"), "MultiHeadAttention"),
        (a_class("TransformerDecoderLayer", "d_model", "x"), "DecoderBlock"),
        (a_class("BahdanauDecoder", "vocab_size", "X, state"), "Seq2SeqAttentionDecoder"),
        ("def attention(query, key, value, mask): ...", "DotProductAttention"),
        (a_class("LatentQueryAttention", "d_model", "x"), ""),
        (a_class("MixedUpAttentions", "d_model", "x"), ""),
        ("def trains_attention(model, batches, steps): ...", ""),
    ],
)  # fmt: skip
def test_another_name_is_no_exercise_but_may_be_meant_as_one(recognised, meant, source, exercise):
    assert recognised(source) == {}
    assert meant(source) == exercise
    assert exercise not in REPAIRS


def test_a_class_with_attention_is_listed_but_none_without_forward(contracts):
    block = a_class("Block", "width", "x").replace("x = 1", "heads = Attention")
    model = a_class("Model", "width", "x").replace("x = 1", "blocks = Block")
    output = "class TransformerEncoderOutput:\n    x = 1"
    others = not_graded({}, (), contracts, names_in("\n".join((block, model, output))))
    assert [other.definition.name for other in others] == ["Block", "Model"]


@pytest.mark.slow
def test_only_the_first_of_thousands_of_near_names_are_compared(contracts):
    names = names_in("".join(f"class AddNorm{n}:\n    def forward(self, X, Y): pass\n" for n in range(3_000)))
    others = not_graded({}, (), contracts, names)
    assert len(others) == 3_000
    assert [bool(other.meant) for other in others[: MOST_COMPARED + 1]] == [True] * MOST_COMPARED + [False]
