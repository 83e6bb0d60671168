"""Answers to catches_mixed_up that still have a fault. They must fail; a student reads nothing about them."""

from grader.authoring import edit, mutant

MUTANTS = [
    mutant(
        "catches-mixed-up-only-crashes",
        edit("any(gradient is None for gradient in gradients)", "False"),
        says="layers without a part are not seen",
    ),
    mutant(
        "catches-mixed-up-no-guard",
        edit("except Exception", "except ZeroDivisionError"),
        says="an error of the module is an error of the test",
    ),
    mutant(
        "catches-mixed-up-one-size",
        edit("randn(2, 5, key_size)", "randn(2, 5, query_size)"),
        says="sound modules of several sizes are rejected",
    ),
    mutant(
        "catches-mixed-up-in-training",
        edit("attention.eval()", "attention.train()"),
        says="dropout is taken for a fault",
    ),
]
