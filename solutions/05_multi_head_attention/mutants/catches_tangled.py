"""Answers to catches_tangled that still have a fault. They must fail; a student reads nothing about them."""

from grader.authoring import edit, mutant

MUTANTS = [
    mutant(
        "catches-tangled-no-guard",
        edit("except Exception", "except ZeroDivisionError"),
        says="an error of the module ends the test",
    ),
    mutant(
        "catches-tangled-too-strict",
        edit("past = steps // 2", "past = steps // 2 + 1"),
        edit("[:, past:]", "[:, past - 1:]", times=2),
        says="a changed step is compared, so correct modules are rejected",
    ),
    mutant(
        "catches-tangled-all-alike",
        edit("[:, :past]", "", times=2),
        says="the later steps, which may change, are compared, too",
    ),
    mutant(
        "catches-tangled-inverted",
        edit("return True", "return bool(0)", times=3),
        edit("return False", "return True"),
        says="True and False are exchanged",
    ),
    mutant(
        "catches-tangled-only-crashes",
        edit("not torch.isfinite(before).all()", "False"),
        edit("atol=1e-4", "atol=1e-4, equal_nan=True"),
        says="a module that returns NaN is accepted",
    ),
    mutant(
        "catches-tangled-one-length",
        edit("(4, 7)", "(4,)"),
        says="a mask of the size of a head is not found if this is the length of the test's only sequence",
    ),
]
