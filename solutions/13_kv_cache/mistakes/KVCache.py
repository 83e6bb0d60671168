"""Known mistakes in KVCache; their pages are in KVCache.md."""

from grader.authoring import dtype_mistake, edit, mistake

STORE_KEYS = "self._keys[:, :, start:stop] = keys"
FITS = "if stop > self.max_len:"
# What replaces the limit: the places grow.
GROWS = """if self._keys is not None and self._values is not None and stop > self._keys.shape[2]:
            more = (0, 0, 0, stop - self._keys.shape[2])
            self._keys, self._values = (nn.functional.pad(one, more) for one in (self._keys, self._values))
        if False:"""
VALUES = """self._values = torch.cat([self._values[:, :, : self._more], values], dim=2)
        self._more += values.shape[2]"""
# A list of pieces, whose crop is not finished.
PIECES = """
class KVCache:
    def __init__(self, max_len):
        self.max_len, self.length, self.pieces = max_len, 0, []

    def append(self, keys, values):
        if self.length + keys.shape[2] > self.max_len:
            raise ValueError("full")
        self.pieces.append((keys, values))
        self.length += keys.shape[2]
        return tuple(torch.cat(part, dim=2) for part in zip(*self.pieces))

    def crop(self, length):
        if not 0 <= length <= self.length:
            raise ValueError("no such length")
"""
CROP = "if not 0 <= length <= self.length:"

MISTAKES = [
    mistake(
        "kv-returns-new-steps",
        edit("return self._keys[:, :, :stop], self._values[:, :, :stop]", "return keys, values"),
        says="append returns the new steps only, not all steps so far",
        asks="How many steps should append return if three are stored and one is new?",
    ),
    mistake(
        "kv-returns-earlier-steps",
        edit(
            "return self._keys[:, :, :stop], self._values[:, :, :stop]",
            "return self._keys[:, :, :start], self._values[:, :, :start]",
        ),
        says="append returns the steps before the new ones, without the new ones",
        asks="How many steps should append return if three are stored and one is new?",
    ),
    mistake(
        "kv-returns-the-room",
        edit("keys.new_empty(room), values.new_empty(room)", "keys.new_zeros(room), values.new_zeros(room)"),
        edit("return self._keys[:, :, :stop], self._values[:, :, :stop]", "return self._keys, self._values"),
        says="append returns the whole room, also the places that are still empty",
        asks="How many steps should append return if three are stored and one is new?",
    ),
    mistake(
        "kv-newest-first",
        edit(STORE_KEYS, STORE_KEYS),
        edit(
            "return self._keys[:, :, :stop], self._values[:, :, :stop]",
            "order = [*range(start, stop), *range(start)]\n        return self._keys[:, :, order], self._values[:, :, order]",
        ),
        says="append returns the new steps before the old ones",
        asks="In which order did the steps come?",
    ),
    mistake(
        "kv-keys-as-values",
        edit("self._values[:, :, start:stop] = values", "self._values[:, :, start:stop] = keys"),
        says="keys are stored in the place of the values",
        asks="What do you store as values?",
    ),
    mistake(
        "kv-overwrites",
        edit("start, stop = self.length, self.length + keys.shape[2]", "start, stop = 0, keys.shape[2]"),
        says="each append overwrites what was stored before",
        asks="At which place should the second piece begin?",
    ),
    mistake(
        "kv-length-counts-calls",
        edit(
            "start, stop = self.length, self.length + keys.shape[2]",
            "start = getattr(self, 'stop', 0)\n        stop = start + keys.shape[2]",
        ),
        edit(FITS, GROWS.replace("if False:", "if self.length + keys.shape[2] > self.max_len:")),
        edit("self.length = stop", "self.stop = stop\n        self.length += 1"),
        edit("        self.length = length\n", "        self.stop = self.length = length\n"),
        says="the length counts the calls instead of the steps",
        asks="What is the length after one append of three steps?",
    ),
    mistake(
        "kv-length-of-last",
        edit("self.length = stop", "self.length = keys.shape[2]"),
        says="the length is that of the last piece",
        asks="What is the length after an append of three steps and one of two?",
    ),
    mistake(
        "kv-never-full",
        edit(FITS, GROWS),
        says="more steps than max_len are stored",
        asks="What should happen to the step after the last place?",
    ),
    mistake(
        "kv-full-too-early",
        edit(FITS, "if stop >= self.max_len:"),
        says="the last place of the cache is never used",
        asks="How many steps should a cache of five take?",
    ),
    mistake(
        "kv-half-written",
        edit(
            FITS,
            "if self._keys is not None and stop > self.max_len:\n            self.length = self.max_len\n        "
            + FITS,
        ),
        says="steps that do not fit change the cache before the error",
        asks="What should the length be after an append that failed?",
    ),
    mistake(
        "kv-crop-does-nothing",
        edit("        self.length = length\n", "        pass\n"),
        says="crop changes nothing",
        asks="What is the length after a crop to two steps?",
    ),
    mistake(
        "kv-crop-keeps-newest",
        edit(
            "        self.length = length\n",
            "        for kept in (self._keys, self._values):\n"
            "            if kept is not None and length:\n"
            "                kept[:, :, :length] = kept[:, :, self.length - length : self.length].clone()\n"
            "        self.length = length\n",
        ),
        says="crop keeps the newest steps instead of the first ones",
        asks="Which steps should be left after a crop to two?",
    ),
    mistake(
        "kv-crop-accepts-all",
        edit(CROP, "if False:"),
        says="crop accepts lengths that the cache does not have",
        asks="What should a crop to five steps do if three are stored?",
    ),
    mistake(
        "kv-crop-to-none-refused",
        edit(CROP, "if not 0 < length <= self.length:"),
        says="crop refuses to forget all steps",
        asks="Which length should be left after a crop to 0?",
    ),
    mistake(
        "kv-keeps-all-results",
        edit(
            "self.length = stop",
            "self.length = stop\n        self.history = [*getattr(self, 'history', []), keys.expand_as(keys).clone(), "
            "self._keys[:, :, :stop].clone()]",
        ),
        says="the cache also keeps copies of earlier results, so its size grows with the square of the steps",
        asks="How many values must a cache of eight steps keep?",
    ),
    mistake(
        "kv-counts-before-check",
        edit(FITS, "self.length = stop\n        " + FITS),
        says="the length grows although the steps do not fit",
        asks="What should the length be after an append that failed?",
    ),
    mistake(
        "kv-crop-slices",
        edit(CROP, "length = len(range(self.length)[:length])\n        if False:"),
        says="crop accepts lengths that the cache does not have, and takes them as a slice does",
        asks="What should a crop to five steps do if three are stored?",
    ),
    mistake(
        "kv-crop-keys-only",
        edit("self.length = 0", "self.length = self._more = 0"),
        edit("self._values[:, :, start:stop] = values", VALUES),
        edit("self._values[:, :, :stop]", "self._values[:, :, : self._more]"),
        says="crop forgets keys and keeps all values",
        asks="How many values are left after a crop?",
    ),
    mistake(
        "kv-crop-cuts-pieces",
        PIECES + "        self.length, self.pieces = length, self.pieces[:length]\n",
        forms=[
            [
                PIECES
                + "        self.pieces = self.pieces[:length]\n"
                + "        self.length = sum(keys.shape[2] for keys, _values in self.pieces)\n"
            ]
        ],
        says="crop counts the pieces that were appended instead of the steps",
        asks="How many pieces does the cache hold after one append of five steps?",
    ),
    mistake(
        "kv-crop-number-only",
        PIECES + "        self.length = length\n",
        says="crop changes the length alone, so the next append returns forgotten steps, too",
        asks="How many steps should append return after a crop to two steps and one new step?",
    ),
    dtype_mistake(
        "kv-own-dtype",
        edit(
            "keys.new_empty(room), values.new_empty(room)",
            "torch.empty(room, device=keys.device), torch.empty(room, device=keys.device)",
        ),
        says="keys and values are stored in float32, whatever their dtype is",
        asks="Which dtype do keys in bfloat16 have when they come back?",
    ),
]
