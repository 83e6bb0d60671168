# %% [markdown]
# # 07 · The encoder
#
# Attention passes information between positions. An encoder layer (here called a *block*) needs three
# more parts. The first is a small network that works on each position alone. The second is a **residual
# connection** around the attention and around this network. The third is a normalisation. A stack of such
# blocks is a Transformer encoder.
#
# After this lesson you can
#
# - write the residual connection, layer normalisation and dropout in the right order;
# - say why the network needs a non-linearity between its two linear layers;
# - build an encoder from tokens to vectors, and check that padding does not change the output at
#   real positions.
#
# | name | shape | meaning |
# |---|---|---|
# | tokens | `(B, T)` | the index of each word in a vocabulary of `V` words, from 0 to `V - 1` |
# | `X`, `Y` | `(B, T, D)` | a vector of `D` features for each position, before and after a sublayer |
# | inside the network | `(B, T, ffn_num_hiddens)` | wider, usually four times `D` |
# | `valid_lens` | `None`, `(B,)` or `(B, T)` | how many positions are real, as in assignment 02 |
# | attention weights of one block | `(B·H, T, T)` | one matrix for each of the `H` heads |
#
# **Add, then normalise.** A *sublayer* is a part of the network that computes $Y$ from $X$: here an
# attention, or the small network. Instead of $Y$ alone, the layer passes on $X + Y$. Then the sublayer only
# has to learn what should *change* (He et al. 2016a). Gradients also flow back through the sum, even where the
# sublayer itself passes little of them on (He et al. 2016b). But sums grow from layer to layer. So each vector
# is brought to mean 0 and variance 1, and then scaled and shifted (layer normalisation, Ba et al. 2016):
#
# $$\mathrm{LayerNorm}(x) = \gamma \odot \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta$$
#
# Here $\mu$ and $\sigma^2$ are the mean and the variance over the $D$ features of *one* position. Neither the
# other positions nor the rest of the batch change them. The vectors $\gamma$ and $\beta$ are learned, and
# $\odot$ multiplies feature by feature. The small number $\epsilon$ prevents a division by zero.
# `nn.LayerNorm` does all this. Dropout is applied to the output of the sublayer, as in Vaswani et al. (2017,
# sections 3.1 and 5.4):
#
# $$\mathrm{AddNorm}(X, Y) = \mathrm{LayerNorm}(X + \mathrm{dropout}(Y))$$
#
# *By hand*, with two features and no dropout: the sum of $x = (1, 7)$ and $y = (2, 0)$ is $(3, 7)$. The mean
# is 5, the variance is $((-2)^2 + 2^2)/2 = 4$, its root is 2, and the result is $(-1, 1)$. The variance
# divides by the number of features, 2, and not by 1. And note that $y$ alone would become $(1, -1)$, which
# has the opposite sign.
#
# **A network for each position.** For given weights, attention is linear in the values: each head computes
# weighted means of projected vectors, and $W^O$ combines them. A **position-wise feed-forward network** (FFN)
# then transforms the vector of each position. The same two-layer network is applied to every position
# (Vaswani et al. 2017, section 3.3):
#
# $$\mathrm{FFN}(x) = W_2 \max(0, W_1 x + b_1) + b_2$$
#
# The maximum with 0 is the **non-linearity** called ReLU. The formula writes vectors as columns, as the
# paragraph *Conventions* in lesson 03 explains.
#
# *By hand*, with one feature in and out and two hidden ones: let $W_1$ have the rows $1$ and $-1$, let $W_2$
# be the row $(1, 1)$, and let the biases be 0. Then $x = -3$ gives $(-3, 3)$, after the maximum $(0, 3)$, and
# finally 3. In the same way $x = 2$ gives 2. So the network computes $\lvert x \rvert$. Without the maximum
# it would give $x - x = 0$. With other weights it could still not give $\lvert x \rvert$: two linear layers in
# a row are one linear layer.
#
# **The block.** Two sublayers, each with its residual connection and its normalisation:
#
# $$Y = \mathrm{AddNorm}_1\bigl(X, \mathrm{Attention}(X, X, X)\bigr)$$
#
# $$\mathrm{Block}(X) = \mathrm{AddNorm}_2\bigl(Y, \mathrm{FFN}(Y)\bigr)$$
#
# ![The encoder block from top to bottom. X goes into multi-head self-attention as queries, keys and values.
# The output passes dropout, is added to X, which arrives through the residual connection, and is normalised.
# The result is Y. Y goes through the position-wise network in the same way: dropout, the sum with Y,
# normalisation. All shapes are (B, T, D).](pictures/block.svg)
#
# Queries, keys and values are all $X$: this is *self-attention*. Pass `valid_lens` to the attention;
# otherwise every position also attends to the padding. The argument `use_bias` sets whether the four
# projections of the attention have biases. Many newer models normalise the *input* of each sublayer instead,
# $X + \mathrm{Sublayer}(\mathrm{LayerNorm}(X))$ (*pre-norm*). That is a good design, but it gives other
# values. Here we build the design of 2017 (*post-norm*).
#
# **The stack.** The encoder does four things in this order. An embedding table, `nn.Embedding`, maps tokens
# to vectors. The vectors are multiplied by $\sqrt{D}$ (Vaswani et al. 2017, section 3.4). Positions are
# added. Then the blocks follow, and each block gets the output of the block before. The table is a plain one,
# without a padding row: here `valid_lens`, and not a token, says what is padding.
#
# Why $\sqrt{D}$? The paper does not say. One reason is size: sines and cosines are between -1 and 1, while
# embeddings are often initialised with a standard deviation of about $1/\sqrt{D}$. Without the
# factor the positions would dominate; with it, both have about the same size. PyTorch initialises `nn.Embedding` with standard
# deviation 1, so here the words dominate at first. We keep the factor of the paper anyway. (It has nothing
# to do with the $\sqrt{d}$ of lesson 03. That one *divides* scores and belongs to a head with $d$ features;
# this one *multiplies* words with $D$ features. A model in which the factor is part of the trained table
# needs none, but weights fit only the code with which they were trained.)
#
# **What goes wrong.** Most of these mistakes raise no error, because the shapes are right.
#
# - Dropout is applied to $X$ or to the sum. It then also drops parts of the residual connection.
# - The second residual connection starts from $X$ instead of $Y$.
# - A block is created once and put into the stack `num_layers` times. Then it is *one* block with one set
#   of parameters.
# - The blocks are in a plain Python list. Then the encoder does not know them: `parameters()` and
#   `state_dict()` leave them out, so nothing trains or saves them. Put them into an `nn.Sequential`.
# - Every block gets the embedding instead of the output of the block before. Then only the last block has an
#   effect.
# - `nn.LayerNorm([T, D])` mixes the positions of a sentence. We pass `[D]`.
#
# `grader.given` provides `MultiHeadAttention` and `PositionalEncoding` of earlier assignments. After a
# call, `MultiHeadAttention` stores its attention weights in `.attention.attention_weights`, here of shape
# `(B·H, T, T)`.

# %%
import math

import torch
from torch import nn

from grader.given import MultiHeadAttention, PositionalEncoding

# %% [markdown]
# ## Exercise: `AddNorm`
#
# `X` is the input of a sublayer, `Y` its output. `normalized_shape` has the same meaning as in
# `nn.LayerNorm`: one integer, or a list with the sizes of the last axes.
#
# `forward(X, Y)`: `(B, T, D)` and `(B, T, D)` in, `(B, T, D)` out.
#
# **In plain Python.** For one position, without dropout:
#
# ```python
# import math
#
# def add_norm_plain(x, y, gamma, beta):  # four lists with D numbers
#     z = [a + b for a, b in zip(x, y)]
#     mean = sum(z) / len(z)
#     variance = sum((a - mean) ** 2 for a in z) / len(z)
#     normal = [(a - mean) / math.sqrt(variance + 0.00001) for a in z]
#     return [scale * a + shift for scale, a, shift in zip(gamma, normal, beta)]
# ```
#
# **In PyTorch, something similar.** Mean 0 and variance 1 for each column of a table:
#
# ```python
# table = torch.tensor([[1.0, 2.0], [3.0, 6.0]])
# (table - table.mean(dim=0)) / table.std(dim=0, correction=0)  # (2, 2): [[-1, -1], [1, 1]]
# ```


# %% exercise="AddNorm"
class AddNorm(nn.Module):
    """A residual connection, then layer normalisation (Vaswani et al. 2017, section 3.1; Ba et al. 2016).

    normalized_shape: as in nn.LayerNorm; dropout: the dropout rate for the output of the sublayer.
    """

    def __init__(self, normalized_shape: int | list[int], dropout: float):
        super().__init__()
        # The grader loads the weights by name: ln.
        raise NotImplementedError("AddNorm is not written yet")

    def forward(self, X: torch.Tensor, Y: torch.Tensor) -> torch.Tensor:
        """Combine the input X and the output Y of a sublayer, both (B, T, D). Returns (B, T, D), same dtype."""
        raise NotImplementedError("AddNorm.forward is not written yet")


# %% [markdown]
# ## Exercise: `PositionWiseFFN`
#
# Two linear layers with biases, and a ReLU between them. `nn.Linear` works on the last axis and leaves the
# others alone. That is exactly what "the same network at every position" needs.
#
# `forward(X)`: `(B, T, ffn_num_input)` in, `(B, T, ffn_num_outputs)` out.
#
# **In plain Python.** For one position:
#
# ```python
# def position_wise_ffn_plain(x, W_1, b_1, W_2, b_2):
#     hidden = []
#     for row, bias in zip(W_1, b_1):  # one hidden feature after the other
#         hidden.append(max(0.0, sum(w * a for w, a in zip(row, x)) + bias))
#     return [sum(w * a for w, a in zip(row, hidden)) + bias for row, bias in zip(W_2, b_2)]
# ```
#
# **In PyTorch, something similar.** A layer and another non-linearity, for each position of a batch:
#
# ```python
# layer = nn.Linear(3, 7)
# X = torch.randn(2, 5, 3)
# torch.tanh(layer(X))  # (2, 5, 7)
# ```


# %% exercise="PositionWiseFFN"
class PositionWiseFFN(nn.Module):
    """The same two-layer network at every position (Vaswani et al. 2017, section 3.3).

    ffn_num_input, ffn_num_hiddens, ffn_num_outputs: the numbers of features before, between and after the
    two layers.
    """

    def __init__(self, ffn_num_input: int, ffn_num_hiddens: int, ffn_num_outputs: int):
        super().__init__()
        # The grader loads the weights by name: dense1, dense2.
        raise NotImplementedError("PositionWiseFFN is not written yet")

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """Apply the network to every position. X: (B, T, ffn_num_input).

        Returns (B, T, ffn_num_outputs), same dtype.
        """
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
# `MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias)` is given. Its
# `forward` takes `(queries, keys, values, valid_lens)`. You have just written the rest. `norm_shape` is the
# `normalized_shape` of both `AddNorm` layers. The output of the block has as many features as its input;
# otherwise the residual connection could not be added.
#
# `forward(X, valid_lens)`: `(B, T, D)` and lengths in, `(B, T, D)` out.
#
# **In plain Python.** For one sequence. The parts are functions: `attention` takes queries, keys, values and
# lengths, as in lesson 05, the others are those from above with their weights.
#
# ```python
# def encoder_block_plain(X, valid_lens, attention, addnorm1, ffn, addnorm2):  # X: (T, D)
#     Y = []
#     for x, found in zip(X, attention(X, X, X, valid_lens)):
#         Y.append(addnorm1(x, found))
#     return [addnorm2(y, ffn(y)) for y in Y]  # T vectors with D numbers
# ```
#
# **In PyTorch, something similar.** Two sums, and the second starts from the first:
#
# ```python
# x = torch.tensor([1.0, 2.0])
# y = x + x.flip(0)  # (2,): [3, 3]
# y + y.square()  # (2,): [12, 12]
# ```


# %% exercise="EncoderBlock"
class EncoderBlock(nn.Module):
    """Self-attention, AddNorm, the position-wise network, AddNorm (Vaswani et al. 2017, section 3.1).

    use_bias: whether the four projections of the attention have biases. The feed-forward network always has
    them.
    """

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
        dropout: float = 0.0,
        use_bias: bool = False,
    ):
        super().__init__()
        # The grader loads the weights by name: attention, addnorm1, ffn, addnorm2.
        raise NotImplementedError("EncoderBlock is not written yet")

    def forward(self, X: torch.Tensor, valid_lens: torch.Tensor | None) -> torch.Tensor:
        """Apply the block. X: (B, T, D); valid_lens: None, (B,) or (B, T), the real positions to attend to.

        Returns (B, T, D), same dtype.
        """
        raise NotImplementedError("EncoderBlock.forward is not written yet")


# %% [markdown]
# ## Exercise: `TransformerEncoder`
#
# Write the four steps of the stack: embedding, scaling, positions, blocks. At each call, store the attention
# weights of all layers in a list `attention_weights`, one tensor `(B·H, T, T)` per layer, first layer first.
# Assignment 10 reads such lists. The grader compares the list that it finds; an encoder that stores no weights
# loses no points.
#
# `forward(X, valid_lens)`: tokens `(B, T)` and lengths in, `(B, T, D)` out.
#
# **In plain Python.** For one sentence, without dropout. `blocks` is a list of functions, each with its own
# weights:
#
# ```python
# import math
#
# def transformer_encoder_plain(tokens, valid_lens, embedding, blocks):  # embedding: (V, D)
#     X = []
#     for token in tokens:
#         row = embedding[token]
#         X.append([math.sqrt(len(row)) * x for x in row])
#     X = positional_encoding_plain(X)  # as in lesson 06
#     for block in blocks:
#         X = block(X, valid_lens)
#     return X  # T vectors with D numbers
# ```
#
# **In PyTorch, something similar.** A container names the layers, and so their parameters:
#
# ```python
# layers = nn.Sequential()
# layers.add_module("first", nn.Linear(4, 3))
# layers.add_module("last", nn.Linear(3, 2, bias=False))
# [name for name, _ in layers.named_parameters()]  # ["first.weight", "first.bias", "last.weight"]
# ```


# %% exercise="TransformerEncoder"
class TransformerEncoder(nn.Module):
    """Map each token to a vector that depends on its context.

    After a call, `attention_weights` is a list with one tensor (B·H, T, T) per layer.
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
        dropout: float = 0.0,
        use_bias: bool = False,
    ):
        super().__init__()
        # The grader loads the weights by name: embedding, pos_encoding, blks.block0, blks.block1, …
        # The blocks get these names from self.blks = nn.Sequential() and its method add_module(name, block).
        raise NotImplementedError("TransformerEncoder is not written yet")

    def forward(self, X: torch.Tensor, valid_lens: torch.Tensor | None, *args) -> torch.Tensor:
        """Encode a batch of sentences. X: (B, T) tokens; valid_lens: None, (B,) or (B, T).

        Returns (B, T, D) in the dtype of the weights. `*args`: not used; code of the book passes more arguments.
        """
        raise NotImplementedError("TransformerEncoder.forward is not written yet")


# %% [markdown]
# ## Try it
#
# Two sentences; the second has three words and is padded. Other words in the padding must not change the
# output for the real words, so the last line should be zero. No query attends to the padding, so the last two
# columns of the weights should be zero too.

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
# ## Summary
#
# - A residual connection adds the input of a sublayer to its output. Layer normalisation brings each
#   vector to mean 0 and variance 1 over its features, then scales and shifts each feature by learned numbers.
# - The feed-forward network treats every position alone. Without its non-linearity it would be one linear
#   layer.
# - An encoder block is self-attention and a feed-forward network, each followed by AddNorm.
# - The encoder multiplies embeddings by $\sqrt{D}$, adds positions and applies `num_layers` blocks with
#   separate parameters.

# %% [markdown]
# ## Questions to think about
#
# 1. What does `AddNorm` return when `Y` is zero and each row of `X` has mean 0 and variance 1 already? What
#    does that say about a sublayer that has learned nothing yet?
# 2. The padded positions of the output are not zero. Why does that do no harm?
# 3. Leave out the positions and shuffle the words of a sentence. What happens to the output? Say for each
#    part of the encoder why.
# 4. Which part of a block has more parameters, the attention or the network? Count them for `D = 512` and
#    `ffn_num_hiddens = 2048`.
# 5. In training, batch normalisation computes its mean and variance over the batch. In evaluation it uses
#    running averages from training instead. Name two reasons why this suits sentences badly.
# 6. Some notes say that layer normalisation keeps the direction of a vector and changes only its length. Is
#    this true? Try it with the example by hand.

# %% [markdown]
# ## Sources
#
# - Vaswani et al., [*Attention is all you need*](https://arxiv.org/abs/1706.03762), 2017.
# - He et al., [*Deep residual learning for image recognition*](https://arxiv.org/abs/1512.03385), 2016 (a).
# - He et al., [*Identity mappings in deep residual networks*](https://arxiv.org/abs/1603.05027), 2016 (b).
# - Ba, Kiros, Hinton, [*Layer normalization*](https://arxiv.org/abs/1607.06450), 2016.
