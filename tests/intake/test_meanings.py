"""What a parameter means by its name: a synonym is a row. Parameters are paired by meaning, then by place."""

import pytest

from grader.intake.meanings import MEANINGS, counterparts, meaning

NAMES = {
    "config": "config cfg",
    "flag": "return_intermediate use_cache with_mask",
    "mask": "mask src_mask tgt_mask key_padding_mask masks",
    "dropout": "dropout drop_prob dropout_rate p drop_p attn_pdrop drop prob rate",
    "length": "valid_lens lens valid_length max_len seq_len num_steps block_size context_length max_frames",
    "width of a head": "head_size head_dim d_head dim_head",
    "heads": "num_heads n_heads n_head nhead heads h",
    "layers": "num_layers n_layer N num_blks n_blocks depth",
    "bias": "bias use_bias qkv_bias",
    "eps": "eps",
    "vocabulary": "vocab_size src_vocab vocabulary",
    "key": "key_size k_size d_k k keys kdim",
    "query": "query_size q_size q_dim queries Q",
    "value": "value_size v_size d_v values v",
    "input": "ffn_num_input d_in n_in input_size in_dim",
    "output": "ffn_num_outputs d_out n_out output_size",
    "inner": "ffn_num_hiddens d_ff dff d_f ff_dim d_inner intermediate_size",
    "width": "num_hiddens hidden_size d_model embed_dim emb_size n_embd units dim size",
    "": "X x i norm_shape n_in2 steep",
}


@pytest.mark.parametrize("means", [*[what for what, _pattern in MEANINGS], ""])
def test_names_of_parameters_have_these_meanings(means):
    assert {name: meaning(name) for name in NAMES[means].split()} == dict.fromkeys(
        NAMES[means].split(), means
    )


@pytest.mark.parametrize(
    ("asked", "own", "found"),
    [
        ("key_size query_size num_hiddens", "q_size k_size hidden", "k_size q_size hidden"),
        ("key_size query_size num_hiddens dropout", "p a b c", "a b c p"),
        ("queries keys values", "keys values queries", "queries keys values"),
        ("queries keys", "q a", "q a"),  # nothing speaks against it
        ("num_heads dropout", "heads size", ""),  # a size is no dropout
        ("key_size num_hiddens", "value_size d_model", ""),  # a value is no key
        ("num_hiddens num_heads", "head_size num_head d_model", "d_model num_head"),
        ("X Y", "x", ""),
    ],
)
def test_parameters_are_paired_by_meaning_and_the_others_in_their_order(asked, own, found):
    pairs = counterparts(asked.split(), own.split())
    assert [pairs[name] for name in asked.split() if pairs] == found.split()
