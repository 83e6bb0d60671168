"""Known mistakes in RingCache; their pages are in RingCache.md."""

from grader.authoring import edit, mistake

STAYS = "stays = (seen[2] < self.sinks) | (seen[2] >= self.total - self.window)"
NEW = "new = torch.arange(self.total, self.total + keys.shape[2], device=keys.device)"
KEPT = "self._kept = seen[0][:, :, stays], seen[1][:, :, stays], seen[2][stays]"

MISTAKES = [
    mistake(
        "ring-forgets-first",
        edit("        return seen\n", "        return self._kept\n"),
        says="old steps are forgotten before the queries of the new ones have used them",
        asks="Which keys does the first of four new queries need if the window is four?",
    ),
    mistake(
        "ring-keeps-too-few",
        edit(STAYS, STAYS.replace("self.total - self.window", "self.total - self.window + 2")),
        says="too few of the newest steps stay",
        asks="How many old keys does a single new query need?",
    ),
    mistake(
        "ring-never-forgets",
        edit(STAYS, "stays = seen[2] >= 0"),
        says="nothing is ever forgotten",
        asks="How many keys are stored after seventeen steps?",
    ),
    mistake(
        "ring-forgets-newest",
        edit(STAYS, "stays = seen[2] < self.sinks + self.window"),
        says="the oldest steps stay, and newer ones are forgotten",
        asks="Which steps should be left if there is room for four?",
    ),
    mistake(
        "ring-sinks-forgotten",
        edit(STAYS, "stays = seen[2] >= self.total - self.window"),
        forms=[[edit(STAYS, "stays = seen[2] >= self.total - self.window - self.sinks")]],
        says="the sinks are forgotten",
        asks="Which steps are never forgotten?",
    ),
    mistake(
        "ring-sinks-of-first-piece",
        edit(
            STAYS,
            "first = getattr(self, 'first', None)\n        self.first = min(self.sinks, keys.shape[2]) if first is None else first\n"
            "        stays = (seen[2] < self.first) | (seen[2] >= self.total - self.window)",
        ),
        says="only steps of the first piece can become sinks",
        asks="Which steps are the sinks if the first piece has two steps and there are three sinks?",
    ),
    mistake(
        "ring-sinks-of-latest-piece",
        edit(
            STAYS,
            "begin = self.total - keys.shape[2]\n"
            "        stays = (seen[2] >= begin) & (seen[2] < begin + self.sinks) | (seen[2] >= self.total - self.window)",
        ),
        says="the first steps of the latest piece stay as sinks instead of those of the text",
        asks="Which steps are the sinks if the second piece begins at step five?",
    ),
    mistake(
        "ring-early-steps-twice",
        edit(
            STAYS,
            "S = len(seen[2])\n        stays = [*range(S)][: self.sinks] + [*range(S)][-self.window :]",
        ),
        says="the first steps are kept twice while they are among the newest ones, too",
        asks="Which steps are kept after two steps, if there are two sinks and a window of three?",
    ),
    mistake(
        "ring-positions-unbroken",
        edit(
            "        return seen\n",
            "        return seen[0], seen[1], torch.arange(self.total - len(seen[2]), self.total, device=keys.device)\n",
        ),
        says="the positions are one unbroken run up to the newest step, so those of the sinks are wrong",
        asks="Which position has the first sink after eleven steps?",
    ),
    mistake(
        "ring-positions-are-places",
        edit(
            "        return seen\n",
            "        return seen[0], seen[1], torch.arange(seen[0].shape[2], device=keys.device)\n",
        ),
        kind="different",
        seen="StreamingLLM, where the positions of the queries are places, too",
        says="the positions are the places of the rows",
        asks="Which position has the first stored step after something was forgotten?",
    ),
    mistake(
        "ring-positions-of-new-from-zero",
        edit(
            "new = torch.arange(self.total, self.total + keys.shape[2], device=keys.device)",
            "new = torch.arange(keys.shape[2], device=keys.device)",
        ),
        says="the positions of new steps begin at 0 in every call",
        asks="Which position has the first new step if five were appended before?",
    ),
    mistake(
        "ring-positions-after-append",
        edit(NEW, NEW.replace("self.total, self.total +", "self.total + keys.shape[2], self.total + 2 *")),
        forms=[
            [
                edit(
                    NEW,
                    NEW.replace("self.total, self.total +", "self.total + keys.shape[2], self.total + 2 *"),
                ),
                edit(
                    STAYS,
                    STAYS.replace(
                        "seen[2] >=",
                        "torch.arange(self.total - len(seen[2]), self.total, device=keys.device) >=",
                    ),
                ),
            ]
        ],
        says="the positions of new steps begin at a total that counts them already",
        asks="Which position has the very first step?",
    ),
    mistake(
        "ring-empty-places-at-zero",
        """
        class RingCache:
            def __init__(self, window, sinks=0):
                self.window, self.sinks, self.total = window, sinks, 0
                self.k = self.v = self.at = None

            def append(self, keys, values):
                B, H, T, d = keys.shape
                size = self.window + self.sinks
                if self.k is None:
                    self.k, self.v = keys.new_zeros(B, H, size, d), values.new_zeros(B, H, size, d)
                    self.at = torch.zeros(size, dtype=torch.long, device=keys.device)
                new = torch.arange(self.total, self.total + T, device=keys.device)
                out = torch.cat([self.k, keys], 2), torch.cat([self.v, values], 2), torch.cat([self.at, new])
                for t in range(T):
                    step = self.total + t
                    place = step if step < self.sinks else self.sinks + (step - self.sinks) % self.window
                    self.k[:, :, place], self.v[:, :, place], self.at[place] = keys[:, :, t], values[:, :, t], step
                self.total += T
                return out
        """,
        says="empty places are returned with position zero",
        asks="Which position has an empty place?",
    ),
    mistake(
        "ring-total-counts-calls",
        edit("self.total += keys.shape[2]", "self.total += 1"),
        says="total counts calls instead of steps",
        asks="What is total after one append of five steps?",
    ),
    mistake(
        "ring-total-of-kept",
        edit("self.total += keys.shape[2]", "self.total = seen[0].shape[2]"),
        forms=[
            [
                edit("self.total = 0", "self.count, self.total = 0, 0"),
                edit("torch.arange(self.total, self.total +", "torch.arange(self.count, self.count +"),
                edit("self.total += keys.shape[2]", "self.count += keys.shape[2]"),
                edit(STAYS, STAYS.replace("self.total", "self.count")),
                edit(KEPT, f"{KEPT}\n        self.total = int(stays.sum())"),
            ]
        ],
        says="total is the number of steps that are stored",
        asks="What is total after seventeen steps?",
    ),
    mistake(
        "ring-new-steps-only",
        edit("        return seen\n", "        return keys, values, new\n"),
        says="append returns the new steps only",
        asks="Which keys does the query of a single new step need?",
    ),
    mistake(
        "ring-old-steps-only",
        edit(
            "        return seen\n",
            "        return seen[0][:, :, : -keys.shape[2] or None], seen[1][:, :, : -keys.shape[2] or None], seen[2][: -keys.shape[2] or None]\n",
        ),
        says="append returns the steps before the new ones",
        asks="Does a query see its own key?",
    ),
    mistake(
        "ring-keys-as-values",
        edit("old_values, values], 2)", "old_values, keys], 2)"),
        forms=[[edit(KEPT, KEPT.replace("seen[1]", "seen[0]"))]],
        says="keys are stored in the place of the values",
        asks="What do you store as values?",
    ),
]
