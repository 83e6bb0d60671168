"""Answers to catches_transparent that still have a fault. They must fail; a student reads nothing about them."""

from grader.authoring import edit, mutant

MUTANTS = [
    mutant(
        "catches-transparent-in-training",
        edit("attention.eval()", "attention.train()"),
        says="dropout is taken for a fault",
    ),
    mutant(
        "catches-transparent-heads-late",
        edit("torch.cat(heads, dim=-1)", "torch.stack(heads, dim=-1).flatten(2)"),
        says="the heads are interleaved, so correct modules are rejected",
    ),
    mutant(
        "catches-transparent-no-output-layer",
        edit("attention.fc_out(torch.cat(heads, dim=-1))", "torch.cat(heads, dim=-1)"),
        says="the output layer is left out, so correct modules are rejected",
    ),
    mutant(
        "catches-transparent-inverted",
        edit("return True", "return bool(0)", times=2),
        edit("return not", "return"),
        says="True and False are exchanged",
    ),
    mutant(
        "catches-transparent-no-sums",
        edit("not torch.allclose(row_sums, torch.ones_like(row_sums), atol=close)", "False"),
        says="weights that are returned after dropout are not found",
    ),
    mutant(
        "catches-transparent-no-future",
        edit("weights.triu(diagonal=1).any()", "False"),
        says="a missing mask is not found",
    ),
    mutant(
        "catches-transparent-no-merge",
        edit("not torch.allclose(output, expected, atol=close)", "False"),
        says="heads that are joined without moving the head axis back are not found",
    ),
]
