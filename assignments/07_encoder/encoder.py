# %% [markdown]
# # 07 · The encoder
#
# Attention lets positions exchange what they know. Build a layer around it and stack that layer, and you have
# a Transformer. This lesson adds the three missing parts: a small network that works on each position alone,
# a way around both the attention and this network (the *residual*), and a normalisation.
#
# | name | shape | meaning |
# |---|---|---|
# | tokens | `(B, T)` | the number of each word in a vocabulary of `V` words, from 0 to `V - 1` |
# | `X`, `Y` | `(B, T, D)` | a vector of `D` features for each position, before and after a part |
# | inside the network | `(B, T, ffn_num_hiddens)` | wider, as a rule four times `D` |
# | `valid_lens` | `None`, `(B,)` or `(B, T)` | how many positions are real, as in assignment 02 |
# | weights of one layer | `(B·H, T, T)` | who looked at whom, in each head |
#
# **Add, then normalise.** A part of the network computes $Y$ from $X$. Instead of passing on $Y$ alone, pass
# on $X + Y$: then the part only has to learn what should *change*, and gradients find a way back through
# the sum even where the part itself lets little through (He et al. 2016). Sums grow, however, layer upon
# layer. So each vector is brought back to mean 0 and variance 1 (layer normalisation, Ba et al. 2016):
#
# $$\mathrm{LayerNorm}(x) = \gamma \odot \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta$$
#
# Here $\mu$ and $\sigma^2$ are mean and variance over the $D$ features of *one* position, so that neither
# its neighbours nor the rest of the batch matter. The vectors $\gamma$ and $\beta$ are learned, $\odot$
# multiplies feature by feature, and $\epsilon$ is tiny and keeps us from dividing by zero. `nn.LayerNorm`
# does all this. With dropout on the new part, as in Vaswani et al. (2017, sections 3.1 and 5.4):
#
# $$\mathrm{AddNorm}(X, Y) = \mathrm{LayerNorm}(X + \mathrm{dropout}(Y))$$
#
# *By hand*, with two features and no dropout: $x = (1, 7)$ and $y = (2, 0)$ add up to $(3, 7)$. The mean is
# 5, the variance $((-2)^2 + 2^2)/2 = 4$, its root 2, and the result $(-1, 1)$. Note the division by 2, the
# number of features, not by 1. And note what $y$ alone would become: $(1, -1)$, the other way round.
#
# **A network for each position.** Attention only mixes; the sums it forms are weighted means of projected
# vectors. To compute with what has been gathered, each position goes through the same two-layer network
# (Vaswani et al. 2017, section 3.3):
#
# $$\mathrm{FFN}(x) = W_2 \max(0, W_1 x + b_1) + b_2$$
#
# *By hand*, with one feature in and out and two hidden ones: let $W_1$ hold the rows $1$ and $-1$, $W_2$ the
# row $(1, 1)$, and let the biases be 0. Then $x = -3$ gives $(-3, 3)$, after the maximum $(0, 3)$, and in
# the end 3, while $x = 2$ gives 2: the network computes $\lvert x \rvert$. Without the maximum it would give
# $x - x = 0$ for every $x$, since two linear layers in a row are one linear layer.
#
# **The block.** Two parts, each with its residual and normalisation:
#
# $$Y = \mathrm{AddNorm}_1\bigl(X, \mathrm{Attention}(X, X, X)\bigr)$$
#
# $$\mathrm{Block}(X) = \mathrm{AddNorm}_2\bigl(Y, \mathrm{FFN}(Y)\bigr)$$
#
# ![The encoder block from top to bottom. X goes into multi-head self-attention as queries, keys and values;
# the output passes dropout, is added to X, which came by the way around, and normalised: that is Y. Y goes
# through the position-wise network in the same way: dropout, the sum with Y, normalisation. All shapes are
# (B, T, D).](pictures/block.svg)
#
# Queries, keys and values are all $X$: *self-attention*. The attention must be told `valid_lens`, or padding
# is looked at like any word; and `use_bias` says whether its four projections have biases. Many newer models
# normalise *before* each part instead, inside the residual (*pre-norm*). That is a good design, but another
# one, with other numbers; here we build the one of 2017 (*post-norm*).
#
# **The stack.** Tokens become vectors by a table, `nn.Embedding`; these are multiplied by $\sqrt{D}$ (Vaswani
# et al. 2017, section 3.4); positions are added; then the blocks follow, each fed by the one before. The
# table is a plain one, without a row for padding: here `valid_lens`, and not a token, says what is padding.
# Why $\sqrt{D}$? The paper does not say. One reason: sines and cosines lie between -1 and 1, while embeddings
# are often started small, with a spread (standard deviation) of about $1/\sqrt{D}$, and would drown in them;
# the factor brings both to the same size. PyTorch's `nn.Embedding` starts with spread 1, so that words are
# the louder ones at first; we keep the factor of the paper all the same.
#
# **What goes wrong.** Dropout is for the new part: on $X$, or on the sum, it tears holes in the way around.
# The second residual starts from $Y$, not from $X$. A block made once and put into the stack `L` times is
# *one* block with one set of weights, applied `L` times. If each block is fed the embedding instead of what
# the block before made, all but the last are useless. The shapes are right in both cases. And
# `nn.LayerNorm([T, D])` would mix the positions of a sentence; we pass `[D]`.
#
# These blocks of earlier assignments are ready to use. After a call, `MultiHeadAttention` keeps its weights
# in `.attention.attention_weights`, of shape `(B·H, T, T)` here.

# %%
import math

import torch
from torch import nn

from grader.given import MultiHeadAttention, PositionalEncoding

# %% [markdown]
# ## Exercise: `AddNorm`
#
# `X` is what went into a part, `Y` what came out of it. `normalized_shape` is meant as `nn.LayerNorm` means
# it: a number, or a list with the sizes of the last axes.

# %% exercise="AddNorm"
class AddNorm(nn.Module):
    """A residual connection, then layer normalisation (Vaswani et al. 2017, section 3.1; Ba et al. 2016)."""

    def __init__(self, normalized_shape: int | list[int], dropout: float):
        super().__init__()
        # Weights are loaded by name: ln.
        raise NotImplementedError("AddNorm is not written yet")

    def forward(self, X: torch.Tensor, Y: torch.Tensor) -> torch.Tensor:
        """X, Y: (B, T, D), the input and the output of a part. Returns (B, T, D), same dtype."""
        raise NotImplementedError("AddNorm.forward is not written yet")


# %% [markdown]
# ## Exercise: `PositionWiseFFN`
#
# Two linear layers with biases. `nn.Linear` works on the last axis and leaves the others alone, which is
# just what "at every position" asks for.

# %% exercise="PositionWiseFFN"
class PositionWiseFFN(nn.Module):
    """The same two-layer network at every position (Vaswani et al. 2017, section 3.3)."""

    def __init__(self, ffn_num_input: int, ffn_num_hiddens: int, ffn_num_outputs: int):
        super().__init__()
        # Weights are loaded by name: dense1, dense2.
        raise NotImplementedError("PositionWiseFFN is not written yet")

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """X: (B, T, ffn_num_input). Returns (B, T, ffn_num_outputs), same dtype."""
        raise NotImplementedError("PositionWiseFFN.forward is not written yet")


# %% [markdown]
# ## Try it
#
# The two examples of the lesson. Expect `[-1, 1]`, then `[3, 2]`.

# %%
try:
    print(AddNorm([2], dropout=0.0)(torch.tensor([[[1.0, 7.0]]]), torch.tensor([[[2.0, 0.0]]])))
    ffn = PositionWiseFFN(1, 2, 1)
    with torch.no_grad():
        ffn.dense1.weight.copy_(torch.tensor([[1.0], [-1.0]]))
        ffn.dense2.weight.copy_(torch.tensor([[1.0, 1.0]]))
        ffn.dense1.bias.zero_()
        ffn.dense2.bias.zero_()
    print(ffn(torch.tensor([[[-3.0], [2.0]]])))  # (B=1, T=2, 1)
except NotImplementedError as unwritten:
    print(unwritten)

# %% [markdown]
# ## Exercise: `EncoderBlock`
#
# `MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias)` is given, with
# `forward(queries, keys, values, valid_lens)`. The rest you have just written; `norm_shape` is what both
# steps of `AddNorm` normalise over. The output of the block is as wide as its input, or the residual could
# not be added.

# %% exercise="EncoderBlock"
class EncoderBlock(nn.Module):
    """Self-attention, AddNorm, the position-wise network, AddNorm (Vaswani et al. 2017, section 3.1)."""

    def __init__(
        self,
        key_size: int,
        query_size: int,
        value_size: int,
        num_hiddens: int,
        norm_shape: int | list[int],
        ffn_num_input: int,
        ffn_num_hiddens: int,
        num_heads: int,
        dropout: float,
        use_bias: bool = False,
    ):
        super().__init__()
        # Weights are loaded by name: attention, addnorm1, ffn, addnorm2.
        raise NotImplementedError("EncoderBlock is not written yet")

    def forward(self, X: torch.Tensor, valid_lens: torch.Tensor | None) -> torch.Tensor:
        """X: (B, T, D); valid_lens: None, (B,) or (B, T). Returns (B, T, D), same dtype."""
        raise NotImplementedError("EncoderBlock.forward is not written yet")


# %% [markdown]
# ## Exercise: `TransformerEncoder`
#
# Embedding, scaling, positions, blocks. Keep the attention weights of each layer in a list
# `attention_weights`: looking at them is half the fun.

# %% exercise="TransformerEncoder"
class TransformerEncoder(nn.Module):
    """Tokens → a vector in context for each of them.

    After a call, `attention_weights` holds one tensor (B·H, T, T) per layer.
    """

    def __init__(
        self,
        vocab_size: int,
        key_size: int,
        query_size: int,
        value_size: int,
        num_hiddens: int,
        norm_shape: int | list[int],
        ffn_num_input: int,
        ffn_num_hiddens: int,
        num_heads: int,
        num_layers: int,
        dropout: float,
        use_bias: bool = False,
    ):
        super().__init__()
        # Weights are loaded by name: embedding, pos_encoding, blks.block0, blks.block1, …
        # The blocks get those names from self.blks = nn.Sequential() and its add_module(name, block).
        raise NotImplementedError("TransformerEncoder is not written yet")

    def forward(self, X: torch.Tensor, valid_lens: torch.Tensor | None, *args) -> torch.Tensor:
        """X: (B, T) tokens; valid_lens: None, (B,) or (B, T). Returns (B, T, D), the dtype of the weights."""
        raise NotImplementedError("TransformerEncoder.forward is not written yet")


# %% [markdown]
# ## Try it
#
# Two sentences, the second one padded after three words. Other words in the padding must not change what the
# encoder says about the real ones, so the last line should be zero; and no query looks at the padding, so
# the last two columns of the weights should be zero too.

# %%
try:
    encoder = TransformerEncoder(20, 8, 8, 8, 8, [8], 8, 16, 2, num_layers=2, dropout=0.1).eval()
    words = torch.tensor([[5, 7, 2, 9, 4], [8, 3, 6, 1, 1]])  # (B=2, T=5)
    lens = torch.tensor([5, 3])
    before = encoder(words, lens)  # (B, T, D)
    print(tuple(before.shape), "and the weights of head 0 of the last layer, second sentence:")
    print(encoder.attention_weights[-1].detach().reshape(2, 2, 5, 5)[1, 0])  # (T, T)
    words[1, 3:] = 11
    after = encoder(words, lens)
    print((before - after)[1, :3].abs().max().item())
except NotImplementedError as unwritten:
    print(unwritten)

# %% [markdown]
# ## Questions to think about
#
# 1. What does `AddNorm` give when `Y` is zero and each row of `X` has mean 0 and variance 1 already? What
#    does that say about a part that has learned nothing yet?
# 2. The padded positions of the output are not zero. Why does nobody mind?
# 3. Leave out the positions and shuffle the words of a sentence. What happens to the output? Give the reason
#    for each part of the encoder.
# 4. Where do most of the weights of a block sit, in the attention or in the network? Count them for
#    `D = 512` and `ffn_num_hiddens = 2048`.
# 5. Batch normalisation takes means over the batch. Name two reasons why that suits sentences badly.

# %% [markdown]
# ## Sources
#
# - Vaswani et al., [*Attention is all you need*](https://arxiv.org/abs/1706.03762), 2017.
# - He et al., [*Deep residual learning for image recognition*](https://arxiv.org/abs/1512.03385), 2016.
# - Ba, Kiros, Hinton, [*Layer normalization*](https://arxiv.org/abs/1607.06450), 2016.
