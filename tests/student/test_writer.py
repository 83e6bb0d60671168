"""A language model writes with its weights; the weights of a head are those of its attention."""

import random
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import load_file, save_file

from grader.given import LanguageModel, write_text
from grader.given.rhymes import ALPHABET, SIZES
from grader.student.writer import Writer, load_module
from grader.support.errors import UsageError

TEXT = "\nDudley was a clever"


@pytest.fixture
def weights(tmp_path):
    torch.manual_seed(0)
    model = LanguageModel(**SIZES)
    for block in model.blocks:  # heads of a new model look everywhere alike
        block.attention.W_q.weight.data.mul_(8)
    save_file(model.state_dict(), tmp_path / "weights.safetensors")
    return tmp_path / "weights.safetensors"


def test_the_next_character_is_the_one_that_write_text_draws(weights):
    writer = Writer(None, (), weights)
    tokens = torch.tensor([[ALPHABET.index(one) for one in TEXT]])
    draws, same = random.Random(3), random.Random(3)
    for _number in range(5):
        longer = write_text(writer.model, tokens, 1, draws.random, temperature=0.8, top_p=0.9)
        assert writer.next(TEXT, same.random, 0.8, 0.9) == ALPHABET[longer[0, -1]]


@pytest.mark.parametrize("block", range(SIZES["num_layers"]))
def test_the_weights_of_the_heads_give_the_output_of_the_attention(weights, block):
    writer = Writer(None, (), weights)
    attention, seen = writer.model.blocks[block].attention, []
    attention.W_v.register_forward_hook(lambda _layer, _inputs, values: seen.append(values))
    attention.W_o.register_forward_hook(lambda _layer, _inputs, output: seen.append(output))
    rows = [writer.looks(TEXT, *head) for head in writer.heads if head[0] == block]
    values, output = seen[:2]
    shared = SIZES["num_heads"] // SIZES["num_kv_heads"]
    values = values[0].unflatten(-1, (SIZES["num_kv_heads"], -1)).repeat_interleave(shared, dim=1)
    mixed = torch.einsum("ht,thd->hd", torch.tensor(rows), values).flatten()
    torch.testing.assert_close(attention.W_o(mixed), output[0, -1], atol=1e-5, rtol=1e-5)
    assert max(max(row) for row in rows) > 2 / len(TEXT)


def test_a_model_with_other_names_shows_no_heads(weights):
    class Renamed(LanguageModel):
        def __init__(self, **sizes):
            super().__init__(**sizes)
            self.layers = self.blocks
            del self.blocks

    renamed = {name.replace("blocks", "layers"): w for name, w in load_file(weights).items()}
    save_file(renamed, weights)
    writer = Writer(SimpleNamespace(LanguageModel=Renamed), ("LanguageModel",), weights)
    assert writer.looks(TEXT, 0, 0) == []


def test_only_what_has_passed_is_taken_from_the_student(weights):
    calls = []

    def own(*args, **options):
        calls.append(1)
        return write_text(*args, **options)

    module = SimpleNamespace(LanguageModel=None, write_text=own)
    Writer(module, ("write_text",), weights).next(TEXT, random.random, 1.0, 1.0)
    Writer(module, (), weights).next(TEXT, random.random, 1.0, 1.0)
    assert calls == [1]


def test_an_exception_of_the_student_is_a_sentence(weights):
    def write(*args, **options):
        raise TypeError("no tensor")

    writer = Writer(SimpleNamespace(write_text=write), ("write_text",), weights)
    with pytest.raises(
        UsageError, match=r"your model or write_text raises TypeError: no tensor; `grader check write"
    ):
        writer.next(TEXT, random.random, 1.0, 1.0)


@pytest.mark.parametrize("content", [b"no weights", None], ids=["another format", "another shape"])
def test_weights_that_do_not_fit_are_refused(tmp_path, content):
    file = tmp_path / "weights.safetensors"
    save_file(LanguageModel(**{**SIZES, "d_model": 48}).state_dict(), file)
    if content:
        file.write_bytes(content)
    with pytest.raises(UsageError, match=r"weights\.safetensors holds no weights of this model: "):
        Writer(None, (), file)


def test_a_file_runs_without_its_demos_and_imports_from_the_course(tmp_path):
    (tmp_path / "earlier.py").write_text("size = 3\n", "utf-8")
    (tmp_path / "mine.py").write_text(
        "import earlier\n\ndef f():\n    return earlier.size\n\nprint(1 / 0)\n", "utf-8"
    )
    assert load_module(tmp_path / "mine.py", [tmp_path]).f() == 3
    (tmp_path / "mine.py").write_text("import later\n", "utf-8")
    with pytest.raises(
        UsageError, match=r"mine\.py does not run \(ModuleNotFoundError: No module named 'later'\)"
    ):
        load_module(tmp_path / "mine.py", [tmp_path])
