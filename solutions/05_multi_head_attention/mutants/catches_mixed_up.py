"""Answers to catches_mixed_up that still have a fault. They must fail; a student reads nothing about them."""

from grader.authoring import edit, mutant

MUTANTS = [
    mutant(
        "catches-mixed-up-only-crashes",
        edit("any(gradient is None for gradient in gradients)", "False"),
        says="a layer that is never used is not found",
    ),
    mutant(
        "catches-mixed-up-no-guard",
        edit("except Exception", "except ZeroDivisionError"),
        says="an error of the module ends the test",
    ),
    mutant(
        "catches-mixed-up-one-size",
        edit("randn(2, 5, key_size)", "randn(2, 5, query_size)"),
        says="correct modules with different input sizes are rejected",
    ),
    mutant(
        "catches-mixed-up-in-training",
        edit("attention.eval()", "attention.train()"),
        says="dropout is taken for a fault",
    ),
    mutant(
        "catches-mixed-up-no-padding",
        edit("not torch.allclose(attention(queries, keys, values, valid_lens), output, atol=1e-4)", "False"),
        says="lengths that come from a variable of the notebook are not found",
    ),
]
