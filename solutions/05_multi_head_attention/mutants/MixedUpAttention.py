"""Answers to MixedUpAttention that still have a fault. They must fail; a student reads nothing about them."""

from grader.authoring import edit, mutant

MUTANTS = [
    mutant(
        "mixedup-only-renamed",
        edit("self.W_k(keys)", "self.W_q(keys)"),
        edit("self.W_v(values)", "self.W_q(values)"),
        edit("if valid_lens is not None", "if vaild_lens is not None"),
        edit("repeat_interleave(valid_lens", "repeat_interleave(vaild_lens"),
        edit("output", "out", times=3),
        says="every fault is still there",
    ),
    mutant(
        "mixedup-keys-left",
        edit("self.W_k(keys)", "self.W_q(keys)"),
        says="keys still go through the query layer",
    ),
    mutant(
        "mixedup-values-left",
        edit("self.W_v(values)", "self.W_q(values)"),
        says="values still go through the query layer",
    ),
    mutant(
        "mixedup-layers-left",
        edit("self.W_k(keys)", "self.W_q(keys)"),
        edit("self.W_v(values)", "self.W_q(values)"),
        says="all three still go through the query layer",
    ),
    mutant(
        "mixedup-values-through-wk",
        edit("self.W_v(values)", "self.W_k(values)"),
        says="values go through the key layer",
    ),
    mutant(
        "mixedup-layers-exchanged",
        edit("self.W_k(keys)", "self.W_v(keys)"),
        edit("self.W_v(values)", "self.W_k(values)"),
        says="the layers for keys and values are exchanged",
    ),
    mutant(
        "mixedup-name-left",
        edit("if valid_lens is not None", "if vaild_lens is not None"),
        edit("repeat_interleave(valid_lens", "repeat_interleave(vaild_lens"),
        says="the name is still misspelt",
    ),
    mutant(
        "mixedup-mask-gone",
        edit("keys, values, valid_lens)", "keys, values, None)"),
        says="the lengths are not passed to the attention",
    ),
    mutant(
        "mixedup-none-made",
        edit("if valid_lens is not None", "if vaild_lens is not None"),
        edit("repeat_interleave(valid_lens", "repeat_interleave(vaild_lens"),
        edit(
            "queries = tr",
            """
            vaild_lens = valid_lens = None
            queries = tr
            """,
        ),
        says="the misspelt name is always None",
    ),
    mutant(
        "mixedup-lens-tiled",
        edit(
            "torch.repeat_interleave(valid_lens, repeats=self.num_heads, dim=0)",
            "torch.cat([valid_lens] * self.num_heads)",
        ),
        says="the lengths are repeated as a whole",
    ),
    mutant(
        "mixedup-no-axis",
        edit(", dim=0)", ")"),
        says="the lengths are repeated on all axes",
    ),
]
