"""How large a submission may be. These limits are checked before a parser or another costly reader sees it.

| limit | value | why |
|---|---|---|
| a notebook file | 8 MiB | it may have pictures; JSON of this size needs less than 300 MiB to read |
| source | 1 MiB | any other file; also all code cells of a notebook, or all blocks of notes, together |
| words and symbols | 100,000 | Python's parser needs up to 2 KiB for each |
| names joined by dots | 100 | the parser copies an imported name once for each dot |

Everything else (lines, names per statement, depth) is linear in these, so it needs no limit of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from grader.support.errors import BadData
from grader.support.i18n import _

MAX_FILE_BYTES = 8 << 20
MAX_SOURCE_BYTES = 1 << 20
MAX_TOKENS = 100_000
MAX_DOTTED_NAMES = 100

# A run of #, = or * counts as one, because comments use such lines as separators.
_TOKEN = re.compile(r"\w+|#+|=+|\*+|[^\w\s]")
# The inner quantifiers are possessive, so that a search without a match takes linear time.
_CHAIN = re.compile(rf"(?:\.[\s\\]*+[^\W\d]\w*+[\s\\]*+){{{MAX_DOTTED_NAMES}}}")


def count_tokens(source: str) -> int:
    """Return the number of words and symbols, also in strings and comments."""
    return _TOKEN.subn("", source)[1]


def check_sources(sources: Iterable[str]) -> int:
    """Check all sources of one submission together; return their number of words and symbols. Raises BadData."""
    size = tokens = 0
    for source in sources:
        size += len(source.encode("utf-8", "surrogatepass"))
        if size > MAX_SOURCE_BYTES:
            raise BadData(_("the code is larger than {limit} MiB").format(limit=MAX_SOURCE_BYTES >> 20))
        tokens += count_tokens(source)
        if tokens > MAX_TOKENS:
            raise BadData(_("the code has more than {limit} words and symbols").format(limit=MAX_TOKENS))
        if _CHAIN.search(source):
            raise BadData(_("the code joins more than {limit} names by dots").format(limit=MAX_DOTTED_NAMES))
    return tokens
