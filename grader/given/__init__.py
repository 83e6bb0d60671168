"""Building blocks from earlier assignments, finished and correct.

    from grader.given import MultiHeadAttention, AddNorm

Each block is in a separate file, uses PyTorch's built-in functions, and has the names of the course. So a
student who is stuck on one assignment can still do the next one, and the reference solutions can be compared
with an independent implementation. Importing this package does not import torch; a block is loaded at its
first use. While the grader grades an exercise, only these blocks can be used: those that its `exercise.toml` lists,
the blocks that they import, and the base classes `Encoder`, `Decoder` and `AttentionDecoder`.
"""

import ast
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

BLOCKS: dict[str, str] = {
    "kernel_attention_weights": "kernel_attention_weights.py",
    "sequence_mask": "sequence_mask.py",
    "masked_softmax": "masked_softmax.py",
    "AdditiveAttention": "additive_attention.py",
    "DotProductAttention": "dot_product_attention.py",
    "transpose_qkv": "transpose_qkv.py",
    "transpose_output": "transpose_output.py",
    "MultiHeadAttention": "multi_head_attention.py",
    "PositionalEncoding": "positional_encoding.py",
    "TokenEmbedding": "token_embedding.py",
    "AddNorm": "add_norm.py",
    "PositionWiseFFN": "position_wise_ffn.py",
    "EncoderBlock": "encoder_block.py",
    "TransformerEncoder": "transformer_encoder.py",
    "DecoderBlock": "decoder_block.py",
    "TransformerDecoder": "transformer_decoder.py",
    "EncoderDecoder": "encoder_decoder.py",
    "Seq2SeqAttentionDecoder": "seq2seq_attention_decoder.py",
    "attention_maps": "attention_maps.py",
    "gated_attention": "gated_attention.py",
    "head_importance": "head_importance.py",
    "prune_heads": "prune_heads.py",
    "rotary_angles": "rotary_angles.py",
    "apply_rotary": "apply_rotary.py",
    "KVCache": "kv_cache.py",
    "cached_attention": "cached_attention.py",
    "repeat_kv": "repeat_kv.py",
    "window_mask": "window_mask.py",
    "RingCache": "ring_cache.py",
    "merge_state": "merge_state.py",
    "tiled_attention": "tiled_attention.py",
    "top_k_top_p_filtering": "top_k_top_p_filtering.py",
    "sample_token": "sample_token.py",
    "verify_draft": "verify_draft.py",
    "ALPHABET": "rhymes.py",
    "SIZES": "rhymes.py",
    "make_text": "rhymes.py",
    "verse_batches": "rhymes.py",
    "RMSNorm": "rms_norm.py",
    "SwiGLU": "swiglu.py",
    "LanguageModelBlock": "language_model_block.py",
    "LanguageModel": "language_model.py",
    "write_text": "write_text.py",
    "Encoder": "encoder.py",
    "Decoder": "decoder.py",
    "AttentionDecoder": "attention_decoder.py",
}


@cache
def source(name: str) -> str:
    """Return the text of the file that defines the block `name`. Raises ImportError if there is none."""
    return _path(name).read_text(encoding="utf-8")


@cache
def requires(name: str) -> tuple[str, ...]:
    """Return the blocks that the block `name` imports from this package, in the order of its import line."""
    imports = [node for node in ast.walk(ast.parse(source(name))) if isinstance(node, ast.ImportFrom)]
    return tuple(alias.name for node in imports if node.module == __name__ for alias in node.names)


def _path(name: str) -> Path:
    if name not in BLOCKS:
        raise ImportError(f"grader.given has no building block {name!r}; there are: {', '.join(BLOCKS)}.")
    path = Path(__file__).with_name(BLOCKS[name])
    if not path.is_file():
        raise ImportError(f"The building block {name!r} is not part of this kit: {path.name} is missing.")
    return path


def __getattr__(name: str) -> Any:
    if name.startswith("_") or name not in BLOCKS:  # hasattr, inspect and pickle need AttributeError
        raise AttributeError(f"grader.given has no building block {name!r}; there are: {', '.join(BLOCKS)}.")
    module = import_module(f"{__name__}.{_path(name).stem}")
    # The import of `sequence_mask.py` binds the *module* to that name here; replace it by the block.
    block = getattr(module, name)
    globals()[name] = block
    return block


def __dir__() -> list[str]:
    return sorted({*globals(), *BLOCKS})
