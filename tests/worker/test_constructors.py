"""The grader accepts the constructors of the course and those of edition 1.x of Dive into Deep Learning."""

import inspect

import pytest
import torch
from torch import nn

from grader.given import BLOCKS, source
from grader.worker import stand_in_modules
from grader.worker.constructors import EDITION_1, accepted_forms, fitting_form
from grader.worker.program import Program
from grader.worker.steps import Build, Run


def build(name, kwargs, constructor):
    """Run a program that builds the class `name` of a submission with the course's keywords."""
    program = Program({name: constructor}, Run([Build("m", name, kwargs)], "float32"), {})
    program.run(frozenset())
    return program


SIZES = {"ffn_num_input": 2, "ffn_num_hiddens": 3, "ffn_num_outputs": 4}


@pytest.mark.parametrize(
    ("constructor", "built"),
    [
        (lambda ffn_num_input, ffn_num_hiddens, ffn_num_outputs: "course", "course"),
        (lambda ffn_num_outputs, ffn_num_input, ffn_num_hiddens, bias=True: "course", "course"),
        (lambda ffn_num_hiddens, ffn_num_outputs: (ffn_num_hiddens, ffn_num_outputs), (3, 4)),
        # Edition 1 has no `ffn_num_input`. Who names the others takes the arguments of edition 1.
        (lambda ffn_num_hiddens, ffn_num_outputs, **others: others, {}),
        (lambda *, ffn_num_outputs, ffn_num_hiddens: ffn_num_outputs, 4),
        (lambda **everything: everything, SIZES),
    ],
)
def test_a_class_gets_the_first_accepted_keywords_that_it_takes(constructor, built):
    assert build("PositionWiseFFN", SIZES, constructor).env["m"] == built


@pytest.mark.parametrize("constructor", [lambda height: 1, lambda ffn_num_hiddens: 1, lambda: 1])
def test_any_other_constructor_is_called_with_the_course_s_keywords(constructor):
    assert fitting_form("PositionWiseFFN", constructor, SIZES) is None
    assert build("PositionWiseFFN", SIZES, constructor).reply["error"]["type"] == "TypeError"


# ---- the building blocks

ARGUMENTS = {
    **dict.fromkeys(("key_size", "query_size", "value_size", "num_hiddens"), 6),
    **dict.fromkeys(("ffn_num_input", "ffn_num_outputs"), 6),
    "norm_shape": [6],
    "normalized_shape": [6],
    **dict.fromkeys(("bias", "use_bias"), True),
    "ffn_num_hiddens": 5,
    "num_heads": 2,
    "dropout": 0.0,
    "i": 0,
    "vocab_size": 9,
    "num_layers": 2,
}
BUILT = sorted(EDITION_1.keys() & BLOCKS.keys())


@pytest.fixture
def book():
    """Return the stand-in for `d2l.torch` with all building blocks."""
    stand_in_modules.install({name: source(name) for name in BLOCKS})
    from d2l import torch as d2l

    return d2l


def result(module, name):
    """Return the output of a block for random inputs."""
    torch.manual_seed(0)
    X, tokens, lens = torch.randn(2, 4, 6), torch.randint(9, (2, 4)), torch.tensor([2, 4])
    state = [torch.randn(2, 3, 6), torch.tensor([2, 3]), [None, None]]  # encoder outputs, lengths, caches
    inputs = {
        "AdditiveAttention": (X, X, X, lens),
        "MultiHeadAttention": (X, X, X, lens),
        "AddNorm": (X, X),
        "PositionWiseFFN": (X,),
        "EncoderBlock": (X, lens),
        "TransformerEncoder": (tokens, lens),
        "DecoderBlock": (X, state),
        "TransformerDecoder": (tokens, state),
    }
    out = module(*inputs[name])
    return out[0] if isinstance(out, tuple) else out


@pytest.mark.slow
@pytest.mark.parametrize("by_position", [False, True], ids=["by keyword", "by position"])
@pytest.mark.parametrize("name", BUILT)
def test_a_block_built_as_in_edition_1_computes_the_same(book, name, by_position):
    block = getattr(book, name)
    asked = inspect.signature(block).parameters
    course, edition_1, *_with_defaults = accepted_forms(
        name, {p: ARGUMENTS[p] for p in asked if p in ARGUMENTS}
    )
    want = block(**course)
    got = block(*edition_1.values()) if by_position else block(**edition_1)
    got.load_state_dict(want.state_dict())
    torch.testing.assert_close(result(got, name), result(want, name))


def test_a_block_built_as_in_edition_1_infers_its_sizes(book):
    attention = book.MultiHeadAttention(6, 2, 0.0)
    attention(torch.randn(2, 3, 5), torch.randn(2, 4, 7), torch.randn(2, 4, 8), None)
    assert [layer.in_features for layer in (attention.W_q, attention.W_k, attention.W_v)] == [5, 7, 8]


def test_a_subclass_of_a_block_may_use_either_constructor(book):
    class Twice(book.PositionWiseFFN):
        def __init__(self, size):
            super().__init__(size, size)

    assert isinstance(Twice(4).dense1, nn.LazyLinear)
    assert book.PositionWiseFFN(3, 4, 5).dense1.in_features == 3
    with pytest.raises(TypeError, match="ffn_num_outputs"):  # the name in the course
        book.PositionWiseFFN(3)


def test_a_class_of_edition_1_takes_methods_that_are_added_later(book):
    class Scaled(book.Module):
        def __init__(self, size, scale=2.0, _hidden=1, left_out=3):
            super().__init__()
            self.save_hyperparameters(ignore=["left_out"])
            self.layer = nn.Linear(size, size)

    @book.add_to_class(Scaled)
    def forward(self, X):
        return self.scale * self.layer(X)

    assert forward is None
    made = Scaled(3)
    assert (made.size, made.scale) == (3, 2.0)
    assert not hasattr(made, "_hidden") and not hasattr(made, "left_out")
    book.check_shape(made(torch.ones(2, 3)), (2, 3))
    assert len(list(made.parameters())) == 2


def test_blocks_have_their_names_of_edition_1(book):
    assert book.TransformerEncoderBlock is book.EncoderBlock
    assert book.TransformerDecoderBlock is book.DecoderBlock
    nn.Linear(2, 2).apply(book.init_seq2seq)
