# %% right_sorted_choice: concatenates everything and selects by position
# kind: same

import torch


class RingCache:
    def __init__(self, window, sinks=0):
        self.window, self.sinks, self.total = window, sinks, 0
        self.kept = None

    def append(self, keys, values):
        first = self.total
        self.total += keys.size(2)
        where = torch.arange(first, self.total, device=keys.device)
        rows = (keys, values, where)
        if self.kept is not None:
            rows = tuple(torch.cat(p, dim=d) for p, d in zip(zip(self.kept, rows), (2, 2, 0)))
        stay = (rows[2] < self.sinks) | (rows[2] >= self.total - self.window)
        self.kept = rows[0][:, :, stay], rows[1][:, :, stay], rows[2][stay]
        return rows


# %% right_modular_ring: a preallocated ring with slots sinks + (p - sinks) mod w
# kind: same

import torch


class RingCache:
    def __init__(self, window: int, sinks: int = 0) -> None:
        self.window = window
        self.sinks = sinks
        self.total = 0
        self.k = self.v = self.pos = None

    def slot(self, p):
        return p if p < self.sinks else self.sinks + (p - self.sinks) % self.window

    def append(self, keys, values):
        B, H, T, d = keys.shape
        size = self.window + self.sinks
        if self.k is None:
            self.k = keys.new_zeros(B, H, size, d)
            self.v = values.new_zeros(B, H, size, values.shape[-1])
            self.pos = torch.full((size,), -1, device=keys.device)
        new = torch.arange(self.total, self.total + T, device=keys.device)
        answer = (
            torch.cat((self.k, keys), 2),
            torch.cat((self.v, values), 2),
            torch.cat((self.pos, new)),
        )
        self.k, self.v, self.pos = self.k.clone(), self.v.clone(), self.pos.clone()
        for t in range(T):
            s = self.slot(self.total + t)
            self.k[:, :, s], self.v[:, :, s] = keys[:, :, t], values[:, :, t]
            self.pos[s] = self.total + t
        self.total += T
        return answer


# %% right_dictionary_of_steps: a dictionary from position to step
# kind: same

import torch


class RingCache:
    def __init__(self, window, sinks=0):
        self.window, self.sinks = window, sinks
        self.steps = {}
        self.total = 0

    def append(self, keys, values):
        for t in range(keys.shape[2]):
            self.steps[self.total] = keys[:, :, t].clone(), values[:, :, t].clone()
            self.total += 1
        where = list(self.steps)
        out_k = torch.stack([self.steps[p][0] for p in where], 2)
        out_v = torch.stack([self.steps[p][1] for p in where], 2)
        for p in where:
            if self.sinks <= p <= self.total - self.window:
                del self.steps[p]
        return out_k, out_v, torch.tensor(where, device=keys.device)


# %% right_deque_and_list: a list of sinks, a deque with maxlen; newest first
# kind: same

from collections import deque

import torch


class RingCache:
    def __init__(self, window, sinks=0):
        self.sinks = sinks
        self.head = []
        self.tail = deque(maxlen=window)
        self.total = 0

    def append(self, keys, values):
        new = []
        for k, v in zip(keys.unbind(2), values.unbind(2)):
            new.append((k, v, self.total))
            self.total += 1
        rows = new[::-1] + list(self.tail) + self.head
        for entry in new:
            kept = (entry[0].clone(), entry[1].clone(), entry[2])
            if entry[2] < self.sinks:
                self.head.append(kept)
            else:
                self.tail.append(kept)
        k, v, p = zip(*rows)
        return torch.stack(k, 2), torch.stack(v, 2), torch.as_tensor(p, device=keys.device)


# %% right_two_parts: sinks and recent steps as two tensors of keys and values together
# kind: same

import torch


class RingCache:
    def __init__(self, window, sinks=0):
        self.window, self.sinks, self.total = window, sinks, 0
        self.first = self.recent = None

    def append(self, keys, values):
        both = torch.stack((keys, values))
        if self.first is None:
            self.first = self.recent = both[..., :0, :].clone()
        missing = self.sinks - self.first.shape[-2]
        old_first, old = self.first.shape[-2], self.recent.shape[-2]
        to_first, rest = both[..., :missing, :], both[..., missing:, :]
        self.first = torch.cat((self.first, to_first), -2)
        recent = torch.cat((self.recent, rest), -2)
        self.total += keys.shape[2]
        everything = torch.cat((self.first, recent), -2)
        pos = torch.cat(
            (
                torch.arange(self.first.shape[-2], device=keys.device),
                torch.arange(self.total - recent.shape[-2], self.total, device=keys.device),
            )
        )
        self.recent = recent[..., -self.window :, :].clone()
        return everything[0], everything[1], pos


# %% wrong_cuts_before_return: forgets and returns what is left
# kind: mistake
# breaks: values
# equals: ring-forgets-first

import torch


class RingCache:
    def __init__(self, window, sinks=0):
        self.window, self.sinks, self.total = window, sinks, 0
        self.k = self.v = self.p = None

    def append(self, keys, values):
        T = keys.shape[2]
        p = torch.arange(self.total, self.total + T, device=keys.device)
        self.total += T
        if self.k is None:
            self.k, self.v, self.p = keys, values, p
        else:
            self.k = torch.cat((self.k, keys), 2)
            self.v = torch.cat((self.v, values), 2)
            self.p = torch.cat((self.p, p))
        stay = (self.p < self.sinks) | (self.p >= self.total - self.window)
        self.k, self.v, self.p = self.k[:, :, stay], self.v[:, :, stay], self.p[stay]
        return self.k, self.v, self.p


# %% wrong_sinks_roll_out: keeps the last w + sinks steps
# kind: mistake
# breaks: values
# equals: ring-sinks-forgotten

import torch


class RingCache:
    def __init__(self, window, sinks=0):
        self.room = window + sinks
        self.total = 0
        self.rows = None

    def append(self, keys, values):
        p = torch.arange(self.total, self.total + keys.shape[2], device=keys.device)
        k, v = keys, values
        if self.rows is not None:
            k = torch.cat((self.rows[0], k), 2)
            v = torch.cat((self.rows[1], v), 2)
            p = torch.cat((self.rows[2], p))
        self.rows = k[:, :, -self.room :], v[:, :, -self.room :], p[-self.room :]
        self.total += keys.shape[2]
        return k, v, p


# %% wrong_positions_in_cache: positions count the rows of the answer
# kind: different
# breaks: values
# equals: ring-positions-are-places

import torch


class RingCache:
    def __init__(self, window, sinks=0):
        self.window, self.sinks, self.total = window, sinks, 0
        self.k = self.v = None

    def append(self, keys, values):
        k = keys if self.k is None else torch.cat((self.k, keys), 2)
        v = values if self.v is None else torch.cat((self.v, values), 2)
        self.total += keys.shape[2]
        n = k.shape[2]
        cut = max(self.sinks, n - self.window)
        self.k = torch.cat((k[:, :, : self.sinks], k[:, :, cut:]), 2)
        self.v = torch.cat((v[:, :, : self.sinks], v[:, :, cut:]), 2)
        return k, v, torch.arange(n, device=k.device)


# %% wrong_total_is_stored: total is the number of rows stored
# kind: mistake
# breaks: values
# equals: ring-total-of-kept

import torch


class RingCache:
    def __init__(self, window, sinks=0):
        self.window, self.sinks = window, sinks
        self.k = self.v = self.p = None
        self.next = 0

    @property
    def total(self):
        return 0 if self.k is None else self.k.shape[2]

    def append(self, keys, values):
        p = torch.arange(self.next, self.next + keys.shape[2], device=keys.device)
        self.next += keys.shape[2]
        k, v = keys, values
        if self.k is not None:
            k, v, p = (
                torch.cat((self.k, k), 2),
                torch.cat((self.v, v), 2),
                torch.cat((self.p, p)),
            )
        stay = (p < self.sinks) | (p >= self.next - self.window)
        self.k, self.v, self.p = k[:, :, stay], v[:, :, stay], p[stay]
        return k, v, p


# %% wrong_keeps_first: full means full, the newest are thrown away
# kind: mistake
# breaks: values
# equals: ring-forgets-newest

import torch


class RingCache:
    def __init__(self, window, sinks=0):
        self.size = window + sinks
        self.total = 0
        self.store = None

    def append(self, keys, values):
        p = torch.arange(self.total, self.total + keys.shape[2], device=keys.device)
        self.total += keys.shape[2]
        new = [keys, values, p]
        if self.store:
            new = [
                torch.cat((self.store[0], keys), 2),
                torch.cat((self.store[1], values), 2),
                torch.cat((self.store[2], p)),
            ]
        n = self.size
        self.store = [new[0][:, :, :n], new[1][:, :, :n], new[2][:n]]
        return tuple(new)


# %% wrong_never_forgets: everything is kept
# kind: mistake
# breaks: cost
# equals: ring-never-forgets

import torch


class RingCache:
    def __init__(self, window, sinks=0):
        self.window, self.sinks = window, sinks
        self.keys, self.values = [], []
        self.total = 0

    def append(self, keys, values):
        self.keys.append(keys.clone())
        self.values.append(values.clone())
        self.total += keys.size(2)
        positions = torch.arange(self.total, device=keys.device)
        return torch.cat(self.keys, 2), torch.cat(self.values, 2), positions


# %% wrong_old_only: returns what was stored, without the new steps
# kind: mistake
# breaks: values
# equals: ring-old-steps-only

import torch


class RingCache:
    def __init__(self, window, sinks=0):
        self.window, self.sinks, self.total = window, sinks, 0
        self.k = self.v = self.p = None

    def append(self, keys, values):
        if self.k is None:
            self.k, self.v = keys[:, :, :0], values[:, :, :0]
            self.p = torch.arange(0, device=keys.device)
        before = self.k, self.v, self.p
        T = keys.shape[2]
        p = torch.cat((self.p, torch.arange(self.total, self.total + T, device=keys.device)))
        k, v = torch.cat((self.k, keys), 2), torch.cat((self.v, values), 2)
        self.total += T
        stay = (p < self.sinks) | (p >= self.total - self.window)
        self.k, self.v, self.p = k[:, :, stay], v[:, :, stay], p[stay]
        return before


# %% wrong_sinks_of_first_call: sinks are what the first call brings
# kind: mistake
# breaks: values
# equals: ring-sinks-of-first-piece

import torch


class RingCache:
    def __init__(self, window, sinks=0):
        self.window, self.sinks, self.total = window, sinks, 0
        self.sink = None
        self.rest = None

    def append(self, keys, values):
        T = keys.shape[2]
        p = torch.arange(self.total, self.total + T, device=keys.device)
        self.total += T
        s = self.sinks
        if self.sink is None:
            self.sink = keys[:, :, :s], values[:, :, :s], p[:s]
            out = keys, values, p
            rest = keys[:, :, s:], values[:, :, s:], p[s:]
        else:
            rest = (
                torch.cat((self.rest[0], keys), 2),
                torch.cat((self.rest[1], values), 2),
                torch.cat((self.rest[2], p)),
            )
            out = tuple(torch.cat(x, d) for x, d in zip(zip(self.sink, rest), (2, 2, 0)))
        w = self.window
        self.rest = rest[0][:, :, -w:], rest[1][:, :, -w:], rest[2][-w:]
        return out


# %% wrong_late_positions: total grows before positions are counted from it
# kind: mistake
# breaks: values
# equals: ring-positions-after-append

import torch


class RingCache:
    def __init__(self, window, sinks=0):
        self.window, self.sinks, self.total = window, sinks, 0
        self.k = self.v = self.p = None

    def append(self, keys, values):
        T = keys.shape[2]
        self.total += T
        p = torch.arange(self.total, self.total + T, device=keys.device)
        k, v = keys, values
        if self.k is not None:
            k, v = torch.cat((self.k, k), 2), torch.cat((self.v, v), 2)
            p = torch.cat((self.p, p))
        n = k.shape[2]
        stay = torch.arange(n, device=k.device)
        stay = (p < self.sinks) | (stay >= n - self.window)
        self.k, self.v, self.p = k[:, :, stay], v[:, :, stay], p[stay]
        return k, v, p


# %% wrong_window_minus_two: keeps two fewer than the window
# kind: mistake
# breaks: values
# equals: ring-keeps-too-few

import torch


class RingCache:
    def __init__(self, window, sinks=0):
        self.window, self.sinks, self.total = window, sinks, 0
        self.memory = None

    def append(self, keys, values):
        start, self.total = self.total, self.total + keys.shape[2]
        p = torch.arange(start, self.total, device=keys.device)
        k, v = keys, values
        if self.memory is not None:
            k = torch.cat((self.memory[0], k), 2)
            v = torch.cat((self.memory[1], v), 2)
            p = torch.cat((self.memory[2], p))
        stay = (p < self.sinks) | (p > self.total - self.window + 1)
        self.memory = k[:, :, stay], v[:, :, stay], p[stay]
        return k, v, p


# %% wrong_class_attributes: state in the class, shared by all rings through a list
# kind: mistake
# breaks: cost, purity, values

import torch


class RingCache:
    stored = []

    def __init__(self, window, sinks=0):
        self.window, self.sinks, self.total = window, sinks, 0

    def append(self, keys, values):
        for t in range(keys.shape[2]):
            self.stored.append((self.total, keys[:, :, t].clone(), values[:, :, t].clone()))
            self.total += 1
        p = torch.tensor([s[0] for s in self.stored], device=keys.device)
        k = torch.stack([s[1] for s in self.stored], 2)
        v = torch.stack([s[2] for s in self.stored], 2)
        self.stored[:] = [
            s for s in self.stored if s[0] < self.sinks or s[0] >= self.total - self.window
        ]
        return k, v, p


# %% wrong_values_swapped: stores keys twice
# kind: mistake
# breaks: values
# equals: ring-keys-as-values

import torch


class RingCache:
    def __init__(self, window, sinks=0):
        self.window, self.sinks, self.total = window, sinks, 0
        self.k = self.v = self.p = None

    def append(self, keys, values):
        p = torch.arange(self.total, self.total + keys.shape[2], device=keys.device)
        self.total += keys.shape[2]
        k, v = keys, values
        if self.k is not None:
            k, v = torch.cat((self.k, k), 2), torch.cat((self.v, v), 2)
            p = torch.cat((self.p, p))
        stay = (p < self.sinks) | (p >= self.total - self.window)
        self.k, self.v, self.p = k[:, :, stay], k[:, :, stay], p[stay]
        return k, v, p


# %% wrong_ring_over_sinks: slots p mod (w + sinks), so the sinks are overwritten, and the empty places are called 0
# kind: mistake
# breaks: values
# equals: ring-empty-places-at-zero+ring-sinks-forgotten

import torch


class RingCache:
    def __init__(self, window, sinks=0):
        self.size, self.total = window + sinks, 0
        self.k = self.v = self.p = None

    def append(self, keys, values):
        B, H, T, d = keys.shape
        if self.k is None:
            self.k = keys.new_zeros(B, H, self.size, d)
            self.v = values.new_zeros(B, H, self.size, d)
            self.p = torch.zeros(self.size, dtype=torch.long, device=keys.device)
        new = torch.arange(self.total, self.total + T, device=keys.device)
        out = (
            torch.cat((self.k, keys), 2),
            torch.cat((self.v, values), 2),
            torch.cat((self.p, new)),
        )
        k, v, p = self.k.clone(), self.v.clone(), self.p.clone()
        for t in range(T):
            s = (self.total + t) % self.size
            k[:, :, s], v[:, :, s], p[s] = keys[:, :, t], values[:, :, t], new[t]
        self.k, self.v, self.p = k, v, p
        self.total += T
        return out


# %% wrong_slices_overlap: the first steps and the newest steps, which overlap at first
# kind: mistake
# breaks: values
# equals: ring-early-steps-twice

import torch


class RingCache:
    def __init__(self, window, sinks=0):
        self.window, self.sinks, self.total = window, sinks, 0
        self.old = None

    def append(self, keys, values):
        T = keys.size(2)
        new = keys, values, torch.arange(self.total, self.total + T, device=keys.device)[None, None]
        self.total += T
        if self.old is not None:
            new = tuple(torch.cat(pair, 2) for pair in zip(self.old, new, strict=True))
        self.old = tuple(torch.cat((x[:, :, : self.sinks], x[:, :, -self.window :]), 2) for x in new)
        return new[0], new[1], new[2][0, 0]


# %% wrong_run_of_positions: the positions end at the newest step and have no gap behind the sinks
# kind: mistake
# breaks: values
# equals: ring-positions-unbroken

import torch


class RingCache:
    def __init__(self, window, sinks=0):
        self.window, self.sinks, self.total = window, sinks, 0
        self.k = self.v = None

    def append(self, keys, values):
        self.total += keys.size(2)
        if self.k is not None:
            keys, values = torch.cat((self.k, keys), 2), torch.cat((self.v, values), 2)
        S = keys.size(2)
        stay = [*range(min(self.sinks, S)), *range(max(self.sinks, S - self.window), S)]
        self.k, self.v = keys[:, :, stay], values[:, :, stay]
        return keys, values, torch.arange(self.total - S, self.total, device=keys.device)
