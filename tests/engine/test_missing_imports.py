"""Imports that fail: the grader uses a building block or a file beside the submitted one, or reports one sentence.

Also code that needs a GPU, on a machine without one.
"""

from __future__ import annotations

import pytest

from grader.intake.neighbours import MAX_NEIGHBOURS, with_neighbours
from grader.intake.read import read_submission

HEAD = "import math\nimport torch\nfrom torch import nn\n"
SOFTMAX = """
def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return X.softmax(-1)
    lens = valid_lens[:, None] if valid_lens.dim() == 1 else valid_lens
    keep = torch.arange(X.shape[-1], device=X.device) < lens[:, :, None]
    return X.masked_fill(~keep, -torch.inf).softmax(-1)
"""
BODY = """
class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, lens=None):
        self.attention_weights = {softmax}(q @ k.transpose(1, 2) / math.sqrt(q.shape[-1]), lens)
        return self.dropout(self.attention_weights) @ v
"""
NAME = "DotProductAttention"


POSITIONS = (
    HEAD
    + """
SCALE = torch.ones(1).cuda()

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        angles = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(0, num_hiddens, 2) / num_hiddens)
        self.table = torch.zeros(max_len, num_hiddens)
        self.table[:, 0::2] = angles.sin()
        self.table[:, 1::2] = angles.cos()
        self.table *= SCALE

    def forward(self, X):
        return self.dropout(X + self.table[: X.shape[1]])
"""
)


def dot(imports, softmax="masked_softmax"):
    return HEAD + imports + BODY.format(softmax=softmax)


@pytest.fixture
def foreign(engine):
    """Return an engine for a file that was not written for the course, as `--file` names it."""
    return engine.with_options(foreign=True)


def graded(engine, folder, source, files=(), name=NAME):
    """Write `source` beside `files` (path → text) and grade it. Return the result and the report."""
    folder.mkdir(exist_ok=True)
    for path, text in dict(files).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    (folder / "answer.py").write_text(source)
    report = engine.grade(with_neighbours(read_submission(folder / "answer.py")), [name])
    return report.exercises[0], report


@pytest.mark.parametrize(
    "imports", ["from masks import masked_softmax\n", "from .masks import masked_softmax\n"]
)
def test_the_reference_replaces_a_block_of_a_missing_module(grade_one, imports):
    result = grade_one(dot(imports), NAME)
    assert result.outcome == "passed"
    assert "`masks` cannot be imported here, so the reference masked_softmax was used" in result.remarks


@pytest.mark.parametrize(
    ("imports", "softmax", "file"),
    [
        ("from masks import soft\n", "soft", "masks.py"),
        ("from .masks import soft as s\n", "s", "masks.py"),
        ("import masks as m\n", "m.soft", "masks.py"),
        ("import masks\n", "masks.soft", "masks.py"),
        ("from . import masks\n", "masks.soft", "masks.py"),
        ("from masks import *\n", "soft", "masks.py"),
        ("from lib.masks import soft\n", "soft", "lib/masks.py"),
        ("from project.lib.masks import soft\n", "soft", "lib/masks.py"),
        ("from lib import masks\n", "masks.soft", "lib/masks.py"),
        ("from lib import soft\n", "soft", "lib/__init__.py"),
        ("from soft import soft\n", "soft", "soft.py"),
    ],
)
def test_a_neighbouring_file_is_part_of_the_submission(foreign, tmp_path, imports, softmax, file):
    own = HEAD + SOFTMAX.replace("masked_softmax", "soft")
    result, report = graded(foreign, tmp_path, dot(imports, softmax), {file: own})
    assert result.outcome == "passed"
    assert f"a file beside this one was used too: {file}" in report.remarks


def test_neighbours_import_one_another_and_their_lines_are_named(foreign, tmp_path):
    files = {
        "a.py": "from b import inner\ndef soft(X, lens):\n    return inner(X, lens)\n",
        "b.py": "from a import soft\ndef inner(X, lens):\n    return X.no_such_method()\n",
    }
    result, _report = graded(foreign, tmp_path, dot("from a import soft\n", "soft"), files)
    assert result.outcome == "failed"
    assert any(check.where.startswith("b.py, line 3") for check in result.checks)


def test_neither_links_nor_outside_files_nor_frameworks_are_read(tmp_path):
    outside = tmp_path / "outside"
    inside = tmp_path / "inside"
    (inside / "sub").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret.py").write_text("x = 1\n")
    (inside / "linked.py").symlink_to(outside / "secret.py")
    (inside / "folder").symlink_to(outside)
    (inside / "near.py").symlink_to(inside / "plain.py")
    (inside / "plain.py").write_text("x = 1\n")
    (inside / "tensorflow.py").write_text("x = 1\n")
    names = ["tensorflow", "linked", "folder.secret", "..outside.secret", "near", "plain", "answer"]
    lines = [f"from {name} import x\n" for name in names]
    (inside / "answer.py").write_text("".join(lines))
    found = with_neighbours(read_submission(inside / "answer.py"))
    assert [file.name for file in found.neighbours] == ["plain.py"]


def test_the_number_and_the_size_of_neighbours_are_bounded(tmp_path):
    for i in range(MAX_NEIGHBOURS + 5):
        (tmp_path / f"m{i}.py").write_text(f"x = {i}\n")
    (tmp_path / "answer.py").write_text("".join(f"import m{i}\n" for i in range(MAX_NEIGHBOURS + 5)))
    assert len(with_neighbours(read_submission(tmp_path / "answer.py")).neighbours) == MAX_NEIGHBOURS
    for i in range(3):
        (tmp_path / f"m{i}.py").write_text("#" * 600_000)  # two together exceed MAX_SOURCE_BYTES
    assert len(with_neighbours(read_submission(tmp_path / "answer.py")).neighbours) == 1


@pytest.mark.parametrize("base", ["nn.Module", "Base"])
def test_a_file_from_elsewhere_loses_no_points_for_a_missing_module(foreign, tmp_path, base):
    source = dot("from parts import soft, Base\n", "soft").replace("(nn.Module)", f"({base})")
    result, report = graded(foreign, tmp_path, source)
    assert (result.outcome, result.score) == ("could_not_grade", None)
    assert result.message.endswith(
        "comes from `parts`, which was not submitted: put parts.py beside this file"
    )
    assert report.exit_status == 3


@pytest.fixture(params=["course", "file", "hidden"])
def any_engine(engine, request):
    """Return the engine for a course, for a file from elsewhere, and for hidden cases."""
    return engine.with_options(foreign=request.param == "file", hidden=request.param == "hidden")


IN_ONE_BRANCH = "(masked_softmax if lens is None else soft)"
SOFT = "`soft` comes from `{module}`, which was not submitted: put parts.py beside this file"


@pytest.mark.parametrize(
    ("imports", "module"),
    [
        ("from lib.parts import soft", "lib.parts"),
        ("from .parts import soft", "parts"),
        ("from lib.parts import *", "lib.parts"),
    ],
)
def test_a_missing_name_in_one_branch_is_the_cause(any_engine, tmp_path, imports, module):
    source = dot(f"{imports}\nfrom grader.given import masked_softmax\n", IN_ONE_BRANCH)
    result, report = graded(any_engine, tmp_path, source)
    assert (result.outcome, result.score, report.points) == ("could_not_grade", None, 0)
    everything = (
        "this file imports everything from `{module}`, which was not submitted: put parts.py beside this file"
    )
    hides_the_name = any_engine.options.hidden and "*" in imports
    assert result.message == (everything if hides_the_name else SOFT).format(module=module)


def test_a_block_in_place_of_a_missing_one_may_not_fit(any_engine, tmp_path):
    source = dot("from lib.parts import masked_softmax\n").replace(
        ", lens)\n", ", lens, **({} if lens is None else {'dim': -1}))\n"
    )
    result, _report = graded(any_engine, tmp_path, source)
    assert (result.outcome, result.score, result.message) == (
        "could_not_grade",
        None,
        "`masked_softmax` comes from `lib.parts`, which was not submitted, and the reference masked_softmax is called"
        " differently: put parts.py beside this file",
    )


FORGED = """
import sys
frame = sys._getframe()
while "loaded" not in frame.f_locals:
    frame = frame.f_back
error = {"type": "ModuleNotFoundError", "message": "no module", "where": None}
note = {"file": "answer.py", "line": 1, "defines": ["soft"], "missing": ["soft"], "module": "parts", "error": error}
frame.f_locals["loaded"].notes.append(note)
"""


@pytest.mark.parametrize(
    "imports",
    [
        "from parts import other",
        FORGED,
        "from parts import *\ndef soft(X, lens): return sotf\ndef sotf(): ...\ndel sotf",
    ],
    ids=["another name", "a forged note", "a name that the file defines"],
)
def test_a_name_that_no_failed_import_would_bind_excuses_nothing(any_engine, tmp_path, imports):
    source = dot(f"{imports}\nfrom grader.given import masked_softmax\n", IN_ONE_BRANCH)
    result, _report = graded(any_engine, tmp_path, source)
    assert result.outcome == "failed"
    assert result.score < result.points


def test_a_hidden_case_does_not_choose_which_missing_name_is_shown(engine, tmp_path):
    pick = "(lambda: soft, lambda: other, lambda: third)[{n}]()"
    raised = [dot("from parts import soft, other, third\n", pick.format(n=n)) for n in range(3)]
    hidden = engine.with_options(hidden=True)
    assert {graded(hidden, tmp_path, one)[0].message for one in raised} == {SOFT.format(module="parts")}


def test_a_package_that_is_not_installed_is_named(any_engine, tmp_path):
    source = dot("from wandb import soft\n", "soft")
    result, _report = graded(any_engine, tmp_path, source)
    assert (result.outcome, result.score) == ("could_not_grade", None)
    assert result.message == (
        "the package wandb is not installed here, and `soft` comes from it: install it, or write the code without it"
    )


def test_with_file_code_that_needs_a_gpu_could_not_be_graded(foreign, engine, tmp_path):
    source = dot("", "masked_softmax") + SOFTMAX
    source = source.replace("def __init__", "device = 'cuda'\n    def __init__").replace(
        "(X, valid_lens):\n", "(X, valid_lens):\n    X = X.cuda()\n"
    )
    result, _report = graded(foreign, tmp_path, source, name="masked_softmax")
    assert (result.outcome, result.score) == ("could_not_grade", None)
    assert result.message == "this code needs a GPU, and this machine has none"
    assert graded(engine, tmp_path, source, name="masked_softmax")[0].outcome == "failed"


@pytest.mark.parametrize(
    "top",
    [
        "SCALE = torch.ones(1).cuda()\n",
        "SCALE = torch.ones(1).to(torch.device('cuda'))\n",
        "weights = torch.ones(3).cuda()\nSCALE = weights[:1]\n",
    ],
)
def test_with_file_a_name_that_needs_a_gpu_could_not_be_graded(foreign, engine, tmp_path, top):
    source = dot(top + "from grader.given import masked_softmax\n").replace("@ v", "@ v * SCALE")
    result, _report = graded(foreign, tmp_path, source)
    assert (result.outcome, result.score) == ("could_not_grade", None)
    assert result.message == "this code needs a GPU, and this machine has none"
    assert graded(engine, tmp_path, source)[0].outcome == "failed"


def test_another_failure_of_a_policy_does_not_hide_a_missing_gpu(foreign, tmp_path):
    """An odd number of features raises before the line that needs the GPU."""
    result, _report = graded(foreign, tmp_path, POSITIONS, name="PositionalEncoding")
    assert (result.outcome, result.message) == (
        "could_not_grade",
        "this code needs a GPU, and this machine has none",
    )


def test_a_misspelt_name_fails_although_the_file_needs_a_gpu(foreign, tmp_path):
    source = dot("SCALE = torch.ones(1).cuda()\nfrom grader.given import masked_softmax\n")
    result, _report = graded(foreign, tmp_path, source.replace("@ v", "@ v * SCLAE"))
    assert result.outcome == "failed"


def test_skipped_lines_that_no_exercise_needs_are_one_remark(engine, tmp_path):
    demo = "\nimport no_such_plotter\nplot = no_such_plotter.show\nplot(1)\nplot(2)\n"
    result, report = graded(engine, tmp_path, dot("from grader.given import masked_softmax\n") + demo)
    assert result.outcome == "passed"
    assert result.remarks == ()
    (remark,) = report.remarks
    assert remark == (
        "4 statements need code that is not available here and were skipped;"
        " the first: answer.py, line 15 needs `no_such_plotter`"
    )


TRIED = "try:\n    from .masks import soft\nexcept ImportError:\n    {handler}\n"


@pytest.mark.parametrize("handler", ["from masks import soft", "print('not here')"])
def test_an_import_in_a_try_statement_finds_the_neighbour(foreign, tmp_path, handler):
    files = {"masks.py": HEAD + SOFTMAX.replace("masked_softmax", "soft")}
    source = dot(TRIED.format(handler=handler), "soft")
    assert graded(foreign, tmp_path, source, files)[0].outcome == "passed"
    result, _report = graded(foreign, tmp_path / "alone", source)
    assert (result.outcome, result.message) == (
        "could_not_grade",
        "`soft` comes from `masks`, which was not submitted: put masks.py beside this file",
    )


def test_a_caught_import_keeps_what_its_handler_binds(foreign, tmp_path):
    """The neighbour provides only names that are unbound after the `try` statement."""
    imports = "try:\n    from masks import soft\nexcept ImportError:\n    soft = None\n"
    files = {"masks.py": "def soft(X, lens):\n    raise ValueError\n"}
    source = dot(imports + SOFTMAX, "(soft or masked_softmax)")
    result, _report = graded(foreign, tmp_path, source, files)
    assert result.outcome == "passed"


WRONG = HEAD + SOFTMAX.replace("softmax(-1)", "softmax(1)")


@pytest.mark.parametrize(
    ("imports", "softmax"),
    [("from masks import masked_softmax\n", "masked_softmax"), ("import masks as m\n", "m.masked_softmax")],
)
def test_the_reference_replaces_a_wrong_block_of_a_neighbour(foreign, tmp_path, imports, softmax):
    result, _report = graded(foreign, tmp_path, dot(imports, softmax), {"masks.py": WRONG})
    assert result.outcome == "passed"
    assert (
        "masked_softmax in masks.py has an error; graded with the reference masked_softmax instead"
        in result.remarks
    )


def test_a_neighbour_s_block_may_have_another_order_of_parameters(foreign, tmp_path):
    own = HEAD + SOFTMAX.replace("(X, valid_lens)", "(valid_lens, X)")
    source = dot("from masks import masked_softmax\n").replace(
        "masked_softmax(q @ k.transpose(1, 2) / math.sqrt(q.shape[-1]), lens)",
        "masked_softmax(lens, q @ k.transpose(1, 2) / math.sqrt(q.shape[-1]))",
    )
    assert graded(foreign, tmp_path, source, {"masks.py": own})[0].outcome == "passed"


def test_a_missing_block_that_is_called_differently_costs_nothing(foreign, tmp_path):
    source = dot("from masks import masked_softmax\n").replace(", lens)\n", ", lengths=lens)\n")
    result, _report = graded(foreign, tmp_path, source)
    assert (result.outcome, result.score) == ("could_not_grade", None)
    assert result.message == (
        "`masked_softmax` comes from `masks`, which was not submitted, and the reference masked_softmax is called"
        " differently: put masks.py beside this file"
    )


def test_a_missing_package_that_a_base_class_needs_is_named(foreign, tmp_path):
    source = "import sys\nimport jax\nme = sys.modules[__name__]\nclass Base(jax.Module):\n    pass\n"
    source += BODY.format(softmax="f").replace("(nn.Module)", "(me.Base)")
    result, _report = graded(foreign, tmp_path, source)
    assert (result.outcome, result.score) == ("could_not_grade", None)
    assert result.message == "`jax` comes from jax; these exercises are graded in PyTorch only"


def test_a_neighbour_finds_its_own_module_in_sys_modules(foreign, tmp_path):
    own = HEAD + "import sys\nme = sys.modules[__name__]\ninner = 5\n" + SOFTMAX
    own = own.replace("return X.softmax", "assert me.inner == 5\n        return X.softmax")
    result, _report = graded(
        foreign, tmp_path, dot("import masks\n", "masks.masked_softmax"), {"masks.py": own}
    )
    assert result.outcome == "passed"


def test_a_failed_definition_in_a_neighbour_does_not_count(foreign, tmp_path):
    beside = "def soft(X, lens):\n    return X\nclass DotProductAttention(1 / 0):\n    pass\n"
    result, _report = graded(
        foreign, tmp_path, "from masks import soft\nDotProductAttention: int\n", {"masks.py": beside}
    )
    assert (result.outcome, result.message) == (
        "blocked",
        "DotProductAttention is not defined in answer.py",
    )


def test_the_reference_replaces_a_block_that_could_not_be_graded(foreign, tmp_path):
    softmax = SOFTMAX.replace("return X.masked_fill(~keep, -torch.inf)", "return masked(X, ~keep)")
    source = dot("from elsewhere import masked\n" + softmax)
    result, _report = graded(foreign, tmp_path, source)
    assert result.outcome == "passed"
    assert (
        "your masked_softmax could not be used, see its own report;"
        " graded with the reference masked_softmax instead" in result.remarks
    )


def test_a_wrong_block_that_an_exercise_does_not_use_is_not_named(foreign, tmp_path):
    source = dot("", "(lambda X, lens: 1 / 0)") + WRONG
    result, _report = graded(foreign, tmp_path, source)
    assert result.outcome == "failed"
    assert result.remarks == ()


def test_a_neighbour_s_block_of_another_interface_is_replaced(foreign, tmp_path):
    biased = """
class AdditiveAttention(nn.Module):
    def __init__(self, q_size, k_size, num_hiddens, dropout):
        super().__init__()
        self.W_q, self.W_k = nn.Linear(q_size, num_hiddens), nn.Linear(k_size, num_hiddens)
        self.w_v = nn.Linear(num_hiddens, 1)

    def forward(self, q, k, v, lens):
        return q
"""
    uses = """
from torch import nn
from scoring import AdditiveAttention
class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0):
        super().__init__()
        self.attention = AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens):
        return enc_outputs[0].transpose(0, 1), enc_outputs[1], enc_valid_lens

    def forward(self, X, state):
        keys, hidden, lens = state
        out, self.attention_weights = [], []
        for x in self.embedding(X).transpose(0, 1):
            context = self.attention(hidden[-1][:, None], keys, keys, lens)
            y, hidden = self.rnn(torch.cat([context, x[:, None]], -1).transpose(0, 1), hidden)
            out.append(y)
            self.attention_weights.append(self.attention.attention_weights)
        return self.dense(torch.cat(out)).transpose(0, 1), [keys, hidden, lens]
"""
    name = "Seq2SeqAttentionDecoder"
    files = {"scoring.py": HEAD + biased}
    result, _report = graded(foreign, tmp_path, "import torch\n" + uses, files, name)
    assert result.outcome == "passed"
    assert (
        "AdditiveAttention in scoring.py could not be used; graded with the reference AdditiveAttention instead"
        in result.remarks
    )


def test_a_reference_block_takes_the_keywords_of_the_replaced_block(foreign, tmp_path):
    own = WRONG.replace("(X, valid_lens)", "(X, valid_len)").replace("valid_lens", "valid_len")
    own = own.replace("masked_softmax", "Masked_Softmax")
    source = dot("from masks import Masked_Softmax\n", "Masked_Softmax").replace(
        ", lens)\n", ", valid_len=lens)\n"
    )
    result, _report = graded(foreign, tmp_path, source, {"masks.py": own})
    assert result.outcome == "passed"
    assert any("masked_softmax in masks.py has an error" in remark for remark in result.remarks)


@pytest.mark.parametrize(
    ("module", "used"),
    [
        ("masks", "file"),
        (".masks", "file"),
        ("{folder}.masks", "file"),
        ("src.{folder}.masks", "block"),
        ("library.masks", "block"),
    ],
)
def test_a_file_comes_before_a_block_only_if_the_import_names_it(foreign, tmp_path, module, used):
    imports = f"from {module.format(folder=tmp_path.name)} import masked_softmax\n"
    _result, report = graded(foreign, tmp_path, dot(imports), {"masks.py": HEAD + SOFTMAX})
    assert ("a file beside this one was used too: masks.py" in report.remarks) == (used == "file")
