"""Answers to MixedRotary that still have a fault. They must fail; a student reads nothing about them."""

from grader.authoring import edit, mutant

TABLE = "angles = angles.repeat_interleave(2, dim=-1)"
CROSSED = "crossed = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)"

MUTANTS = [
    mutant(
        "mixedrotary-only-renamed",
        edit(TABLE, "angles = angles.repeat(1, 2)"),
        edit("crossed", "other", times=2),
        says="nothing is repaired",
    ),
    mutant(
        "mixedrotary-halves",
        edit(TABLE, "angles = angles.repeat(1, 2)"),
        edit(
            CROSSED,
            "first, second = x.chunk(2, dim=-1)\n        crossed = torch.cat([-second, first], dim=-1)",
        ),
        says="both are halves now",
    ),
    mutant(
        "mixedrotary-no-minus", edit("-x[..., 1::2]", "x[..., 1::2]"), says="a sine has lost its minus sign"
    ),
    mutant(
        "mixedrotary-backwards",
        edit("-x[..., 1::2], x[..., 0::2]", "x[..., 1::2], -x[..., 0::2]"),
        says="it turns backwards",
    ),
    mutant(
        "mixedrotary-exchanged",
        edit("-x[..., 1::2], x[..., 0::2]", "x[..., 0::2], -x[..., 1::2]"),
        says="the features are not crossed",
    ),
    mutant(
        "mixedrotary-counts",
        edit("self.cos[positions], self.sin[positions]", "self.cos[: x.shape[2]], self.sin[: x.shape[2]]"),
        says="the positions are ignored",
    ),
    mutant("mixedrotary-base", edit("speeds = base **", "speeds = 10000.0 **"), says="the base is ignored"),
    mutant(
        "mixedrotary-table-short",
        edit("torch.arange(max_len)[:, None]", "torch.arange(max_len // 2)[:, None]"),
        says="the table is too short",
    ),
]
