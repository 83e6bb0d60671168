# %% [markdown]
# # 10 · Pruning heads
#
# A trained Transformer has dozens of heads. Which of them does it need? People took heads out, one after
# another, and found that often most can go before anybody notices (Michel et al. 2019; Voita et al. 2019).
# This lesson does the same in four steps: **look** at what the heads attend to, **measure** how much each one
# matters, **prune** those that matter least, and make sure by an **experiment** that the choice was a good
# one.
#
# The tool for all of it is a number in front of every head, a *gate* $\xi_h$ (read: xi). With the answers
# $Y_1, \dots, Y_H$ of the heads, gated attention is (Michel et al. 2019, section 2.3)
#
# $$\mathrm{gated}(Q, K, V) = [\xi_1 Y_1, \dots, \xi_H Y_H] W^O$$
#
# With all gates at 1 nothing has changed. With $\xi_h = 0$ head $h$ is silent, just as if it had been cut
# out. In between lies what makes gates useful: a model can be differentiated with respect to them.
#
# | name | shape | meaning |
# |---|---|---|
# | `gates` | `(H,)` | $\xi$, one number a head |
# | joined heads, before `W_o` | `(B, T, D)` | head $h$ owns the features $h \cdot d$ to $(h+1) \cdot d - 1$ |
# | `W_q.weight`, `W_k.weight`, `W_v.weight` | `(D, input size)` | head $h$ owns $d$ **rows** |
# | `W_o.weight` | `(D, D)` | head $h$ owns $d$ **columns** |
# | `W_q.bias`, `W_k.bias`, `W_v.bias` | `(D,)` | head $h$ owns $d$ numbers |
# | `W_o.bias` | `(D,)` | belongs to no head |
# | kept weights | `(B·H, T, S)` | row $b \cdot H + h$ |
#
# As ever, $D$ is `num_hiddens`, $H$ is `num_heads` and $d = D/H$; `nn.Linear` stores its matrix as
# `(out, in)`.

# %%
import copy

import torch
from torch import nn
from torch.nn import functional as F

from grader.given import MultiHeadAttention, TransformerEncoder, transpose_output, transpose_qkv

# %% [markdown]
# ## Look
#
# Encoders and decoders keep the weights of their latest call in `attention_weights`. An encoder holds a list
# with one entry a layer. A decoder, which you can tell by its method `init_state`, holds two such lists: its
# self-attentions, then its attentions to the encoder (*cross*). What an entry looks like depends on who wrote
# the model, and three ways are common:
#
# | entry | shape |
# |---|---|
# | one tensor, heads inside the batch | `(B·H, T, S)`, row `b·H + h` |
# | one tensor, heads on an axis of their own | `(B, H, T, S)` |
# | a list with one tensor a head | `H` times `(B, T, S)` |
#
# ## Exercise: `attention_maps`
#
# Call the model on the inputs and return its weights in *one* layout: a dictionary with `"encoder"` for an
# encoder, with `"decoder"` and `"cross"` for a decoder, each a list of `L` tensors `(B, H, T, S)`. The first
# input is a batch of tokens, so it knows `B`.

# %% exercise="attention_maps"
def attention_maps(model: nn.Module, *inputs) -> dict[str, list[torch.Tensor]]:
    """Call the model and gather the weights of every layer and head.

    model: an encoder, called as model(tokens, valid_lens), or a decoder, called as model(tokens, state);
    inputs: its arguments, of which the first is (B, T). Returns {"encoder": L tensors (B, H, T, S)} or
    {"decoder": L tensors (B, H, T, T), "cross": L tensors (B, H, T, S)}.
    """
    raise NotImplementedError("attention_maps is not written yet")


# %% [markdown]
# ## Try it
#
# The maps of a small untrained encoder, one picture a head: queries from top to bottom, keys from left to
# right. In a notebook, `draw` makes the same picture with matplotlib.

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
# ## Gates
#
# ## Exercise: `gated_attention`
#
# Compute what the module would give if each head were multiplied by its gate before `W_o`. The module itself
# stays as it is: no weight changes, and nothing is left behind in it. Gradients must reach the gates. You may
# go through the module's own parts (`W_q`, `W_k`, `W_v`, `attention`, `W_o`, `num_heads`), or find a shorter
# way.

# %% exercise="gated_attention"
def gated_attention(
    mha: nn.Module,
    gates: torch.Tensor,
    queries: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    valid_lens: torch.Tensor | None,
) -> torch.Tensor:
    """Multi-head attention with a gate for every head (Michel et al. 2019, section 2.3).

    mha: a MultiHeadAttention; gates: (H,); queries: (B, T, query_size); keys: (B, S, key_size);
    values: (B, S, value_size); valid_lens: None, (B,) or (B, T). Returns (B, T, D).
    """
    raise NotImplementedError("gated_attention is not written yet")


# %% [markdown]
# ## Measure
#
# Three ways to say how important a head is. Let $L$ be the loss of one sample.
#
# | method | importance of head $h$ | source |
# |---|---|---|
# | `"ablation"` | mean over samples of $L(\xi_h = 0) - L$, the other gates at 1 | Michel et al. 2019, section 3.2 |
# | `"gradient"` | mean over samples of $\lvert \partial L / \partial \xi_h \rvert$ at $\xi = 1$ | Michel et al. 2019, section 4.1 |
# | `"confidence"` | mean over queries of the largest weight | Voita et al. 2019, section 4 |
#
# Ablation asks directly, and needs a call of the model for every head. The gradient asks all heads at once:
# it tells how steeply the loss would rise or fall if a gate moved a little. Confidence never looks at the
# loss at all; a head is confident if it puts nearly all of its weight on one key.
#
# **By hand.** A model with two heads and one number as its output. For every input the heads contribute
# $y_1 = 3$ and $y_2 = 1$, so the output is 4; the loss is the squared error. Two samples, whose targets are
# the model's own output plus and minus 1:
#
# | | target | $L$ | $L(\xi_1{=}0)$ | $L(\xi_2{=}0)$ | $\partial L / \partial \xi_1$ | $\partial L / \partial \xi_2$ |
# |---|---|---|---|---|---|---|
# | sample 1 | 5 | 1 | 16 | 4 | −6 | −2 |
# | sample 2 | 3 | 1 | 4 | 0 | 6 | 2 |
#
# Ablation: $(15 + 3)/2 = 9$ for the first head, $(3 - 1)/2 = 1$ for the second. Gradient: 6 and 2. Both ways
# say that the first head matters more. But take the mean *before* the absolute value, and both heads get 0:
# the samples disagree about the direction and cancel out. That is why the absolute value comes first.
#
# Had the targets been the model's own outputs, 4 and 4, the model would stand at the very bottom of its loss,
# where every gradient is zero, for important heads and useless ones alike. A little noise on the targets
# brings the gradients to life.
#
# ## Exercise: `head_importance`
#
# A batch may be larger or smaller than the next one: every *sample* counts the same (for confidence, every
# query). Measure without dropout, whatever mode the module comes in.

# %% exercise="head_importance"
def head_importance(mha: nn.Module, batches: list, loss_fn, method: str) -> torch.Tensor:
    """Say of every head how important it is.

    mha: a MultiHeadAttention; batches: a list of (queries, keys, values, valid_lens, target);
    loss_fn: loss_fn(output, target) gives one loss a sample, (B,); method: "ablation", "gradient" or
    "confidence". Returns (H,).
    """
    raise NotImplementedError("head_importance is not written yet")


# %% [markdown]
# ## Prune
#
# A silent head still costs its share of memory and time. To save both, its rows and columns must really go.
# What is left when $n$ of $H$ heads stay:
#
# | what | before | after |
# |---|---|---|
# | numbers in the four matrices, all sizes $D$ | $4 D^2$ | $4 D^2 \cdot n/H$ |
# | biases of `W_q`, `W_k`, `W_v` | $3 D$ | $3 D \cdot n/H$ |
# | bias of `W_o` | $D$ | $D$ |
# | operations of the four projections, $T = S$ | $8 B T D^2$ | $8 B T D^2 \cdot n/H$ |
# | operations of scores and weighted sums | $4 B T S D$ | $4 B T S D \cdot n/H$ |
#
# Operations are counted as `torch.utils.flop_counter` does: a multiplication and an addition for each term of
# a matrix product, and nothing for adding a bias or for a softmax. (`DotProductAttention` of this course has
# one product more in every head, with which it gets hold of the weights.) So half of the heads is exactly
# half of the operations, and exactly half of the parameters, with one exception: the bias of `W_o` is added
# to what all heads have said together. It belongs to none of them and stays whole.
#
# ![The four matrices and their biases, with the part of head 1 of four hatched: the second quarter of the
# rows in the weights of W_q, W_k and W_v and of the numbers in their biases, the second quarter of the
# columns in the weight of W_o, and nothing of the bias of W_o.](pictures/owned_by_a_head.svg)
#
# What is left must give just what the whole module gives with the gates of the removed heads at zero.
#
# **What goes wrong.** `W_o` holds its heads as *columns*; a module whose `num_heads` still says the old
# number splits its features in the wrong places; the features of a head lie side by side, not `H` apart.
# Zeros in place of a head change the answer in the right way and save nothing. A bias that is made anew is
# lost. And heads are numbered as in the module that you are handed: once head 1 is gone, the old head 2 is
# head 1.
#
# ## Exercise: `prune_heads`
#
# Return the smaller attention: the module itself, changed, or a new one, as you like. Everything else stays:
# the biases, the rate of dropout, training or evaluation mode, the device, and that it can be trained. The
# numbers in `heads` come in any order, perhaps more than once, perhaps none at all. If no head would be left,
# raise a `ValueError`.

# %% exercise="prune_heads"
def prune_heads(mha: nn.Module, heads: list[int]) -> nn.Module:
    """Take heads out of an attention for good.

    mha: a MultiHeadAttention; heads: the heads to remove, numbered 0 … H-1 as in `mha`. Returns an attention
    that is called in the same way and equals the gated one, with smaller layers. Raises ValueError if all
    heads are to be removed.
    """
    raise NotImplementedError("prune_heads is not written yet")


# %% [markdown]
# ## Try it
#
# The difference should be about 0.0000001, and both numbers of parameters should be known to you from the
# table above: 1024 before, 512 after.

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
# ## Experiment
#
# A measure of importance is a claim: *this* head can go. So test it. Remove heads one after another in three
# orders and watch how many answers stay right:
#
# | order | which head goes next |
# |---|---|
# | `"importance"` | of those left, the one that mattered least |
# | `"random"` | any; another order with every seed |
# | `"reverse"` | of those left, the one that mattered most |
#
# If the measure is worth anything, the first curve stays high for long, the last one falls at once, and
# chance lies between. Three seeds or more: a single random order proves nothing.
#
# ![A made-up classifier with eight heads. Left, how much the loss rises without each head: much for heads 1
# and 4, hardly for 2 and 7. Right, the share of right answers over the number of removed heads: taken away in
# the order of importance it stays near 1, at random it falls to about 0.8, in reverse order it falls at once
# and ends near 0.6.](pictures/removal.svg)
#
# The model is a small classifier. Nobody needs to train it: its weights were made so that every head knows a
# little about the answer, some more and some less.

# %%
class Classifier(nn.Module):
    """Sorts sequences into classes: one self-attention, the mean over the steps, one linear layer."""

    def __init__(self, num_hiddens: int, num_heads: int, num_classes: int, dropout: float = 0.0):
        super().__init__()
        sizes = (num_hiddens, num_hiddens, num_hiddens, num_hiddens, num_heads)
        self.attention = MultiHeadAttention(*sizes, dropout)
        self.dense = nn.Linear(num_hiddens, num_classes)

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """(N, T, D) → scores (N, C)."""
        return self.read(self.attention(X, X, X, None))

    def read(self, output: torch.Tensor) -> torch.Tensor:
        """What the attention gives, (N, T, D) → scores (N, C)."""
        return self.dense(output.mean(dim=1))

    def loss(self, output: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """What the attention gives, (N, T, D), and the right classes (N,) → one loss a sample, (N,)."""
        return F.cross_entropy(self.read(output), labels, reduction="none")


# %% [markdown]
# ## Exercise: `removal_experiment`
#
# Measure the importance of the heads once, by ablation or by gradient, on the data that you are given. Then,
# for every seed, every order, and every number of removed heads from 0 to `H - 1`, write down a row:
#
# | key | value |
# |---|---|
# | `"seed"` | a whole number, the same for the three orders of one round |
# | `"order"` | `"importance"`, `"random"` or `"reverse"` |
# | `"removed"` | the list of the heads that are gone in this row, as the whole model numbers them |
# | `"accuracy"` | the share of right answers without them, from 0 to 1, in evaluation mode |
#
# Within one order each row removes one head more than the row before. What you removed for one row must be
# back for the next order: work on a copy, or find a way that changes nothing.

# %% exercise="removal_experiment"
def removal_experiment(model: nn.Module, data: tuple) -> list[dict]:
    """Remove heads in three orders and write down the accuracy after each.

    model: a Classifier; data: inputs (N, T, D) and labels (N,). Returns rows with the keys "seed", "order",
    "removed" and "accuracy", for three seeds or more.
    """
    raise NotImplementedError("removal_experiment is not written yet")


# %% [markdown]
# ## Try it
#
# An untrained classifier, so expect curves without any meaning; `grader check` runs yours on a model with
# heads of known strength and draws the curves beside what is possible at all.

# %%
try:
    torch.manual_seed(3)
    untrained = Classifier(num_hiddens=8, num_heads=4, num_classes=3)
    data = (torch.randn(60, 3, 8), torch.randint(0, 3, (60,)))
    for row in removal_experiment(copy.deepcopy(untrained), data)[:4]:
        print(row)
except NotImplementedError as unwritten:
    print(unwritten)

# %% [markdown]
# ## Questions to think about
#
# 1. In the model on which `head_importance` is graded, the heads that are most *confident* matter least. How
#    can a head be sure where to look, and of no use? What stands between its weights and the loss?
# 2. Where in the example by hand would the gradient mislead you and ablation not? And the other way round,
#    when two heads do the same work and each can stand in for the other?
# 3. Ablation of $H$ heads in $L$ layers takes how many calls of the model? And the gradient?
# 4. Half of the heads are gone, half of the operations too, and the clock shows less than half of the time
#    saved. What takes time and is no matrix product?
# 5. The importance was measured on the same data as the accuracy. What could go wrong with that?
# 6. After pruning, papers usually train for a few more steps. Which layers would you expect to change most?

# %% [markdown]
# ## Sources
#
# - Michel, Levy, Neubig, [*Are sixteen heads really better than one?*](https://arxiv.org/abs/1905.10650), 2019.
# - Voita et al., [*Analyzing multi-head self-attention*](https://arxiv.org/abs/1905.09418), 2019.
