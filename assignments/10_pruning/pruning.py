# %% [markdown]
# # 10 · Pruning heads
#
# A trained Transformer has dozens of heads. Does it need them all? Two papers of 2019 asked, and the answer
# was a surprise. Michel et al. (2019) found that most heads of a trained model can be removed one at a time
# with almost no loss. They also removed many heads together, the least important first: up to 20 % of the
# heads of a translation model and 40 % of BERT's made no noticeable difference. After that the results
# dropped sharply. Voita et al. (2019) gave every head a learned factor (a *gate*), with a penalty for each
# open gate (an $L_0$ penalty), and trained the model further. In this way they removed 38 of 48 encoder
# heads and lost only 0.15 BLEU (a score for translations).
#
# Now it is your turn, along the way of the first paper: **look** at what the heads attend to, **measure**
# how important each one is, **prune** the least important ones, and check your choice by an **experiment**.
#
# After this lesson you can
#
# - measure the importance of a head in three ways, and say what each measure misses;
# - remove heads from the weights, so that the smaller module returns the same as the full one with the gates
#   of these heads at zero;
# - design an experiment that shows whether a measure of importance is any good.
#
# One small tool does all of it: a factor per head, a *gate*. In formulas it is written $\xi_h$ (read: xi),
# as in the paper; in code it is `gates[h]`. We count heads from 0. If they compute $Y_0, \dots, Y_{H-1}$,
# gated attention is (Michel et al. 2019, section 2.3)
#
# $$\mathrm{gated}(Q, K, V) = [\xi_0 Y_0, \dots, \xi_{H-1} Y_{H-1}] W^O$$
#
# With all gates at 1 nothing changes. With $\xi_h = 0$ head $h$ contributes nothing, as if it were removed.
# And because a gate can have any value, the loss has a derivative with respect to each gate. You will use
# both.
#
# | name | shape | meaning |
# |---|---|---|
# | `gates` | `(H,)` | $\xi$, one value per head |
# | concatenated heads (the input of `W_o`) | `(B, T, D)` | head $h$ owns the features $h \cdot d$ to $(h+1) \cdot d - 1$ |
# | `W_q.weight`, `W_k.weight`, `W_v.weight` | `(D, input size)` | head $h$ owns $d$ **rows** |
# | `W_o.weight` | `(D, D)` | head $h$ owns $d$ **columns** |
# | `W_q.bias`, `W_k.bias`, `W_v.bias` | `(D,)` | head $h$ owns $d$ values |
# | `W_o.bias` | `(D,)` | belongs to no head |
# | `mha.attention.attention_weights` | `(B·H, T, S)` | the weights of the latest call, row $b \cdot H + h$ |
#
# As before, $D$ is `num_hiddens`, $H$ is `num_heads` and $d = D/H$. The formulas write vectors as rows, but
# `nn.Linear` stores its matrix as `(out, in)`. So the columns of a head in $W^Q$ are rows in `W_q.weight`
# (see the paragraph *Conventions* in lesson 03). In this lesson `mha` is a `MultiHeadAttention` of
# assignment 05.

# %%
import copy

import torch
from torch import nn
from torch.nn import functional as F

from grader.given import MultiHeadAttention, TransformerEncoder, transpose_output, transpose_qkv

# %% [markdown]
# ## Look
#
# The encoders and decoders of this course keep the weights of their latest call in `attention_weights`: an
# encoder a list with one entry per layer, a decoder two such lists, first its self-attentions, then its
# attentions to the encoder (*cross-attentions*). You can recognise a decoder by its method `init_state`.
# What an entry looks like depends on who wrote the model. Three layouts are common:
#
# | entry | shape |
# |---|---|
# | one tensor, heads inside the batch | `(B·H, T, S)`, row `b·H + h` |
# | one tensor, heads on a separate axis | `(B, H, T, S)` |
# | a list with one tensor per head | `H` times `(B, T, S)` |
#
# ## Exercise: `attention_maps`
#
# Call the model on the inputs and bring its weights into *one* layout, so that you can look at any model in
# the same way. Return a dictionary with `"encoder"` for an encoder, and with `"decoder"` and `"cross"` for
# a decoder. Each value is a list of `L` tensors `(B, H, T, S)`. The first input is a batch of tokens
# `(B, T)`, so it gives you `B`.
#
# `attention_maps(model, *inputs)`: a model and its inputs in, a dictionary out: `"encoder"` or `"decoder"`
# and `"cross"`, each `L` times `(B, H, T, S)`.
#
# **In plain Python.** One layer of a batch of `B` sequences. A map is a list of T rows. `entry` is a list
# of maps (`"together"`), or of B lists of H maps (`"apart"`), or of H lists of B maps (`"per head"`):
#
# ```python
# def attention_maps_plain(entry, layout, B):
#     if layout == "apart":
#         return entry
#     if layout == "per head":
#         return [[head[b] for head in entry] for b in range(B)]
#     H = len(entry) // B
#     return [[entry[b * H + h] for h in range(H)] for b in range(B)]
# ```
#
# **In PyTorch, something similar.** Two weeks of three days, side by side, and below each other:
#
# ```python
# weeks = [torch.tensor([1, 2, 3]), torch.tensor([4, 5, 6])]
# torch.stack(weeks, dim=-1)  # (3, 2): [[1, 4], [2, 5], [3, 6]]
# torch.cat(weeks).reshape(-1, 3)  # (2, 3): [[1, 2, 3], [4, 5, 6]]
# ```


# %% exercise="attention_maps"
def attention_maps(model: nn.Module, *inputs) -> dict[str, list[torch.Tensor]]:
    """Call the model once and return the weights of every layer and head in one layout.

    model: an encoder, called as model(tokens, valid_lens), or a decoder, called as model(tokens, state);
    inputs: its arguments, of which the first is a tensor (B, T) of tokens. Returns
    {"encoder": [L tensors (B, H, T, S)]} for an encoder, and for a decoder
    {"decoder": [L tensors (B, H, T, T)], "cross": [L tensors (B, H, T, S)]}.
    """
    raise NotImplementedError("attention_maps is not written yet")


# %% [markdown]
# ## Try it
#
# Look at the maps of a small untrained encoder, one picture per layer with a map for each head: queries
# from top to bottom, keys from left to right.

# %%
try:
    from grader.report.maps import show

    words = ["the", "cat", "sat", "on", "the", "mat"]
    torch.manual_seed(1)
    encoder = TransformerEncoder(9, 8, 8, 8, 8, [8], 8, 16, num_heads=2, num_layers=2, dropout=0.0)
    show(attention_maps(encoder, torch.tensor([[3, 4, 5, 6, 3, 7]]), None), words)
except (NotImplementedError, ImportError) as unwritten:
    print(unwritten)

# %% [markdown]
# ## Exercise: `gated_attention`
#
# Compute what the module would return if each head were multiplied by its gate before `W_o`. Gradients must
# reach the gates, and in training mode dropout works as usual. Use the module's own parts (`W_q`, `W_k`,
# `W_v`, `attention`, `W_o`, `num_heads`), or find a shorter way. Leave the module as you found it, with the
# same parameters, buffers, hooks and mode. (If you add a hook, remove it again.)
#
# `gated_attention(mha, gates, queries, keys, values, valid_lens)`: `(H,)`, `(B, T, …)` and twice
# `(B, S, …)` in, `(B, T, D)` out.
#
# **In plain Python.** One sequence. `heads` has what each head computes, T rows of d numbers; `W_o` is a
# function from a row of D numbers to a row:
#
# ```python
# def gated_attention_plain(heads, gates, W_o):
#     output = []
#     for t in range(len(heads[0])):
#         joined = []
#         for head, gate in zip(heads, gates):
#             joined += [gate * number for number in head[t]]
#         output.append(W_o(joined))
#     return output  # T rows of D numbers
# ```
#
# **In PyTorch, something similar.** A price for each pair of *rows*, and a gradient for each price:
#
# ```python
# prices = torch.tensor([10.0, 1.0], requires_grad=True)  # (2,)
# amounts = torch.tensor([[1.0], [2.0], [3.0], [4.0]])  # (4, 1)
# paid = amounts.unflatten(0, (2, 2)) * prices[:, None, None]  # (2, 2, 1): [[[10.0], [20.0]], [[3.0], [4.0]]]
# torch.autograd.grad(paid.sum(), prices)[0]  # (2,): [3.0, 7.0]
# ```


# %% exercise="gated_attention"
def gated_attention(
    mha: nn.Module,
    gates: torch.Tensor,
    queries: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    valid_lens: torch.Tensor | None,
) -> torch.Tensor:
    """Compute multi-head attention with a gate for every head (Michel et al. 2019, section 2.3).

    mha: a MultiHeadAttention, which is not changed; gates: (H,), which may require a gradient;
    queries: (B, T, query_size); keys: (B, S, key_size); values: (B, S, value_size);
    valid_lens: None, (B,) or (B, T). Returns (B, T, D).
    """
    raise NotImplementedError("gated_attention is not written yet")


# %% [markdown]
# ## Measure
#
# How important is a head? Here are three ways to ask. Let $\ell$ be the loss of one sample.
#
# | method | importance of head $h$ | idea from |
# |---|---|---|
# | `"ablation"` | mean over samples of $\ell(\xi_h = 0) - \ell$, the other gates at 1 | Michel et al. 2019, section 3.2 |
# | `"gradient"` | mean over samples of $\lvert \partial \ell / \partial \xi_h \rvert$ at $\xi = 1$ | Michel et al. 2019, section 4.1 |
# | `"confidence"` | mean over queries of the largest weight | Voita et al. 2019, section 4 |
#
# Ablation asks directly: it closes one gate after another and looks at the loss. That takes one call with
# all gates at 1, and one more per head. The gradient estimates this effect for all heads at once: it says
# how steeply the loss would rise or fall if a gate changed a little. Confidence does not look at the loss
# at all. A head is confident if nearly all of the weight of each query is on one key. You find the weights
# in `mha.attention.attention_weights` after a call.
#
# (If you compare with the papers, three details differ. Michel et al. measure ablation in BLEU or accuracy;
# we measure it in the loss, which needs no decoding. They also divide the gradient scores of each layer by
# their Euclidean norm, so that heads of several layers can be compared; we have one layer. Voita et al.
# leave out the end-of-sentence symbol when they look for the largest weight, because it is not a real word;
# our sequences have none.)
#
# **By hand.** A model has two heads and one value as its output. For every input the heads contribute
# $y_0 = 3$ and $y_1 = 1$, so the output is 4. The loss is the squared error. Take two samples, whose
# targets are the model's own output plus and minus 1:
#
# | | target | $\ell$ | $\ell(\xi_0{=}0)$ | $\ell(\xi_1{=}0)$ | $\partial \ell / \partial \xi_0$ | $\partial \ell / \partial \xi_1$ |
# |---|---|---|---|---|---|---|
# | sample 1 | 5 | 1 | 16 | 4 | −6 | −2 |
# | sample 2 | 3 | 1 | 4 | 0 | 6 | 2 |
#
# Ablation: $(15 + 3)/2 = 9$ for head 0, $(3 - 1)/2 = 1$ for head 1. Gradient: 6 and 2. Both say that head 0
# matters more. But take the mean *before* the absolute value, and both heads get 0: the two samples have
# opposite signs and cancel. That is why the absolute value comes first.
#
# Why not use the model's own outputs, 4 and 4, as targets? Then the loss would be at its minimum, where
# every gradient is zero, for important heads and for useless ones. With noise on the targets, here plus and
# minus 1, the gradients are not zero.
#
# ## Exercise: `head_importance`
#
# `batches` is a list of `(queries, keys, values, valid_lens, target)`. `loss_fn(output, target)` returns
# one loss per sample. Batches can have different sizes, and every *sample* counts the same (for confidence,
# every query). Measure without dropout, whatever mode the module is in, and leave the module in the mode in
# which you found it.
#
# `head_importance(mha, batches, loss_fn, method)`: a module and batches in, `(H,)` out.
#
# **In plain Python.** One head. For `"ablation"`, `seen` has a pair for each sample: its loss with all
# gates at 1, and its loss with this gate at 0. For `"gradient"` it has the derivative of each sample's
# loss, and for `"confidence"` the row of weights of each query.
#
# ```python
# def head_importance_plain(method, seen):
#     total = 0.0
#     for one in seen:
#         if method == "ablation":
#             total += one[1] - one[0]
#         elif method == "gradient":
#             total += abs(one)
#         else:
#             total += max(one)
#     return total / len(seen)  # a number
# ```
#
# **In PyTorch, something similar.** The mean of all numbers in two batches, of which one is larger:
#
# ```python
# batches = [torch.tensor([1.0, 2.0, 6.0]), torch.tensor([7.0])]
# sum(batch.sum() for batch in batches) / sum(len(batch) for batch in batches)  # 4.0
# ```


# %% exercise="head_importance"
def head_importance(mha: nn.Module, batches: list, loss_fn, method: str) -> torch.Tensor:
    """Measure the importance of every head.

    mha: a MultiHeadAttention, which is not changed; batches: a list of tuples
    (queries, keys, values, valid_lens, target), of different sizes B; loss_fn: loss_fn(output, target)
    returns one loss per sample, (B,); method: "ablation", "gradient" or "confidence". Returns (H,).
    """
    raise NotImplementedError("head_importance is not written yet")


# %% [markdown]
# ## Prune
#
# A head whose gate is zero still costs memory and time. Now save both: remove its rows and columns. This is
# what is left when $n$ of $H$ heads stay:
#
# | what | before | after |
# |---|---|---|
# | elements of the four matrices, if all input sizes are $D$ | $4 D^2$ | $4 D^2 \cdot n/H$ |
# | biases of `W_q`, `W_k`, `W_v` | $3 D$ | $3 D \cdot n/H$ |
# | bias of `W_o` | $D$ | $D$ |
# | operations of the four projections, $T = S$ | $8 B T D^2$ | $8 B T D^2 \cdot n/H$ |
# | operations of scores and weighted sums | $4 B T S D$ | $4 B T S D \cdot n/H$ |
#
# So half of the heads need exactly half of the operations. All parameters halve except the bias of `W_o`:
# it is added to the sum of all heads, belongs to no head and stays complete. (Operations are counted as in
# `torch.utils.flop_counter`: one multiplication and one addition for each term of a matrix product, and
# nothing for adding a bias or for a softmax. `DotProductAttention` in `grader.given` gets the attention
# weights by one extra product with an identity matrix $(S, S)$ per head, because
# `scaled_dot_product_attention` does not return them. That adds $2 B H T S^2$ operations, which also shrink
# to $n/H$.)
#
# ![The four matrices and their biases, with the part of head 1 of four hatched: the second quarter of the
# rows in the weights of W_q, W_k and W_v and of the values in their biases, the second quarter of the columns
# in the weight of W_o, and nothing of the bias of W_o.](pictures/owned_by_a_head.svg)
#
# The test is simple: your pruned module must return the same as the whole module with the gates of the
# removed heads at zero, up to rounding.
#
# **What goes wrong.**
#
# - Rows are removed from `W_o`. In `W_o` a head owns columns; in the other three matrices it owns rows.
# - `num_heads` keeps its old value. Then the module splits its features in the wrong places.
# - Every $H$-th feature is removed. But the features of a head are contiguous.
# - The rows and columns are set to zero. The result is right, but nothing is saved.
# - A layer is created anew, and its bias loses the trained values.
# - Heads are removed one by one with their old numbers. Once head 1 is removed,
#   the old head 2 is head 1.
#
# ## Exercise: `prune_heads`
#
# Return the smaller attention: the module itself, changed, or a new one. Keep the remaining biases, the
# dropout rate, the mode (training or evaluation) and the device. Parameters must stay trainable. `heads`
# can be unsorted, have repeats, or be empty. An attention without any head makes no sense: raise a
# `ValueError`.
#
# `prune_heads(mha, heads)`: a `MultiHeadAttention` and a list of numbers in, a smaller attention out.
#
# **In plain Python.** The matrices are lists of rows. `W_k` and `W_v` lose the same rows as `W_q`, and the
# biases of the three lose the same places.
#
# ```python
# def prune_heads_plain(W_q, W_o, num_heads, heads):
#     d = len(W_q) // num_heads
#     stay = [place for place in range(len(W_q)) if place // d not in heads]
#     if not stay:
#         raise ValueError("no head is left")
#     rows = [W_q[place] for place in stay]
#     columns = [[row[place] for place in stay] for row in W_o]
#     return rows, columns
# ```
#
# **In PyTorch, something similar.** A smaller table of embeddings, which keeps the words 1 and 3 of an old
# one:
#
# ```python
# old = nn.Embedding(4, 3)
# new = nn.Embedding.from_pretrained(old.weight.detach()[[1, 3]], freeze=False)
# new(torch.tensor([1])) - old(torch.tensor([3]))  # (1, 3): [[0, 0, 0]]
# new.weight.requires_grad  # True
# ```


# %% exercise="prune_heads"
def prune_heads(mha: nn.Module, heads: list[int]) -> nn.Module:
    """Remove heads from an attention, so that its layers are smaller.

    mha: a MultiHeadAttention, which may be changed; heads: the heads to remove, numbered 0 … H-1 as in
    `mha`, in any order, possibly repeated or empty. Returns an attention that is called in the same way and
    returns what `mha` returns with the gates of these heads at zero. Raises ValueError if no head is left.
    """
    raise NotImplementedError("prune_heads is not written yet")


# %% [markdown]
# ## Try it
#
# Does your smaller module agree with the gates? The difference should be about 0.0000001. And compare the
# two parameter counts with the table above, which predicts 1024 before and 512 after.

# %%
try:
    torch.manual_seed(2)
    whole = MultiHeadAttention(16, 16, 16, 16, num_heads=4, dropout=0.0).eval()
    X = torch.randn(2, 5, 16)  # (B, T, D)
    gated = gated_attention(whole, torch.tensor([1.0, 0.0, 0.0, 1.0]), X, X, X, None)
    before = sum(p.numel() for p in whole.parameters())
    half = prune_heads(whole, [2, 1])
    print(f"largest difference: {(half(X, X, X, None) - gated).abs().max().item():.7f}")
    print(f"parameters: {before} before, {sum(p.numel() for p in half.parameters())} after")
except NotImplementedError as unwritten:
    print(unwritten)

# %% [markdown]
# ## How much time is that?
#
# The table counts operations. Time has to be measured, because it also goes into moving numbers, into the
# softmax, and into starting each operation. The cell calls an attention of eight heads, and what is left of
# it with four, two and one, 20 times each. It prints the median and the quarters on both sides of it.
# The numbers are those of your machine, and nobody grades them. Does half of the operations take half of the
# time?

# %%
if __name__ == "__main__":
    import time

    try:
        torch.set_num_threads(1)
        D, H, T = 256, 8, 64
        whole, X = MultiHeadAttention(D, D, D, D, num_heads=H, dropout=0.0).eval(), torch.randn(8, T, D)
        for kept in (8, 4, 2, 1):
            part = prune_heads(copy.deepcopy(whole), list(range(kept, H)))
            taken = []
            with torch.no_grad():
                for _ in range(40):  # the first 20 warm up
                    start = time.perf_counter()
                    part(X, X, X, None)
                    taken.append(1000 * (time.perf_counter() - start))
            low, middle, high = torch.tensor(taken[20:]).quantile(torch.tensor([0.25, 0.5, 0.75])).tolist()
            operations = (8 * 8 * T * D**2 + 4 * 8 * T * T * D) * kept / H / 1e6
            print(
                f"{kept} heads: {operations:4.0f} million operations, {middle:5.2f} ms ({low:.2f} to {high:.2f})"
            )
    except NotImplementedError as unwritten:
        print(unwritten)

# %% [markdown]
# ## Experiment
#
# A measure of importance makes a claim: you can do without *this* head. Test the claim. Remove heads one
# after another in three orders, and measure the accuracy after each removal:
#
# | order | which head is removed next |
# |---|---|
# | `"importance"` | of those left, the one with the lowest importance |
# | `"random"` | any; another order for every seed |
# | `"reverse"` | of those left, the one with the highest importance |
#
# If the measure is good, the `importance` curve stays high for long, the `reverse` curve falls at once, and
# the `random` curve is between them. Use three seeds or more: a single random order proves nothing.
#
# ![A trained classifier with eight heads. Left, how much the loss rises without each head: much for heads 0,
# 2, 5 and 7, little for 1, 3, 4 and 6. Right, the share of right answers over the number of removed heads:
# removed in the order of importance it is still 0.86 with four heads left, at random 0.62, in reverse order
# 0.40.](pictures/removal.svg)
#
# (This is the classifier that you train at the end of the lesson.)
#
# Your model is a small classifier. The grader's needs no training: its weights were chosen so that every
# head contributes to the answer, some more and some less. `removal_experiment` gets this classifier, and
# you need three of its parts:
#
# | part | meaning |
# |---|---|
# | `model.attention` | its `MultiHeadAttention`, with `num_heads` heads; called with `valid_lens = None` |
# | `model.read(output)` | maps the output of the attention, `(N, T, D)`, to scores of the classes, `(N, C)` |
# | `model.loss(output, labels)` | one loss per sample, `(N,)`, for that output and the right classes |
#
# `model(X)` does the same as `model.read(model.attention(X, X, X, None))`. Its class is
# `Classifier`, in `pruning.py` and in the notebook.


# %%
class Classifier(nn.Module):
    """Classify sequences with one self-attention, the mean over the steps, and one linear layer."""

    def __init__(self, num_hiddens: int, num_heads: int, num_classes: int, dropout: float = 0.0):
        super().__init__()
        sizes = (num_hiddens, num_hiddens, num_hiddens, num_hiddens, num_heads)
        self.attention = MultiHeadAttention(*sizes, dropout)
        self.dense = nn.Linear(num_hiddens, num_classes)

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """Map sequences (N, T, D) to scores (N, C)."""
        return self.read(self.attention(X, X, X, None))

    def read(self, output: torch.Tensor) -> torch.Tensor:
        """Map the output of the attention, (N, T, D), to scores (N, C)."""
        return self.dense(output.mean(dim=1))

    def loss(self, output: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Compute one loss per sample, (N,), from the attention's output (N, T, D) and the classes (N,)."""
        return F.cross_entropy(self.read(output), labels, reduction="none")


# %% [markdown]
# ## Exercise: `removal_experiment`
#
# `data` is a pair: inputs `(N, T, D)` and the right classes `(N,)`. Measure the importance of the heads
# once on this data, by ablation or by gradient. Then return a list with one row for every seed, every
# order, and every number of removed heads from 0 to `H - 1`. A row is a dictionary:
#
# | key | value |
# |---|---|
# | `"seed"` | an integer; each of the three orders runs once per seed |
# | `"order"` | `"importance"`, `"random"` or `"reverse"` |
# | `"removed"` | the list of the heads that are removed in this row, numbered as in the model before any removal |
# | `"accuracy"` | the share of right answers without them, from 0 to 1, in evaluation mode |
#
# Within one seed and order, remove heads one after another, and let removed heads stay removed. So draw a
# random order once per seed, not once per row. For the next order all heads must be back: work on a copy,
# or find a way that changes nothing. (The rows, and the heads inside a `"removed"` list, can be in any
# order.)
#
# `removal_experiment(model, data)`: a model and `(N, T, D)` with `(N,)` in, a list of dictionaries out.
#
# **In plain Python.** The rows of one seed and of one order, as pairs. `importance` is a list of H numbers.
# `accuracy` is a function: it gets a list of heads, and returns the share of right answers without them.
# (For `"random"`, draw an order of all heads once, and go on in the same way.)
#
# ```python
# def removal_experiment_plain(importance, order, accuracy):
#     heads = sorted(range(len(importance)), key=lambda head: importance[head])  # the least important one first
#     if order == "reverse":
#         heads = heads[::-1]
#     pairs = []
#     for count in range(len(heads)):
#         pairs.append((heads[:count], accuracy(heads[:count])))
#     return pairs  # H of them
# ```
#
# **In PyTorch, something similar.** Random orders that can be repeated, and a share of right answers:
#
# ```python
# chance = torch.Generator().manual_seed(5)
# torch.randperm(4, generator=chance)  # (4,), the same in each run
# (torch.tensor([2, 0, 1, 1]) == torch.tensor([2, 0, 1, 0])).float().mean()  # 0.75
# ```


# %% exercise="removal_experiment"
def removal_experiment(model: nn.Module, data: tuple) -> list[dict]:
    """Remove heads in three orders and record the accuracy after each.

    model: a Classifier, in any mode; data: inputs (N, T, D) and labels (N,).
    Returns a list of dictionaries with the keys "seed", "order", "removed" and "accuracy": for three seeds or
    more, three orders, and 0 to H-1 removed heads.
    """
    raise NotImplementedError("removal_experiment is not written yet")


# %% [markdown]
# ## Try it on a model that you train
#
# Train a classifier that has to look something up. Each sequence begins with a question: one of six keys. Then
# come the six keys in any order, each with a value, and the class is the value of the key in question. After
# 600 steps (a few seconds) the classifier with its eight heads is right about 95 times in 100. Your
# experiment then shows how many heads it needs, and whether the importance has found them: each
# line is the share of right answers with 0, 1, …, 7 heads removed.
#
# Then look at the two heads that matter most and at the two that matter least. The first row is the
# question: does it attend to its key?


# %%
def questions(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw sequences (N, 7, 16), each a question and six keys with values, and the classes (N,)."""
    keys, values = torch.rand(count, 6).argsort(dim=1), torch.randint(4, (count, 6))
    place, rows = torch.randint(6, (count,)), torch.arange(count)
    X = torch.zeros(count, 7, 16)
    X[:, 0, :6] = F.one_hot(keys[rows, place], 6).float()
    X[:, 0, 10] = 1  # marks the question
    X[:, 1:, :6] = F.one_hot(keys, 6).float()
    X[:, 1:, 6:10] = F.one_hot(values, 4).float()
    return X, values[rows, place]


if __name__ == "__main__":  # here and in a notebook, not while the file is checked
    from grader.report.maps import show

    try:
        torch.manual_seed(1)
        torch.set_num_threads(1)
        model = Classifier(num_hiddens=16, num_heads=8, num_classes=4)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        for _ in range(600):
            X, labels = questions(64)
            loss = model.loss(model.attention(X, X, X, None), labels).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        X, labels = questions(1000)
        with torch.no_grad():
            model.eval()(X)
        curves: dict[str, list[list[float]]] = {}
        for row in removal_experiment(model, (X, labels)):
            by_count = curves.setdefault(row["order"], [[] for _ in range(8)])
            by_count[len(row["removed"])].append(row["accuracy"])
        for order, by_count in curves.items():
            print(f"{order:10}", *(f"{sum(shares) / len(shares):.2f}" for shares in by_count))

        batch = (X, X, X, None, labels)
        importance = head_importance(model.attention, [batch], model.loss, "ablation")
        order = importance.argsort().tolist()
        model(X[:1])
        kept = torch.as_tensor(model.attention.attention.attention_weights)  # (H, 7, 7)
        names = [f"{'?' if step == 0 else ''}{X[0, step, :6].argmax().item()}" for step in range(7)]
        for title, heads in (("needed most", order[:-3:-1]), ("needed least", order[:2])):
            show({"encoder": [kept[None].detach()]}, names, title=title, heads=heads)
    except NotImplementedError as unwritten:
        print(unwritten)

# %% [markdown]
# ## Summary
#
# - A gate of 0 switches a head off; pruning then removes its rows and columns and gives the same result.
# - Ablation measures how much the loss rises. The gradient estimates this for all heads at once.
#   Confidence does not use the loss.
# - Take the absolute value of each gradient before the mean, or samples cancel each other.
# - A measure of importance must be compared with random and with reverse order, over several seeds.

# %% [markdown]
# ## Questions to think about
#
# 1. In trained translation models, confident heads are mostly the important ones (Voita et al. 2019). In the
#    model on which `head_importance` is graded, the most *confident* heads matter least: we built it so. How
#    can a head be sure where to look, and still be of no use? What comes between its weights and the loss?
# 2. Change the numbers in *By hand* so that the gradient misleads you and ablation does not. When would
#    ablation mislead you? Think of two heads that do the same work.
# 3. How many calls of the model does ablation of $H$ heads in $L$ layers take? And the gradient?
# 4. Half of the heads are removed, and half of the operations too. In a small model, less than half of the time
#    is saved. What takes time and is not a matrix product?
# 5. The importance was measured on the same data as the accuracy. What could go wrong with that?
# 6. After pruning, papers usually train for a few more steps. Which layers would you expect to change most?

# %% [markdown]
# ## Sources
#
# - Michel, Levy, Neubig, [*Are sixteen heads really better than one?*](https://arxiv.org/abs/1905.10650),
#   2019.
# - Voita et al., [*Analyzing multi-head self-attention: specialized heads do the heavy lifting, the rest can
#   be pruned*](https://arxiv.org/abs/1905.09418), 2019.
