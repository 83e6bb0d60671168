"""Forbidden calls are found in the source in many spellings, and only in the code of the exercise."""

from pathlib import Path

import pytest

from grader.intake.read import Submission, Unit
from grader.intake.uses import Use, uses

FORBIDS = ("nn.MultiheadAttention", "scaled_dot_product_attention", "nn.Transformer*")


def found(*sources, name="Answer"):
    units = tuple(Unit(f"a.py cell {number}", source) for number, source in enumerate(sources, 1))
    return uses(Submission(Path("a.py"), units), name, FORBIDS)


@pytest.mark.parametrize(
    "source",
    [
        "import torch\ndef Answer(x): return torch.nn.functional.scaled_dot_product_attention(x, x, x)",
        "import torch.nn.functional as F\ndef Answer(x): return F.scaled_dot_product_attention(x, x, x)",
        "from torch.nn import functional\ndef Answer(x): return functional.scaled_dot_product_attention(x, x, x)",
        "from torch.nn.functional import scaled_dot_product_attention as sdpa\ndef Answer(x): return sdpa(x, x, x)",
        "import torch\ndef Answer(x): return torch._C._nn.scaled_dot_product_attention(x, x, x)",
        "import torch\ndef Answer(x): return torch.ops.aten.scaled_dot_product_attention.default(x, x, x)",
        "from torch.nn import functional as F\ndef Answer(x): return getattr(F, 'scaled_dot_product_attention')(x, x, x)",
        "import torch\ndef Answer(x): return getattr(getattr(torch.nn, 'functional'), 'scaled_dot_product_attention')(x)",
        "import torch\nattend = torch.nn.functional.scaled_dot_product_attention\ndef Answer(x): return attend(x, x, x)",
        "import torch\ndef help(x): return torch.nn.functional.scaled_dot_product_attention(x, x, x)\ndef Answer(x): return help(x)",
        "def Answer(x):\n    from torch.nn import functional as F\n    return F.scaled_dot_product_attention(x, x, x)",
    ],
)
def test_a_call_is_found_in_each_of_these_spellings(source):
    assert [use.call for use in found(source)] == ["scaled_dot_product_attention"]


@pytest.mark.parametrize(
    "source",
    [
        "from torch import nn\nclass Answer(nn.TransformerEncoderLayer): pass",
        "from torch import nn\nBase = nn.Transformer\nclass Answer(Base): pass",
        "from torch.nn.modules.transformer import TransformerEncoder as E\nclass Answer:\n    def __init__(self): self.e = E(1, 1)",
    ],
)
def test_a_star_stands_for_any_end(source):
    assert [use.call for use in found(source)] == ["nn.Transformer*"]


def test_the_place_is_the_cell_and_line_of_the_use():
    first = "import torch\nfrom torch import nn"
    assert found(
        first,
        "\nclass Answer(nn.Module):\n    def __init__(self):\n        self.a = nn.MultiheadAttention(8, 2)\n",
    ) == [Use("nn.MultiheadAttention", "a.py cell 2", 4)]


@pytest.mark.parametrize(
    "source",
    [
        "def Answer(x): return x",
        "from torch import nn\ndef Answer(x): return x\nprint(nn.MultiheadAttention(8, 2))",  # a demonstration
        "from torch import nn\ndef other(x): return nn.Transformer()\ndef Answer(x): return x",
        "from torch import nn\ndef Answer(x):\n    '''not nn.MultiheadAttention'''\n    # nn.Transformer()\n    return x",
        "from mine import MultiheadAttention\ndef Answer(x): return MultiheadAttention(x)",
        "class TransformerEncoder: pass\ndef Answer(x): return TransformerEncoder()",
        "from torch import nn\nclass Answer(nn.Module): pass",
        "def Answer(x",
    ],
)
def test_no_use_is_found_without_a_forbidden_call_in_the_exercise(source):
    assert found(source) == []
