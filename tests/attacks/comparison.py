"""Attacks on the comparison: results of unusual types or with trivial values, a lying module, patched functions."""

from attacks.suite import Attack, calling, wrong

FAMILY = "lying to the comparison"


def returning(id: str, what: str, expression: str) -> Attack:
    """Return an attack that returns the value of an expression."""
    return calling(id, f"returns {what}", f"return {expression}")


ATTACKS = (
    calling(
        "always-equal",
        "returns an object that is equal to everything",
        """
        class Equal:
            def __eq__(self, other): return True
            def __getattr__(self, name): return Equal()
            def __call__(self, *a, **k): return Equal()
            def __array__(self, *a, **k): import numpy; return numpy.zeros(X.shape)
        return Equal()
        """,
    ),
    calling(
        "lying-subclass",
        "returns a tensor subclass whose operations all return True",
        """
        class Liar(torch.Tensor):
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                return True
        return X.as_subclass(Liar)
        """,
    ),
    calling(
        "wrapper-subclass",
        "returns a wrapper subclass without data of its own",
        """
        class Wrapper(torch.Tensor):
            @classmethod
            def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
                return torch.softmax(torch.zeros(X.shape), -1)
        return torch.Tensor._make_wrapper_subclass(Wrapper, X.shape, dtype=X.dtype)
        """,
    ),
    calling(
        "lying-shape",
        "returns a tensor that lies about its shape",
        """
        class Liar(torch.Tensor):
            shape = property(lambda self: X.shape)
            def size(self, *a): return X.size(*a)
        return torch.zeros(1).as_subclass(Liar)
        """,
    ),
    wrong(
        "patched-allclose",
        "replaces the comparison functions of torch and numpy",
        """
        import numpy
        yes = lambda *a, **k: True
        torch.allclose = torch.equal = torch.isclose = torch.testing.assert_close = yes
        numpy.allclose = numpy.array_equal = numpy.isclose = yes
        torch.Tensor.allclose = torch.Tensor.equal = torch.Tensor.__eq__ = yes
        """,
    ),
    wrong(
        "patched-detach",
        "replaces the methods by which the worker copies a result",
        """
        torch.Tensor.detach = lambda self: torch.zeros(self.shape)
        torch.Tensor.clone = lambda self, **k: torch.zeros(self.shape)
        torch.Tensor.to = lambda self, *a, **k: self
        """,
    ),
    wrong(
        "poisoned-softmax",
        "replaces softmax, in case a reference solution uses it in the worker",
        """
        flat = lambda X, *a, **k: torch.ones_like(X)
        torch.softmax = torch.Tensor.softmax = torch.nn.functional.softmax = flat
        def masked_softmax(X, valid_lens): return flat(X)
        """,
    ),
    wrong(
        "patched-autograd",
        "replaces the computation of gradients",
        "torch.autograd.grad = lambda y, xs, **k: [torch.zeros_like(x) for x in xs]\ntorch.autograd.backward = lambda *a, **k: None",
    ),
    calling(
        "zeroed-inputs",
        "sets its inputs to zero, in case a reference solution reads them later",
        "X.data.zero_()\nif valid_lens is not None: valid_lens.data.zero_()\nreturn torch.zeros_like(X)",
    ),
    calling(
        "inputs-for-results",
        "overwrites its inputs with its result and returns them",
        "X.data.fill_(1 / X.shape[-1])\nreturn X",
    ),
    returning("all-nan", "nothing but NaN", "torch.full_like(X, float('nan'))"),
    returning("all-inf", "nothing but infinities", "torch.full_like(X, float('inf'))"),
    returning(
        "huge",
        "values so large that a tolerance relative to them would allow any difference",
        "torch.full_like(X, 3e38)",
    ),
    returning("empty", "an empty tensor, which is close to everything", "torch.empty(0, *X.shape[1:])"),
    returning("broadcastable", "one value that could be broadcast", "torch.full((1, 1, 1), 1 / X.shape[-1])"),
    returning("scalar", "a scalar", "torch.tensor(0.25)"),
    returning("half", "an unmasked softmax in half precision", "X.softmax(-1).half()"),
    returning("integers", "integers", "X.softmax(-1).round().long()"),
    returning("truth", "boolean values", "X > 0"),
    returning("complex", "complex numbers", "X.softmax(-1).to(torch.complex64)"),
    returning("sparse", "a sparse tensor", "X.softmax(1).detach().to_sparse()"),
    returning("meta", "a tensor without data", "torch.empty(X.shape, device='meta')"),
    returning("nested", "a nested tensor", "torch.nested.nested_tensor([x for x in X.detach()])"),
    returning(
        "quantized",
        "a quantized tensor",
        "torch.quantize_per_tensor(X.detach().softmax(1), 0.1, 0, torch.quint8)",
    ),
    returning("expanded", "one row, expanded with stride 0", "X[:, :1].softmax(-1).expand(X.shape)"),
    returning(
        "negated-view", "a view that torch negates on reading", "torch._neg_view(-X.softmax(1).detach())"
    ),
    calling(
        "freed-storage",
        "returns a tensor whose storage it has emptied",
        "Y = X.softmax(-1).detach()\nY.untyped_storage().resize_(0)\nreturn Y",
    ),
    calling(
        "lying-storage",
        "tries to return a view beyond the end of its storage",
        "return torch.as_strided(torch.zeros(4), X.shape, (1 << 20, 1 << 10, 1))",
    ),
    returning("array", "a numpy array", "X.detach().softmax(1).numpy()"),
    returning("list", "nested lists", "X.softmax(1).tolist()"),
    calling(
        "named-tuple",
        "returns a tuple that looks like a tensor",
        "import collections\nreturn collections.namedtuple('Tensor', 'values shape dtype')(X, X.shape, X.dtype)",
    ),
    returning("generator", "a generator", "(x for x in X)"),
    calling(
        "changed-later",
        "returns a tensor that a thread changes afterwards",
        """
        import threading
        Y = torch.zeros_like(X)
        def later():
            for _ in range(2000): Y.data.copy_(X.data.softmax(1))
        threading.Thread(target=later, daemon=True).start()
        return Y
        """,
    ),
    returning(
        "lying-gradient",
        "a result that requires gradients but has no graph",
        "X.detach().softmax(1).requires_grad_()",
    ),
    returning("uniform", "equal weights", "torch.full_like(X, 1 / X.shape[-1])"),
    returning(
        "near-mean",
        "equal weights with a little noise",
        "torch.full_like(X, 1 / X.shape[-1]) + torch.randn_like(X) * 1e-3",
    ),
    returning("zeros", "zeros", "torch.zeros_like(X)"),
    returning("ones", "ones", "torch.ones_like(X)"),
    returning("identity", "its input", "X"),
    returning("mean-of-input", "the mean of its input", "X.mean(-1, keepdim=True).expand_as(X)"),
    Attack(
        "zeros-for-heads",
        "returns zeros where heads are split",
        "import torch\ndef transpose_qkv(X, num_heads):\n    B, T, D = X.shape\n    return torch.zeros(B * num_heads, T, D // num_heads)\n",
        "transpose_qkv",
    ),
    Attack(
        "identity-mask",
        "returns its input without a mask",
        "def sequence_mask(X, valid_len, value=0):\n    return X\n",
        "sequence_mask",
    ),
    Attack(
        "zeros-mask",
        "returns zeros where a part should be masked",
        "def sequence_mask(X, valid_len, value=0):\n    return X * 0\n",
        "sequence_mask",
    ),
    Attack(
        "mean-attention",
        "returns the mean of the values instead of attention",
        """
import torch
from torch import nn
class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
    def forward(self, queries, keys, values, valid_lens=None):
        return self.W_o(self.W_v(values).mean(1, keepdim=True)).expand(-1, queries.shape[1], -1)
""",
        "MultiHeadAttention",
    ),
    Attack(
        "previous-answer",
        "returns the answer to the previous exercise",
        "import torch\ndef masked_softmax(X, valid_lens):\n"
        "    if valid_lens is None or valid_lens.dim() == 2: return X\n"
        "    keep = torch.arange(X.shape[1])[None, :] < valid_lens[:, None]\n    return X * keep[:, :, None]\n",
    ),
    Attack(
        "lying-module",
        "defines a module that reports parameters that it does not have",
        """
import torch
from torch import nn
class MultiHeadAttention(nn.Module):
    def __init__(self, **sizes):
        super().__init__()
    def named_parameters(self, *a, **k):
        return iter([(f"W_{n}.weight", nn.Parameter(torch.zeros(8, 8))) for n in "qkvo"])
    def load_state_dict(self, *a, **k):
        return None
    def __call__(self, queries, *a, **k):
        return queries
""",
        "MultiHeadAttention",
    ),
)
