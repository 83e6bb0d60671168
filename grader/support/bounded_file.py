"""Read a file that others may have written, up to a size."""

from __future__ import annotations

from pathlib import Path

from grader.support.i18n import _


def read_within(path: Path, most: int) -> bytes:
    """Return the content of a file of at most `most` bytes.

    Raises OSError if it cannot be read, and ValueError if it is larger; the message is a clause, not a sentence.
    """
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        size = f"{most >> 20} MiB" if most >= 1 << 20 else f"{most >> 10} KiB"
        raise ValueError(_("it is larger than {size}").format(size=size))
    return data
