"""Known mistakes in interleaved_to_half; their pages are in interleaved_to_half.md."""

from grader.authoring import edit, mistake

PAIRS = "pairs = weight.unflatten(0, (num_heads, -1, 2))"
RETURN = "return pairs.transpose(1, 2).flatten(0, 2)"

MISTAKES = [
    mistake(
        "perm-inverse",
        edit(PAIRS, "pairs = weight.unflatten(0, (num_heads, 2, -1))"),
        says="the rows are permuted the other way: from halves to neighbours",
        asks="Where should the second row of a head be after the permutation?",
    ),
    mistake(
        "perm-over-all-heads",
        edit(PAIRS, "pairs = weight.unflatten(0, (1, -1, 2))"),
        says="the rows of all heads are permuted together, so heads are mixed",
        asks="Which rows belong to the first head before and after?",
    ),
    mistake(
        "perm-columns",
        edit(PAIRS, "pairs = weight"),
        edit(RETURN, "return torch.cat([pairs[:, 0::2], pairs[:, 1::2]], dim=1)"),
        says="the columns are permuted instead of the rows",
        asks="Is a row of the weight for one output feature or for one input feature?",
    ),
    mistake(
        "perm-second-first",
        edit(RETURN, "return pairs.flip(2).transpose(1, 2).flatten(0, 2)"),
        says="the second members of the pairs come before the first ones",
        asks="Which member of the first pair should be row 0?",
    ),
    mistake(
        "perm-reversed",
        edit(RETURN, "return pairs.flip(1).transpose(1, 2).flatten(0, 2)"),
        says="the pairs are in the opposite order",
        asks="Which pair should come first in each half?",
    ),
    mistake(
        "perm-exchanged-only",
        edit(RETURN, "return pairs.flip(2).flatten(0, 2)"),
        says="the two rows of each pair are exchanged, and stay next to each other",
        asks="How far apart should the two rows of a pair be?",
    ),
    mistake(
        "perm-in-place",
        edit(RETURN, "weight.copy_(pairs.transpose(1, 2).flatten(0, 2))\n    return weight"),
        says="the argument is overwritten",
        asks="Does the caller still have the old weight after the call?",
    ),
    mistake(
        "perm-heads-innermost",
        edit(PAIRS, "pairs = weight.unflatten(0, (-1, 2, num_heads))"),
        edit(RETURN, "return pairs.permute(2, 1, 0, 3).flatten(0, 2)"),
        says="the rows are read as if the heads alternated from row to row",
        asks="Which rows belong to the first head?",
    ),
    mistake(
        "perm-heads-for-size",
        edit(PAIRS, "blocks = weight.split(num_heads)"),
        edit(RETURN, "return torch.cat([part for block in blocks for part in (block[0::2], block[1::2])])"),
        says="the number of heads is taken for the size of a head",
        asks="How many rows has one head?",
    ),
]
