"""Watching for a forbidden call is skipped only if no source can make the call."""

import pytest

from grader.worker import main
from grader.worker.forbidden_calls import reachable

# A Transformer layer of torch makes all these calls; its MultiheadAttention makes the first two.
CALLS = ["nn.MultiheadAttention", "scaled_dot_product_attention", "nn.Transformer*"]
PLAIN = "import math, torch\nfrom torch import nn\n\nclass MultiHeadAttention(nn.Module):\n    pass\n"


def test_no_call_is_watched_for_plain_sources():
    assert reachable(CALLS, (PLAIN, "from d2l import torch as d2l\nmodel.eval()  # Größe × 2")) == []


@pytest.mark.parametrize(
    ("line", "calls"),
    [
        ("layer = nn.MultiheadAttention(4, 2)", CALLS[:2]),
        ("layer = nn.TransformerEncoderLayer(4, 2)", CALLS),
        ("out = F.scaled_dot_product_attention(q, k, v)", CALLS[1:2]),
        ("out = F.ｓcaled_dot_product_attention(q, k, v)", CALLS[1:2]),  # Python reads it as the same name
        ("out = F.multi_head_attention_forward(*args)", CALLS[1:2]),
    ],
)
def test_a_call_is_watched_if_a_source_names_it(line, calls):
    assert reachable(CALLS, (PLAIN, line)) == calls


@pytest.mark.parametrize(
    "line",
    [
        "layer = getattr(nn, 'Multihead' + 'Attention')",
        "layer = vars(nn)['Multihead' + 'Attention']",
        "layer = nn.__dict__['Multihead' + 'Attention']",
        "exec(text)",
        "layer = eval(text)",
        "kinds = nn.Module.__subclasses__()",
        "import math, torchvision",
        "import transformers as math",
        "if True: from timm.layers import *",
        "from \\\n  operator \\\n  import attrgetter",
        "from . import blocks",
        "import math; import importlib",
    ],
)
def test_all_calls_are_watched_if_names_may_come_from_elsewhere(line):
    assert reachable(CALLS, (PLAIN, line)) == CALLS


def test_an_unknown_call_is_watched():
    assert reachable(["softmax"], (PLAIN,)) == ["softmax"]


def test_the_sources_are_those_of_every_loaded_file():
    files = {"parts": [{"units": [{"name": "a.py", "source": "a = 1"}], "names": {}}]}
    files["neighbours"] = [{"name": "b.py", "source": "b = 2", "modules": []}]
    request = {"units": [{"name": "c.py", "source": "c = 3"}], "given": {}, "replace": {}, "skip": []}
    loaded = main._load({**request, "withheld": [], **files})
    assert sorted(loaded.sources) == ["a = 1", "b = 2", "c = 3"]
