# %% right_list_of_steps: one entry of a list for each step
# kind: same

import torch


class KVCache:
    def __init__(self, max_len):
        self.max_len = max_len
        self.steps = []

    @property
    def length(self):
        return len(self.steps)

    def append(self, keys, values):
        new = list(zip(keys.unbind(2), values.unbind(2)))
        if len(self.steps) + len(new) > self.max_len:
            raise ValueError("cache overflow")
        self.steps += new
        return (
            torch.stack([k for k, _ in self.steps], dim=2),
            torch.stack([v for _, v in self.steps], dim=2),
        )

    def crop(self, length):
        if not 0 <= length <= len(self.steps):
            raise ValueError("bad length")
        del self.steps[length:]


# %% right_one_block_for_both: keys and values in one preallocated tensor, made at the first append
# kind: same

import torch


class KVCache:
    def __init__(self, max_len: int) -> None:
        self.max_len = max_len
        self.length = 0
        self.store = None

    def append(self, keys, values):
        B, H, T, d = keys.shape
        stop = self.length + T
        if stop > self.max_len:
            raise ValueError(f"{stop} steps do not fit into {self.max_len}")
        if self.store is None:
            self.store = keys.new_empty(2, B, H, self.max_len, d)
        self.store[0].narrow(2, self.length, T).copy_(keys)
        self.store[1].narrow(2, self.length, T).copy_(values)
        self.length = stop
        return self.store[0, :, :, :stop], self.store[1, :, :, :stop]

    def crop(self, length):
        if length < 0 or length > self.length:
            raise ValueError("no such length")
        self.length = length  # what lies behind is overwritten later


# %% right_module_with_buffers: an nn.Module whose buffers grow, steps first
# kind: same

import torch
from torch import nn


class KVCache(nn.Module):
    def __init__(self, max_len):
        super().__init__()
        self.max_len = max_len
        self.register_buffer("k", None, persistent=False)
        self.register_buffer("v", None, persistent=False)

    @property
    def length(self):
        return 0 if self.k is None else self.k.shape[0]

    def append(self, keys, values):
        keys, values = keys.permute(2, 0, 1, 3), values.permute(2, 0, 1, 3)
        if self.length + keys.shape[0] > self.max_len:
            raise ValueError("full")
        self.k = keys.clone() if self.k is None else torch.vstack((self.k, keys))
        self.v = values.clone() if self.v is None else torch.vstack((self.v, values))
        return self.k.permute(1, 2, 0, 3), self.v.permute(1, 2, 0, 3)

    def crop(self, length):
        if length < 0:
            raise ValueError("length must not be negative")
        if length > self.length:
            raise ValueError("length must not exceed the stored steps")
        if self.k is not None:
            self.k, self.v = self.k[:length].clone(), self.v[:length].clone()


# %% right_dictionary: a dictionary from position to the pair of a step
# kind: same

import torch


class KVCache:
    def __init__(self, max_len):
        self.limit = max_len
        self.at = {}
        self.length = 0

    def append(self, keys, values):
        if self.length + keys.size(-2) > self.limit:
            raise ValueError("too many steps")
        for t in range(keys.size(-2)):
            self.at[self.length] = torch.stack((keys[..., t, :], values[..., t, :]))
            self.length += 1
        everything = torch.stack([self.at[p] for p in range(self.length)], dim=3)
        return everything[0], everything[1]

    def crop(self, length):
        if length not in range(self.length + 1):
            raise ValueError(length)
        self.at = {p: kv for p, kv in self.at.items() if p < length}
        self.length = length


# %% right_joined_features: keys and values side by side along the features
# kind: same

import torch


class KVCache:
    def __init__(self, max_len):
        self.max_len, self.kv = max_len, None

    @property
    def length(self):
        return self.kv.size(2) if torch.is_tensor(self.kv) else 0

    def append(self, keys, values):
        if keys.size(2) > self.max_len - self.length:
            raise ValueError("no room")
        new = torch.cat((keys, values), dim=-1)
        self.kv = new if self.kv is None else torch.cat((self.kv, new), dim=-2)
        return torch.tensor_split(self.kv, 2, dim=-1)

    def crop(self, length):
        if length < 0 or self.length < length:
            raise ValueError("cannot crop")
        if self.kv is not None:
            self.kv = self.kv.narrow(2, 0, length)


# %% wrong_axis_of_heads: concatenates along axis 1, as for (B, S, H, d)
# kind: mistake
# breaks: shapes, values

import torch


class KVCache:
    def __init__(self, max_len):
        self.max_len = max_len
        self.k = self.v = None
        self.length = 0

    def append(self, keys, values):
        T = keys.size(2)
        if self.length + T > self.max_len:
            raise ValueError("cache is full")
        self.k = keys if self.k is None else torch.cat([self.k, keys], dim=1)
        self.v = values if self.v is None else torch.cat([self.v, values], dim=1)
        self.length += T
        return self.k, self.v

    def crop(self, length):
        if length < 0 or length > self.length:
            raise ValueError("bad length")
        if self.k is not None:
            self.k, self.v = self.k[:, :length], self.v[:, :length]
        self.length = length


# %% wrong_no_limit: grows without an end
# kind: mistake
# breaks: shapes, values
# equals: kv-never-full

import torch


class KVCache:
    def __init__(self, max_len):
        self.max_len = max_len
        self.keys, self.values = [], []

    @property
    def length(self):
        return sum(k.shape[2] for k in self.keys)

    def append(self, keys, values):
        self.keys.append(keys)
        self.values.append(values)
        return torch.cat(self.keys, 2), torch.cat(self.values, 2)

    def crop(self, length):
        if length < 0 or length > self.length:
            raise ValueError("bad length")
        if self.keys:
            k, v = torch.cat(self.keys, 2), torch.cat(self.values, 2)
            self.keys, self.values = [k[:, :, :length]], [v[:, :, :length]]


# %% wrong_new_steps_only: the new keys and values are returned, not all
# kind: mistake
# breaks: shapes, values
# equals: kv-returns-new-steps

import torch


class KVCache:
    def __init__(self, max_len):
        self.max_len = max_len
        self.length = 0
        self.k, self.v = None, None

    def append(self, keys, values):
        B, H, T, d = keys.shape
        if self.length + T > self.max_len:
            raise ValueError("the cache is full")
        if self.k is None:
            self.k = torch.zeros(B, H, self.max_len, d, dtype=keys.dtype, device=keys.device)
            self.v = torch.zeros_like(self.k)
        self.k[:, :, self.length : self.length + T] = keys
        self.v[:, :, self.length : self.length + T] = values
        self.length += T
        return self.k[:, :, self.length - T : self.length], self.v[:, :, self.length - T : self.length]

    def crop(self, length):
        if length < 0 or length > self.length:
            raise ValueError("bad length")
        self.length = length


# %% wrong_whole_buffer: the whole buffer is returned, with the empty rest
# kind: mistake
# breaks: purity, shapes, values
# equals: kv-returns-the-room

import torch


class KVCache:
    def __init__(self, max_len):
        self.max_len = max_len
        self.length = 0
        self.buffers = None

    def append(self, keys, values):
        B, H, T, d = keys.shape
        end = self.length + T
        if end > self.max_len:
            raise ValueError("full")
        if self.buffers is None:
            self.buffers = keys.new_zeros(B, H, self.max_len, d), values.new_zeros(B, H, self.max_len, d)
        for buffer, new in zip(self.buffers, (keys, values)):
            buffer[:, :, self.length : end] = new
        self.length = end
        return self.buffers

    def crop(self, length):
        if not 0 <= length <= self.length:
            raise ValueError("crop")
        self.length = length


# %% wrong_crop_from_the_front: crop keeps the last steps
# kind: mistake
# breaks: values
# equals: kv-crop-keeps-newest

import torch


class KVCache:
    def __init__(self, max_len):
        self.max_len = max_len
        self.k = None
        self.v = None

    @property
    def length(self):
        return 0 if self.k is None else self.k.size(2)

    def append(self, keys, values):
        if self.length + keys.size(2) > self.max_len:
            raise ValueError("full")
        if self.k is None:
            self.k, self.v = keys, values
        else:
            self.k = torch.cat((self.k, keys), dim=2)
            self.v = torch.cat((self.v, values), dim=2)
        return self.k, self.v

    def crop(self, length):
        if length < 0 or length > self.length:
            raise ValueError("bad length")
        if self.k is not None:
            start = self.length - length
            self.k = self.k[:, :, start:]
            self.v = self.v[:, :, start:]


# %% wrong_crop_forgets_the_values: crop shortens the keys only
# kind: mistake
# breaks: values
# equals: kv-crop-keys-only

import torch


class KVCache:
    def __init__(self, max_len):
        self.max_len = max_len
        self.k = None
        self.v = None

    @property
    def length(self):
        return 0 if self.k is None else self.k.size(2)

    def append(self, keys, values):
        if self.length + keys.size(2) > self.max_len:
            raise ValueError("full")
        self.k = keys if self.k is None else torch.cat((self.k, keys), dim=2)
        self.v = values if self.v is None else torch.cat((self.v, values), dim=2)
        return self.k, self.v

    def crop(self, length):
        if length < 0 or length > self.length:
            raise ValueError("bad length")
        if self.k is not None:
            self.k = self.k[:, :, :length]


# %% wrong_oldest_dropped: drops the oldest steps when it is full, without an error
# kind: different
# breaks: shapes, values

import torch


class KVCache:
    def __init__(self, max_len):
        self.max_len = max_len
        self.k = self.v = None

    @property
    def length(self):
        return 0 if self.k is None else self.k.size(2)

    def append(self, keys, values):
        if self.k is not None:
            keys, values = torch.cat((self.k, keys), 2), torch.cat((self.v, values), 2)
        self.k, self.v = keys[:, :, -self.max_len :], values[:, :, -self.max_len :]
        return self.k, self.v

    def crop(self, length):
        if length < 0 or length > self.length:
            raise ValueError("bad length")
        if self.k is not None:
            self.k, self.v = self.k[:, :, :length], self.v[:, :, :length]


# %% wrong_counts_before_the_check: the length grows before the error is raised
# kind: mistake
# breaks: shapes, values
# equals: kv-counts-before-check

import torch


class KVCache:
    def __init__(self, max_len):
        self.max_len = max_len
        self.length = 0
        self.k, self.v = [], []

    def append(self, keys, values):
        self.length += keys.size(2)
        if self.length > self.max_len:
            raise ValueError(f"{self.length} steps, but only {self.max_len} allowed")
        self.k += keys.split(1, dim=2)
        self.v += values.split(1, dim=2)
        return torch.cat(self.k, dim=2), torch.cat(self.v, dim=2)

    def crop(self, length):
        if length < 0 or length > self.length:
            raise ValueError("bad length")
        self.k, self.v = self.k[:length], self.v[:length]
        self.length = length


# %% wrong_one_step_at_a_time: the counter grows by one for each call
# kind: mistake
# breaks: shapes, values
# equals: kv-length-counts-calls

import torch


class KVCache:
    def __init__(self, max_len):
        self.max_len = max_len
        self.length = 0
        self.k = None
        self.v = None

    def append(self, keys, values):
        if self.length + keys.shape[2] > self.max_len:
            raise ValueError("no room left")
        if self.k is None:
            self.k, self.v = keys, values
        else:
            self.k, self.v = torch.cat((self.k, keys), 2), torch.cat((self.v, values), 2)
        self.length += 1
        return self.k, self.v

    def crop(self, length):
        if length < 0 or length > self.length:
            raise ValueError("bad length")
        if self.k is not None:
            self.k, self.v = self.k[:, :, :length], self.v[:, :, :length]
        self.length = length


# %% wrong_full_one_too_early: >= in the check of the limit
# kind: mistake
# breaks: cost, values
# equals: kv-full-too-early

import torch


class KVCache:
    def __init__(self, max_len):
        self.max_len = max_len
        self.pieces = []
        self.length = 0

    def append(self, keys, values):
        if self.length + keys.size(2) >= self.max_len:
            raise ValueError("full")
        self.pieces.append((keys, values))
        self.length += keys.size(2)
        k, v = zip(*self.pieces)
        return torch.cat(k, dim=2), torch.cat(v, dim=2)

    def crop(self, length):
        if length < 0 or length > self.length:
            raise ValueError("bad length")
        if self.pieces:
            k, v = (torch.cat(x, dim=2)[:, :, :length] for x in zip(*self.pieces))
            self.pieces = [(k, v)]
        self.length = length


# %% wrong_shared_lists: the lists belong to the class, so all caches share them
# kind: mistake
# breaks: cost, purity, shapes, values

import torch


class KVCache:
    keys = []
    values = []

    def __init__(self, max_len):
        self.max_len = max_len

    @property
    def length(self):
        return sum(k.size(2) for k in self.keys)

    def append(self, keys, values):
        if self.length + keys.size(2) > self.max_len:
            raise ValueError("full")
        self.keys.append(keys)
        self.values.append(values)
        return torch.cat(self.keys, dim=2), torch.cat(self.values, dim=2)

    def crop(self, length):
        if length < 0 or length > self.length:
            raise ValueError("bad length")
        if self.keys:
            k, v = torch.cat(self.keys, dim=2), torch.cat(self.values, dim=2)
            self.keys[:] = [k[:, :, :length]]
            self.values[:] = [v[:, :, :length]]


# %% wrong_crop_unchecked: crop slices, and raises nothing
# kind: mistake
# breaks: shapes, values
# equals: kv-crop-slices

import torch


class KVCache:
    def __init__(self, max_len):
        self.max_len = max_len
        self.k = self.v = None

    @property
    def length(self):
        return self.k.size(2) if self.k is not None else 0

    def append(self, keys, values):
        if self.length + keys.size(2) > self.max_len:
            raise ValueError("full")
        if self.k is not None:
            keys = torch.cat([self.k, keys], dim=2)
            values = torch.cat([self.v, values], dim=2)
        self.k, self.v = keys, values
        return keys, values

    def crop(self, length):
        if self.k is not None:
            self.k = self.k[:, :, :length]
            self.v = self.v[:, :, :length]


# %% wrong_keeps_every_past: all earlier concatenations stay in a history
# kind: mistake
# breaks: cost
# equals: kv-keeps-all-results

import torch


class KVCache:
    def __init__(self, max_len):
        self.max_len = max_len
        self.history = []  # history[-1] is the newest state

    @property
    def length(self):
        return self.history[-1][0].size(2) if self.history else 0

    def append(self, keys, values):
        if self.length + keys.size(2) > self.max_len:
            raise ValueError("full")
        if self.history:
            old_k, old_v = self.history[-1]
            self.history.append((torch.cat((old_k, keys), 2), torch.cat((old_v, values), 2)))
        else:
            self.history.append((keys, values))
        return self.history[-1]

    def crop(self, length):
        if length < 0 or length > self.length:
            raise ValueError("bad length")
        if self.history:
            k, v = self.history[-1]
            self.history.append((k[:, :, :length], v[:, :, :length]))


# %% wrong_front_and_unchecked: new steps in front of the old ones, and no limit
# kind: mistake
# breaks: shapes, values

import torch


class KVCache:
    def __init__(self, max_len):
        self.max_len = max_len
        self.k = self.v = None

    @property
    def length(self):
        return self.k.size(2) if self.k is not None else 0

    def append(self, keys, values):
        if self.k is None:
            self.k, self.v = keys, values
        else:
            self.k = torch.cat((keys, self.k), dim=2)
            self.v = torch.cat((values, self.v), dim=2)
        return self.k, self.v

    def crop(self, length):
        if length < 0 or length > self.length:
            raise ValueError("bad length")
        if self.k is not None:
            self.k = self.k[:, :, :length]
            self.v = self.v[:, :, :length]


# %% wrong_float32_buffer: the buffers are float32 whatever comes
# kind: policy
# later: precision

import torch


class KVCache:
    def __init__(self, max_len):
        self.max_len = max_len
        self.length = 0
        self.k = self.v = None

    def append(self, keys, values):
        B, H, T, d = keys.shape
        if self.length + T > self.max_len:
            raise ValueError("no room")
        if self.k is None:
            self.k = torch.zeros(B, H, self.max_len, d, device=keys.device)
            self.v = torch.zeros(B, H, self.max_len, d, device=keys.device)
        self.k[:, :, self.length : self.length + T] = keys
        self.v[:, :, self.length : self.length + T] = values
        self.length += T
        return self.k[:, :, : self.length], self.v[:, :, : self.length]

    def crop(self, length):
        if length < 0 or length > self.length:
            raise ValueError("bad length")
        self.length = length


# %% wrong_part_stored: stores step by step, and fails in the middle
# kind: mistake
# breaks: shapes, values
# equals: kv-half-written

import torch


class KVCache:
    def __init__(self, max_len):
        self.max_len = max_len
        self.k, self.v = [], []

    @property
    def length(self):
        return len(self.k)

    def append(self, keys, values):
        for t in range(keys.size(2)):
            if len(self.k) == self.max_len:
                raise ValueError("the cache is full")
            self.k.append(keys[:, :, t])
            self.v.append(values[:, :, t])
        return torch.stack(self.k, dim=2), torch.stack(self.v, dim=2)

    def crop(self, length):
        if length < 0 or length > len(self.k):
            raise ValueError("bad length")
        self.k, self.v = self.k[:length], self.v[:length]


# %% wrong_crop_cuts_the_list: crop cuts the list of what was appended, whose entries have several steps
# kind: mistake
# breaks: values
# equals: kv-crop-cuts-pieces

import torch


class KVCache:
    def __init__(self, max_len):
        self.max_len = max_len
        self.keys, self.values = [], []

    @property
    def length(self):
        return sum(piece.size(2) for piece in self.keys)

    def append(self, keys, values):
        if self.length + keys.size(2) > self.max_len:
            raise ValueError("the cache is full")
        self.keys.append(keys)
        self.values.append(values)
        return torch.cat(self.keys, 2), torch.cat(self.values, 2)

    def crop(self, length):
        if not 0 <= length <= self.length:
            raise ValueError("no such length")
        self.keys, self.values = self.keys[:length], self.values[:length]


# %% wrong_crop_sets_the_number: crop sets the length, and the tensors stay as they are
# kind: mistake
# breaks: values
# equals: kv-crop-number-only

import torch


class KVCache:
    def __init__(self, max_len):
        self.max_len = max_len
        self.length = 0
        self.k = self.v = None

    def append(self, keys, values):
        n = self.length + keys.size(2)
        if n > self.max_len:
            raise ValueError("the cache is full")
        self.k = keys if self.k is None else torch.cat((self.k, keys), 2)
        self.v = values if self.v is None else torch.cat((self.v, values), 2)
        self.length = n
        return self.k, self.v

    def crop(self, length):
        if length < 0 or length > self.length:
            raise ValueError("no such length")
        self.length = length
