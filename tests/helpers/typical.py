"""Twelve typical wrong answers, two for each of six facets, for tests of the report in a student's terminal."""

from __future__ import annotations

from helpers.answers import BY_ID

TYPICAL = {
    "shapes": ("transpose_qkv/wrong_four_axes", "Seq2SeqAttentionDecoder/wrong_output_time_major"),
    "values": ("DotProductAttention/wrong_no_scaling", "PositionalEncoding/wrong_halves"),
    "masking": ("masked_softmax/wrong_zeroed_afterwards", "MultiHeadAttention/wrong_lens_tiled"),
    "gradients": ("DotProductAttention/wrong_scores_detached", "TokenEmbedding/wrong_no_padding_idx"),
    "modes": ("AddNorm/wrong_dropout_in_eval", "DecoderBlock/wrong_cache_never_written"),
    "pruning": ("prune_heads/wrong_zeros", "removal_experiment/wrong_orders_swapped"),
}
NAMES = tuple(name for pair in TYPICAL.values() for name in pair)


def source(name: str) -> str:
    """Return the code of an answer, without the header, which says what is wrong."""
    return BY_ID[name].source
