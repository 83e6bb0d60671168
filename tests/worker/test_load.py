"""The statements of a submission run one by one, so one that fails does not stop the others.

Also which definitions are replaced, and what a submission may import. A unit is one file or cell. A withheld block is
a building block that the exercise may not use. The book is Dive into Deep Learning.
"""

import pytest
import torch

from grader.given import BLOCKS, source
from grader.worker import main
from grader.worker.load import Files, load

GIVEN = {name: source(name) for name in ("masked_softmax", "Encoder", "Decoder", "AttentionDecoder")}


def run(*sources, **options):
    units = [
        {"name": f"a.ipynb cell {i}" if len(sources) > 1 else "a.py", "source": s}
        for i, s in enumerate(sources, 1)
    ]
    return load(Files(units=units, given=options.pop("given", GIVEN), **options))


def note(loaded):
    """Return the only note."""
    (only,) = loaded.notes
    return only


def test_a_statement_that_raises_is_noted_and_the_rest_runs():
    loaded = run("x = 1\n\ny = 1 / 0\n\ndef f(): return x\n")
    assert loaded.names["f"]() == 1
    assert (note(loaded)["line"], note(loaded)["file"]) == (3, "a.py")
    assert note(loaded)["error"] == {
        "type": "ZeroDivisionError",
        "message": "division by zero",
        "where": {"file": "a.py", "line": 3, "text": "y = 1 / 0", "in": "<module>", "shapes": {}},
    }


@pytest.mark.parametrize(
    "statement",
    [
        "raise SystemExit",
        "exit()",
        "raise KeyboardInterrupt",
        "raise GeneratorExit",
        "import nowhere",
        "assert False",
        "return",
        "await x",
        "x: int = y",
        "def f(a, a): ...",
    ],
)
def test_the_next_statement_runs_after_any_exception(statement):
    loaded = run(f"{statement}\nafter = 1")
    assert loaded.names["after"] == 1
    assert "error" in note(loaded)


def test_names_that_a_failed_statement_would_define_are_noted():
    assert note(run("class A(nn.Module): ..."))["defines"] == ["A"]
    assert note(run("from nowhere import a, b as c"))["defines"] == ["a", "c"]
    assert note(run("d = e = nothing"))["defines"] == ["d", "e"]


def test_a_unit_that_does_not_parse_is_noted_and_others_run():
    loaded = run("x = 1\ny = = 2", "z = 3")
    assert "x" not in loaded.names
    assert loaded.names["z"] == 3
    assert (note(loaded)["whole"], note(loaded)["line"]) == (True, 2)
    assert note(loaded)["error"]["type"] == "SyntaxError"
    assert note(loaded)["error"]["where"]["text"] == "y = = 2"


@pytest.mark.parametrize("source", ["x\0", "x = '\ud800'", "(" * 5000, "-" * 100_000 + "1"])
def test_source_that_cannot_be_read_is_noted(source):
    loaded = run(source, "z = 3")
    assert loaded.names["z"] == 3
    assert note(loaded)["whole"]


def test_a_statement_is_skipped_if_one_of_its_lines_timed_out():
    source = "x = 1\nwhile True:\n    x += 1\n    x -= 1\ny = 2"
    loaded = run("z = 1\n\n\nz = 3", source, skip={("a.ipynb cell 2", 4)})
    assert [loaded.names[name] for name in "xyz"] == [1, 2, 3]
    assert note(loaded) == {"file": "a.ipynb cell 2", "line": 2, "endless": True}


def test_a_future_import_holds_for_the_whole_unit_and_no_other():
    loaded = run("from __future__ import annotations\ndef f(x: Nowhere): ...", "def g(x: Nowhere): ...")
    assert loaded.names["f"].__annotations__ == {"x": "Nowhere"}
    assert note(loaded)["defines"] == ["g"]
    assert run("def f(x: int): ...").names["f"].__annotations__ == {"x": int}  # the grader's own do not count


def test_source_can_be_inspected_and_shown_also_after_a_form_feed():
    loaded = run("import inspect\n\ndef f(x):\n    return x + 1\n\ntext = inspect.getsource(f)")
    assert loaded.names["text"] == "def f(x):\n    return x + 1\n"
    assert note(run("x = 1\n\x0c\ny = 1 / 0\n"))["error"]["where"]["text"] == "y = 1 / 0"


# ---- replaced definitions


REPLACE = {"masked_softmax": "masked_softmax"}


@pytest.mark.parametrize(
    "source",
    [
        "def masked_softmax(X, valid_lens):\n    return 'mine'\n\ndef f(X):\n    return masked_softmax(X, None)\n",
        "from math import pi, sqrt as masked_softmax\ndef f(X):\n    assert pi > 3\n    return masked_softmax(X, None)",
        "masked_softmax = 5\ndef f(X):\n    return masked_softmax(X, None)",
    ],
)
def test_a_definition_is_replaced_by_its_building_block(source):
    f = run(source, replace=REPLACE).names["f"]
    assert torch.equal(f(torch.zeros(1, 1, 2)), torch.full((1, 1, 2), 0.5))


def test_a_block_takes_the_keywords_of_the_definition_it_replaces():
    keywords = {"softmax": {"lens": "valid_lens"}, "Coder": {"more": "extra"}}
    source = "def softmax(X, lens): ...\nx = softmax(X=torch.zeros(1, 1, 2), lens=None)\nclass Coder: ...\n"
    names = run(
        "import torch\n" + source,
        replace={"softmax": "masked_softmax", "Coder": "Encoder"},
        keywords=keywords,
        keep=["x"],
    ).names
    assert torch.equal(names["x"], torch.full((1, 1, 2), 0.5))
    assert names["Coder"].__name__ == "Encoder"
    assert isinstance(names["Coder"](), torch.nn.Module)


# ---- what may be imported


def test_allowed_blocks_can_be_imported_from_grader_and_the_book():
    for line in (
        "from grader.given import masked_softmax",
        "from grader import given\nmasked_softmax = given.masked_softmax",
        "from d2l import torch as d2l\nmasked_softmax = d2l.masked_softmax",
        "import d2l.torch\nmasked_softmax = d2l.torch.masked_softmax",
        "import d2lzh_pytorch as d2l\nmasked_softmax = d2l.masked_softmax",
        "from d2l.torch import masked_softmax",
    ):
        loaded = run(f"{line}\ny = masked_softmax(__import__('torch').zeros(1, 1, 2), None).tolist()")
        assert loaded.notes == [], line
        assert loaded.names["y"] == [[[0.5, 0.5]]]


def test_the_books_base_classes_loggers_and_functions_of_torch_are_there():
    loaded = run(
        "from d2l import torch as d2l\n"
        "class E(d2l.Encoder):\n    def forward(self, x): return x\n"
        "class D(d2l.AttentionDecoder): ...\n"
        "d2l.logger('x').anything\nd2l.logger.info('x')\nlog = d2l.Logger(1, a=2)\nlog.info('x')\nlog.a.b.c('x')\n"
        "x = d2l.ones((2, 3))\ny = d2l.concat([x, d2l.zeros_like(x)], 1)\n"
        "z = d2l.size(y), d2l.reduce_sum(y, 1), d2l.reshape(x, (3, 2))",
        keep=["z"],
    )
    assert loaded.notes == []
    size, sums, reshaped = loaded.names["z"]
    assert (size, sums.tolist(), reshaped.shape) == (12, [3, 3], (3, 2))


def test_a_file_of_parts_imports_the_students_own():
    earlier = {"units": [{"name": "05.py", "source": "def masked_softmax(): return 'mine'\n"}]}
    text = "from grader.given import masked_softmax\n"
    loaded = run(text, parts=[earlier | {"names": {"masked_softmax": "masked_softmax"}}])
    assert loaded.names["masked_softmax"]() == "mine"
    assert run(text).names["masked_softmax"].__module__.startswith("grader.given")


def test_parts_of_the_book_that_are_missing_raise_a_sentence():
    error = note(run("from d2l import torch as d2l\nd2l.plot([1])"))["error"]
    assert (error["type"], error["message"]) == (
        "AttributeError",
        "d2l.torch.plot is not available: the grader offers only this course's blocks, and some names of torch",
    )


@pytest.mark.parametrize("other", ["mxnet", "tensorflow", "jax", "paddle"])
def test_another_framework_raises_one_sentence(other):
    error = note(run(f"from d2l import {other} as d2l\nd2l.masked_softmax"))["error"]
    assert (error["type"], error["message"]) == (
        "ImportError",
        f"d2l.{other} is not available: these exercises are graded in PyTorch only",
    )


def test_a_withheld_block_can_be_imported_but_not_used():
    withheld = [name for name in BLOCKS if name not in GIVEN]
    loaded = run(
        "from grader.given import MultiHeadAttention\nx = 1\nMultiHeadAttention(1)\nclass A(MultiHeadAttention): ...\nMultiHeadAttention.forward",
        withheld=withheld,
    )
    assert [n["line"] for n in loaded.notes] == [3, 4, 5]
    assert all(
        n["error"]["message"] == "MultiHeadAttention is not among the building blocks of this exercise"
        for n in loaded.notes
    )


def test_a_withheld_block_does_not_replace_a_definition():
    """A file of several lessons may define a name in one lesson and import it in another."""
    loaded = run(
        "def masked_softmax(X, valid_lens): return X\n"
        "from grader.given import masked_softmax, transpose_qkv\n"
        "from d2l.torch import masked_softmax",
        given={},
        withheld=["masked_softmax", "transpose_qkv"],
    )
    assert loaded.names["masked_softmax"](1, None) == 1
    with pytest.raises(NameError, match="transpose_qkv is not among the building blocks"):
        loaded.names["transpose_qkv"](1, 2)


def test_an_import_works_beside_a_value_that_refuses_attributes():
    loaded = run(
        "import weakref\nclass A: pass\ngone = weakref.proxy(A())\nfrom math import pi\nfrom grader.given import masked_softmax"
    )
    assert loaded.notes == []
    assert loaded.names["pi"] > 3


def test_modules_of_the_previous_submission_are_removed():
    run("from grader.given import masked_softmax\nimport submission\nsubmission.left = 1")
    loaded = run(
        "import grader.given._masked_softmax",
        "import submission\nx = submission.left",
        "from grader.given import masked_softmax",
        given={},
        withheld=[],
    )
    errors = [note["error"]["type"] for note in loaded.notes]
    assert errors == ["ModuleNotFoundError", "AttributeError", "ImportError"]


def test_a_call_of_the_grader_from_a_submission_does_nothing():
    assert run("import grader\nx = grader.check('masked_softmax')").names["x"] == 0.0


def test_a_submission_can_be_pickled_by_its_classes():
    loaded = run("import pickle\nclass A: ...\nb = pickle.loads(pickle.dumps(A()))", keep=["b"])
    assert isinstance(loaded.names["b"], loaded.names["A"])


def test_a_file_beside_another_is_loaded_as_a_submission_of_its_own():
    unit = {
        "name": "b.py",
        "source": "b = 2",
        "modules": ["b"],
    }  # has fields that no other unit has
    assert main._load({"units": [unit], "given": {}}).names["b"] == 2
