"""One row of a store: how its result is compressed, and how the row is signed."""

from __future__ import annotations

import hashlib
import hmac
import json
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

MAX_VALUE = 16 << 20  # bytes of one value in the database, and of a result; a longer one is not read


class Row(NamedTuple):
    """One row of the file, its result as text; the key is the first five fields.

    content, cases: hashes of the submission and of the cases. grader: the versions of the grader and torch. times:
    how often the result was graded.
    """

    content: str
    exercise: str
    cases: str
    grader: str
    sandbox: str
    result: str
    mac: str
    graded_at: str
    times: int

    def is_signed(self, secret: bytes) -> bool:
        """Whether a grader with the key `secret` wrote this row. The last two fields are not signed."""
        return hmac.compare_digest(self.mac.encode("utf-8", "replace"), mac_of(secret, *self[:6]).encode())


def read_row(values: Sequence[Any]) -> Row:
    """Return a row as the database has it, with its result as text."""
    row = Row._make(values)
    return row._replace(result=_expanded(row.result))


def compressed(text: str) -> bytes:
    """Return the text of a result as it is stored."""
    return zlib.compress(text.encode(), level=1)  # half the CPU time of the default, an eighth more space


def _expanded(value: Any) -> Any:
    """Return the text of a result. Text is returned as it is: earlier versions did not compress results.

    Bytes that cannot be decompressed are returned as they are; callers refuse a row whose result is bytes.
    """
    if not isinstance(value, bytes):
        return value
    stream = zlib.decompressobj()
    try:
        text = stream.decompress(value, MAX_VALUE).decode()
    except (zlib.error, UnicodeDecodeError):
        return value
    return text if stream.eof else value


def mac_of(secret: bytes, *fields: str) -> str:
    """Return the HMAC-SHA256 of the fields before `mac`.

    They are encoded as a JSON list, so that different rows give different bytes.
    """
    return hmac.new(secret, json.dumps(fields).encode(), hashlib.sha256).hexdigest()
