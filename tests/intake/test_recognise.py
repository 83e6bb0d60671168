"""Which exercises a file defines: by name, by a similar name, or by keywords if a second sign (a part of the
name, or the arguments of `forward`) agrees.

A contract is how an exercise is called: the keywords of its constructor, or the parameters of the function.
"""

from difflib import SequenceMatcher
from pathlib import Path

import pytest

from grader.engine.engine import contracts_of
from grader.intake import recognise
from grader.intake.names import read_names
from grader.intake.nearest_code import MOST_COMPARED, not_graded
from grader.intake.read import Submission, Unit
from grader.intake.recognise import match


@pytest.fixture(scope="module")
def recognised(bundles):
    contracts = contracts_of(bundles)
    return lambda source: match(contracts, names_in(source))


def names_in(source):
    return read_names(Submission(Path("own.py"), (Unit("own.py", source),)))


def a_class(name, takes="", forward="", base="nn.Module"):
    """Return the source of a class. takes, forward: the parameters of its constructor and of `forward`."""
    lines = [f"class {name}({base}):"]
    lines += [f"    def __init__(self, {takes}): ..."] if takes else []
    lines += [f"    def forward(self, {forward}): ..."] if forward else []
    return "\n".join([*lines, "    x = 1"])


def test_the_exact_name_comes_before_another_spelling(recognised):
    found = recognised("def Masked_SoftMax(X, valid_lens): ...\ndef masked_softmax(X, valid_lens): ...")
    assert found == {"masked_softmax": "masked_softmax"}


@pytest.mark.parametrize("near", ["multiheadAttention", "Multi_Head_Attention", "MULTIHEADATTENTION"])
def test_another_spelling_counts_if_the_exact_name_is_missing(recognised, near):
    assert recognised(f"class {near}: ...") == {"MultiHeadAttention": near}


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
        (a_class("MLPAttention", "num_hiddens, dropout", "queries, keys, values, valid_lens"), "AdditiveAttention"),
        (a_class("Positions", "num_hiddens, dropout, max_len=500", "X"), "PositionalEncoding"),
        (a_class("MultiHeadedAttention", "num_hiddens, num_heads, dropout, bias=False"), "MultiHeadAttention"),
        (a_class("MutliHeadAttention", "key_size, query_size, value_size, num_hiddens, num_heads, dropout"), "MultiHeadAttention"),
        (a_class("Network", "ffn_num_input, ffn_num_hiddens, ffn_num_outputs", "x"), "PositionWiseFFN"),
    ],
)  # fmt: skip
def test_keywords_and_a_second_sign_make_an_exercise(recognised, source, found):
    (name,) = names_in(source).definitions
    assert recognised(source) == {found: name}


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


def test_a_decoder_block_is_not_taken_for_an_encoder_block(recognised):
    block = "key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens, num_heads, dropout"
    assert recognised(a_class("CrossDecoder", block, "X, state")) == {}
    assert recognised(a_class("MyDecoderBlock", block, "X, state")) == {}


@pytest.mark.parametrize(
    ("source", "exercise"),
    [
        (a_class("MultiHeadedAttention", "h, d_model, dropout=0.1", "q, k, v, mask"), "MultiHeadAttention"),
        ("def mask_softmax(X, valid_len=None): ...", "masked_softmax"),
        ("def tranpose_qkv(X, num_heads): ...", "transpose_qkv"),
    ],
)
def test_a_name_that_is_nearly_right_makes_an_exercise(recognised, source, exercise):
    (name,) = names_in(source).definitions
    assert recognised(source) == {exercise: name}


@pytest.mark.parametrize(
    "source",
    [
        "def mask_softmax(scores, mask, dim): ...",
        a_class("MaskedSoftmax", forward="X, valid_lens"),
        "def MultiHeadedAttention(x): ...",
        "def trains(model, batches, steps): ...",
        a_class("TransformerEncoderOnly", "vocab_size, d_model", "x"),
    ],
)
def test_a_near_name_alone_is_not_enough(recognised, source):
    assert recognised(source) == {}


def test_the_exact_name_comes_before_a_similar_one(recognised):
    source = "def masked_softmax(X, valid_lens): ...\ndef mask_softmax(X, valid_lens): ..."
    assert recognised(source) == {"masked_softmax": "masked_softmax"}


def test_thousands_of_near_names_cost_little_time(bundles, monkeypatch):
    compared = []

    class Counted(SequenceMatcher):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            compared.append(arguments)

    monkeypatch.setattr(recognise, "SequenceMatcher", Counted)
    names = names_in("".join(f"class attention{n}: pass\n" for n in range(19_000)))
    contracts = contracts_of(bundles)
    found = match(contracts, names)
    others = not_graded(found, list(found), contracts, names)
    assert len(compared) < 4 * 19_000  # only exercises with a name of about this length are compared
    assert len(others) == 19_000
    assert not any(other.exercise for other in others[MOST_COMPARED:])
