"""Parts of a module are matched in the order of their use if names show it, otherwise as they are created."""

import pytest

from grader.worker.matching_parts import layers_in_order, names_by_structure

ATTENTION = {"W_q.weight": (6, 6), "W_k.weight": (6, 6), "W_v.weight": (6, 6), "W_o.weight": (6, 6)}
NORM = {"ln.weight": (6,), "ln.bias": (6,)}
NETWORK = {"dense1.weight": (5, 6), "dense1.bias": (5,), "dense2.weight": (6, 5), "dense2.bias": (6,)}
CONTRACT = {
    "attention1": ATTENTION,
    "addnorm1": NORM,
    "attention2": ATTENTION,
    "addnorm2": NORM,
    "ffn": NETWORK,
    "addnorm3": NORM,
}


def shapes(parts, prefix=""):
    return {f"{prefix}{part}.{name}": shape for part, inner in parts.items() for name, shape in inner.items()}


def matched(match, own, wanted):
    """Return contract name → own name."""
    found = match({name: (name, shape) for name, shape in own.items()}, wanted)
    return {name: mine for name, (mine, _shape) in found.items()}


@pytest.mark.parametrize(
    ("own_attention", "cross_attention", "own_norm", "cross_norm"),
    [
        ("self_attn", "cross_attn", "self_norm", "cross_norm"),
        ("masked_mha", "enc_dec_attention", "norm_masked", "norm_enc"),
        ("selfAttention", "crossAttention", "selfNorm", "crossNorm"),
        ("tgt_attention", "src_attention", "norm1", "norm2"),
    ],
)
def test_a_cross_attention_created_first_is_the_second_attention(
    own_attention, cross_attention, own_norm, cross_norm
):
    # `norm1` and `norm2` name no attention, so they must be created in the order of their use.
    norms = {cross_norm: NORM, own_norm: NORM} if own_norm != "norm1" else {own_norm: NORM, cross_norm: NORM}
    parts = {cross_attention: ATTENTION, own_attention: ATTENTION, **norms, "ffn": NETWORK, "norm3": NORM}
    found = matched(names_by_structure, shapes(parts), shapes(CONTRACT))
    assert found["attention1.W_q.weight"] == f"{own_attention}.W_q.weight"
    assert found["attention2.W_q.weight"] == f"{cross_attention}.W_q.weight"
    assert found["addnorm1.ln.weight"] == f"{own_norm}.ln.weight"
    assert found["addnorm2.ln.weight"] == f"{cross_norm}.ln.weight"
    assert found["addnorm3.ln.weight"] == "norm3.ln.weight"


def test_names_without_an_order_are_matched_as_they_are_created():
    parts = {"mha_a": ATTENTION, "n_a": NORM, "mha_b": ATTENTION, "n_b": NORM, "net": NETWORK, "n_c": NORM}
    found = matched(names_by_structure, shapes(parts), shapes(CONTRACT))
    assert found["attention1.W_q.weight"] == "mha_a.W_q.weight"
    assert found["addnorm3.ln.bias"] == "n_c.ln.bias"


def test_layers_of_two_blocks_stay_with_their_block():
    own = {"cross_attn": ATTENTION, "self_attn": ATTENTION}
    parts = {"attention1": ATTENTION, "attention2": ATTENTION}
    flat = {f"layers.{i}.{name}": shape for i in range(2) for name, shape in shapes(own, "x.").items()}
    wanted = {f"blks.{i}.{name}": shape for i in range(2) for name, shape in shapes(parts).items()}
    found = matched(layers_in_order, flat, wanted)
    assert found["blks.0.attention2.W_q.weight"] == "layers.0.x.cross_attn.W_q.weight"
    assert found["blks.1.attention1.W_q.weight"] == "layers.1.x.self_attn.W_q.weight"
