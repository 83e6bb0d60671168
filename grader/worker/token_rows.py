"""Turn sentences, returned as a tensor or as lists of token numbers, into rows of one tensor."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

EMPTY = -1  # pads shorter rows
LARGEST = 1 << 62  # token numbers are below it, so that they fit in int64
MOST = 1000  # the most sentences, and the most tokens per sentence


def in_rows(sentences: Any) -> tuple[Tensor, bool] | None:
    """Return B sentences as one int64 tensor (B, longest), padded with EMPTY, and whether any row had to be padded.

    Returns None for any other value.

    A sentence is a tensor, or a list or tuple of whole numbers or of tensors with one value.
    """
    try:
        rows = [_row(sentence) for sentence in _listed(sentences)]
    except (TypeError, ValueError, RuntimeError):
        return None
    out = torch.full((len(rows), max(map(len, rows), default=0)), EMPTY, dtype=torch.int64)
    for place, row in enumerate(rows):
        out[place, : len(row)] = torch.tensor(row, dtype=torch.int64)
    return out, len(set(map(len, rows))) > 1


def _listed(value: Any) -> list[Any]:
    if isinstance(value, Tensor):
        value = value.detach().to("cpu").tolist()
    if not isinstance(value, (list, tuple)) or len(value) > MOST:
        raise TypeError("not a list")
    return list(value)


def _row(sentence: Any) -> list[int]:
    if isinstance(sentence, Tensor):
        sentence = sentence.reshape(-1)
    return [_token(token) for token in _listed(sentence)]


def _token(token: Any) -> int:
    if isinstance(token, Tensor):
        token = token.item()
    is_whole = isinstance(token, int) or (isinstance(token, float) and token.is_integer())
    if not is_whole or abs(token) >= LARGEST:
        raise TypeError("not a token number")
    return int(token)
