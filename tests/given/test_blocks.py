"""The building blocks are right answers to the exercises of their names, and accept more than these promise."""

import pytest
import torch

from grader.given import (
    BLOCKS,
    TransformerDecoder,
    TransformerEncoder,
    attention_maps,
    head_importance,
    sequence_mask,
    source,
)

B, T, S, H, D = 3, 4, 5, 4, 12  # sequences, queries, keys, heads, and the size of all heads together
LENS = torch.tensor([2, 5, 1])  # of the keys
NO_EXERCISES = {"Encoder", "Decoder", "AttentionDecoder", "EncoderDecoder"}
NO_EXERCISES |= {"ALPHABET", "SIZES", "make_text", "verse_batches"}  # data


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(BLOCKS.keys() - NO_EXERCISES))
def test_a_building_block_passes_the_exercise_of_its_name(grade, name):
    (result,) = grade(source(name), [name]).exercises
    assert (result.outcome, result.score) == ("passed", result.points), result


def test_an_unknown_measure_of_importance_is_refused():
    with pytest.raises(ValueError, match="'guess'"):
        head_importance(None, [], None, "guess")


@pytest.mark.parametrize("layout", ["flat", "by head", "listed"])
def test_attention_maps_have_the_same_shapes_for_every_layout(layout):
    def arranged(weights):
        return {
            "flat": lambda w: w,
            "by head": lambda w: w.unflatten(0, (B, H)),
            "listed": lambda w: list(w.unflatten(0, (B, H)).unbind(1)),
        }[layout](weights)

    class Encoder(TransformerEncoder):
        def forward(self, *args):
            out = super().forward(*args)
            self.attention_weights = [arranged(w) for w in self.attention_weights]
            return out

    class Decoder(TransformerDecoder):
        def forward(self, *args):
            out = super().forward(*args)
            self.attention_weights = [[arranged(w) for w in part] for part in self.attention_weights]
            return out

    # 9 words, 16 hidden units in the FFN, 2 layers, no dropout.
    sizes = (9, D, D, D, D, [D], D, 16, H, 2, 0.0)
    encoder, decoder = Encoder(*sizes), Decoder(*sizes)
    source, target = torch.randint(0, 9, (B, S)), torch.randint(0, 9, (B, T))
    maps = attention_maps(encoder, source, LENS)
    assert [w.shape for w in maps["encoder"]] == [(B, H, S, S)] * 2
    assert (maps["encoder"][0][0, :, :, 2:] == 0).all()  # the first sentence has two words
    state = decoder.init_state(encoder(source, LENS), LENS)
    maps = attention_maps(decoder, target, state)
    assert {key: [w.shape for w in per_layer] for key, per_layer in maps.items()} == {
        "decoder": [(B, H, T, T)] * 2,
        "cross": [(B, H, T, S)] * 2,
    }


@pytest.mark.parametrize("value", [0, 0.1, -1e6, -1e9, float("-inf")])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64])
def test_any_value_fills_any_dtype_as_an_assignment_does(dtype, value):
    if dtype == torch.int64 and value == float("-inf"):  # int64 has no infinity
        value = -7
    X = torch.arange(24).reshape(2, 3, 4).to(dtype)
    lens = torch.tensor([1, 3])
    want = X.clone()
    want[torch.arange(3) >= lens[:, None]] = value
    got = sequence_mask(X, lens, value=value)
    assert got.dtype == dtype
    assert torch.equal(got, want)


def test_a_tensor_of_one_value_fills_too():
    X = torch.zeros(1, 2, dtype=torch.float16)  # -1e6 is below its range, and becomes -inf
    assert sequence_mask(X, torch.tensor([1]), torch.tensor(-1e6)).tolist() == [[0.0, float("-inf")]]
