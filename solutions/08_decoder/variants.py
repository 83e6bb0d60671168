"""Right answers written differently or with other values, and trivial answers.

An `also` is a right answer with other values than the reference. Its values are accepted, so a `variant` may have
them, too.

`…-edition-1` is written as in edition 1 of *Dive into Deep Learning*, whose constructors take fewer sizes.
"""

from grader.authoring import also, edit, trivial, variant

BLOCK_HEAD = """
class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input,
                 ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        sizes = key_size, query_size, value_size, num_hiddens, num_heads, dropout
        self.attention1, self.attention2 = MultiHeadAttention(*sizes), MultiHeadAttention(*sizes)
        self.addnorm1, self.addnorm2, self.addnorm3 = (AddNorm(norm_shape, dropout) for _ in range(3))
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

"""

DECODER_HEAD = """
class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input,
                 ffn_num_hiddens, num_heads, num_layers, dropout):
        super().__init__()
        self.width, self.depth = num_hiddens, num_layers
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module(f"block{i}", DecoderBlock(
                key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
                num_heads, dropout, i))
        self.dense = nn.Linear(num_hiddens, vocab_size)

"""

BLOCKS = [
    variant(
        "block-edition-1",
        "DecoderBlock",
        """
from d2l import torch as d2l

class DecoderBlock(nn.Module):
    def __init__(self, num_hiddens, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        for number in (1, 2):
            setattr(self, f"attention{number}", d2l.MultiHeadAttention(num_hiddens, num_heads, dropout))
        self.addnorm1, self.addnorm2, self.addnorm3 = (d2l.AddNorm(num_hiddens, dropout) for _ in range(3))
        self.ffn = d2l.PositionWiseFFN(ffn_num_hiddens, num_hiddens)

    def forward(self, X, state):
        source, source_lens, kept = state
        seen = X if kept[self.i] is None else torch.cat((kept[self.i], X), dim=1)
        kept[self.i] = seen
        lens = None
        if self.training:
            lens = torch.arange(1, X.shape[1] + 1, device=X.device).repeat(X.shape[0], 1)
        Y = self.addnorm1(X, self.attention1(X, seen, seen, lens))
        Z = self.addnorm2(Y, self.attention2(Y, source, source, source_lens))
        return self.addnorm3(Z, self.ffn(Z)), state
""",
    ),
    also(
        "decblock-as-in-the-book",
        "DecoderBlock",
        edit("visible.repeat(batch_size, 1)", "visible.repeat(batch_size, 1) if self.training else None"),
        edit("cache = state", "cache = state[0], state[1], state[2]"),
    ),
    variant(
        "newest-step-in-front",
        "DecoderBlock",
        edit("torch.cat((cache[self.i], X), dim=1)", "torch.cat((X, cache[self.i]), dim=1)"),
        edit("visible.repeat(batch_size, 1)", "visible.repeat(batch_size, 1) if self.training else None"),
    ),
    variant(
        "state-as-a-new-list",
        "DecoderBlock",
        BLOCK_HEAD
        + """
    def forward(self, X, state):
        source, source_lens, kept = state
        mine = X if self.training or kept[self.i] is None else torch.cat([kept[self.i], X], dim=1)
        steps = torch.arange(mine.shape[1], device=X.device)
        lens = (steps[-X.shape[1]:] + 1).expand(len(X), -1)
        Y = self.addnorm1(X, self.attention1(X, mine, mine, lens))
        Z = self.addnorm2(Y, self.attention2(Y, source, source, source_lens))
        fresh = [mine if place == self.i else other for place, other in enumerate(kept)]
        return self.addnorm3(Z, self.ffn(Z)), (source, source_lens, fresh)
""",
    ),
    variant(
        "step-after-step",
        "DecoderBlock",
        BLOCK_HEAD
        + """
    def forward(self, X, state):
        source, source_lens, kept = state
        history = [] if self.training else (kept[self.i] or [])
        out = []
        for x in X.split(1, dim=1):
            history = history + [x]
            seen = torch.cat(history, dim=1)
            y = self.addnorm1(x, self.attention1(x, seen, seen, None))
            z = self.addnorm2(y, self.attention2(y, source, source, source_lens))
            out.append(self.addnorm3(z, self.ffn(z)))
        if not self.training:
            kept[self.i] = history
        return torch.cat(out, dim=1), state
""",
    ),
    variant(
        "whole-prefix-again",
        "DecoderBlock",
        BLOCK_HEAD
        + """
    def forward(self, X, state):
        if not self.training:
            earlier = state[2][self.i]
            state[2][self.i] = X if earlier is None else torch.cat((earlier, X), dim=1)
        whole = X if self.training else state[2][self.i]
        T = whole.shape[1]
        lens = torch.ones(T, T, device=X.device).tril().sum(dim=1).long().repeat(len(X), 1)
        Y = self.addnorm1(whole, self.attention1(whole, whole, whole, lens))
        Z = self.addnorm2(Y, self.attention2(Y, state[0], state[0], state[1]))
        return self.addnorm3(Z, self.ffn(Z))[:, T - X.shape[1]:], state
""",
    ),
    variant(
        "cross-attention-created-first",
        "DecoderBlock",
        """
class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input,
                 ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        sizes = key_size, query_size, value_size, num_hiddens, num_heads, dropout
        self.cross_attn, self.cross_norm = MultiHeadAttention(*sizes), AddNorm(norm_shape, dropout)
        self.self_attn, self.self_norm = MultiHeadAttention(*sizes), AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.ffn_norm = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        seen, lens = X, None
        if self.training:
            lens = torch.arange(1, X.shape[1] + 1, device=X.device).repeat(X.shape[0], 1)
        else:
            seen = X if state[2][self.i] is None else torch.cat((state[2][self.i], X), dim=1)
            state[2][self.i] = seen
        Y = self.self_norm(X, self.self_attn(X, seen, seen, lens))
        Z = self.cross_norm(Y, self.cross_attn(Y, state[0], state[0], state[1]))
        return self.ffn_norm(Z, self.ffn(Z)), state
""",
    ),
    variant(
        "own-attention",
        "DecoderBlock",
        """
class _Heads(nn.Module):
    def __init__(self, D, H, p):
        super().__init__()
        self.H, self.p = H, p
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(D, D, bias=False))

    def forward(self, queries, keys, hidden):
        q, k, v = (W(t).unflatten(-1, (self.H, -1)).transpose(1, 2)
                   for W, t in ((self.W_q, queries), (self.W_k, keys), (self.W_v, keys)))
        scores = q @ k.mT * q.shape[-1] ** -0.5
        if hidden is not None:
            scores = scores + torch.zeros_like(scores).masked_fill(hidden, -torch.inf)
        weights = nn.functional.dropout(scores.softmax(-1), self.p, self.training)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2))


class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input,
                 ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        self.attention1, self.attention2 = (_Heads(num_hiddens, num_heads, dropout) for _ in range(2))
        self.addnorm1, self.addnorm2, self.addnorm3 = (AddNorm(norm_shape, dropout) for _ in range(3))
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def forward(self, X, state):
        T, S = X.shape[1], state[0].shape[1]
        seen, future, padding = X, None, None
        if self.training:
            future = torch.ones(T, T, dtype=torch.bool, device=X.device).triu(1)
        else:
            seen = torch.cat([x for x in (state[2][self.i], X) if x is not None], dim=1)
            state[2][self.i] = seen
        if state[1] is not None:
            padding = (torch.arange(S, device=X.device) >= state[1][:, None])[:, None, None]
        Y = self.addnorm1(X, self.attention1(X, seen, future))
        Z = self.addnorm2(Y, self.attention2(Y, state[0], padding))
        return self.addnorm3(Z, self.ffn(Z)), state
""",
    ),
    trivial(
        "input-returned",
        "DecoderBlock",
        BLOCK_HEAD
        + """
    def forward(self, X, state):
        return X, state
""",
    ),
    trivial(
        "zeros",
        "DecoderBlock",
        BLOCK_HEAD
        + """
    def forward(self, X, state):
        return torch.zeros_like(X), state
""",
    ),
    trivial(
        "mean-of-source",
        "DecoderBlock",
        BLOCK_HEAD
        + """
    def forward(self, X, state):
        return state[0].mean(dim=1, keepdim=True).expand(-1, X.shape[1], -1), state
""",
    ),
]

DECODERS = [
    variant(
        "decoder-blocks-numbered",
        "TransformerDecoder",
        edit("self.blks = nn.Sequential()", "self.blks = nn.ModuleList()", times=2),
        edit('self.blks.add_module(f"block{i}", block)', "self.blks.append(block)"),
    ),
    variant(
        "decoder-blocks-under-another-name",
        "TransformerDecoder",
        edit("self.blks = nn.Sequential()", "self.layers = nn.Sequential()", times=2),
        edit('self.blks.add_module(f"block{i}", block)', "self.layers.append(block)"),
        edit("for block in self.blks:", "for block in self.layers:"),
    ),
    variant(
        "decoder-edition-1",
        "TransformerDecoder",
        """
from d2l import torch as d2l

class TransformerDecoder(d2l.AttentionDecoder):
    def __init__(self, vocab_size, num_hiddens, ffn_num_hiddens, num_heads, num_blks, dropout):
        super().__init__()
        self.num_hiddens, self.num_blks = num_hiddens, num_blks
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = d2l.PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_blks):
            block = d2l.TransformerDecoderBlock(num_hiddens, ffn_num_hiddens, num_heads, dropout, i)
            self.blks.add_module(f"block{i}", block)
        self.dense = nn.LazyLinear(vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens):
        return [enc_outputs, enc_valid_lens, [None] * self.num_blks]

    def forward(self, X, state):
        cached = None if self.training else state[2][0]
        earlier = 0 if cached is None else cached.shape[1]
        X = self.embedding(X) * math.sqrt(self.num_hiddens)
        X = self.pos_encoding.dropout(X + self.pos_encoding.P[:, earlier : earlier + X.shape[1]].to(X))
        self._attention_weights = [[], []]
        for block in self.blks:
            X, state = block(X, state)
            self._attention_weights[0].append(block.attention1.attention.attention_weights)
            self._attention_weights[1].append(block.attention2.attention.attention_weights)
        return self.dense(X), state

    @property
    def attention_weights(self):
        return self._attention_weights
""",
    ),
    also(
        "decoder-positions-restart",
        "TransformerDecoder",
        edit("cached = state[2][0]", ""),
        edit("earlier = 0 if self.training or cached is None else cached.shape[1]", "earlier = 0"),
    ),
    variant(
        "counter-in-the-state",
        "TransformerDecoder",
        DECODER_HEAD
        + """
    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None] * self.depth, 0]

    def forward(self, X, state):
        earlier, T = state[3], X.shape[1]
        X = self.embedding(X) * self.width ** 0.5
        X = self.pos_encoding.dropout(X + self.pos_encoding.P[:, earlier:earlier + T].to(X))
        for block in self.blks:
            X, rest = block(X, state[:3])
            state = [*rest, state[3]]
        return self.dense(X), [*state[:3], earlier if self.training else earlier + T]
""",
    ),
    variant(
        "module-list-by-number",
        "TransformerDecoder",
        DECODER_HEAD.replace("self.blks = nn.Sequential()", "self.blks = nn.ModuleDict()")
        .replace(
            'self.blks.add_module(f"block{i}", DecoderBlock(', 'self.blks.update({f"block{i}": DecoderBlock('
        )
        .replace("dropout, i))", "dropout, i)})")
        + """
    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, {i: None for i in range(self.depth)}]

    def forward(self, tokens, state):
        one_hot = nn.functional.one_hot(tokens, self.embedding.num_embeddings).to(self.embedding.weight.dtype)
        out = self.pos_encoding(one_hot @ (self.embedding.weight * math.sqrt(self.width)))
        for i in range(self.depth):
            out, state = self.blks[f"block{i}"](out, state)
        return out @ self.dense.weight.T + self.dense.bias, state
""",
    ),
    variant(
        "words-kept-in-the-state",
        "TransformerDecoder",
        DECODER_HEAD
        + """
    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return enc_outputs, enc_valid_lens, None

    def forward(self, words, state):
        source, lens, before = state
        whole = words if self.training or before is None else torch.cat((before, words), dim=1)
        X = self.pos_encoding(self.embedding(whole) * self.width ** 0.5)
        causal = torch.arange(1, whole.shape[1] + 1, device=words.device).repeat(len(words), 1)
        for block in self.blks:
            Y = block.addnorm1(X, block.attention1(X, X, X, causal))
            Z = block.addnorm2(Y, block.attention2(Y, source, source, lens))
            X = block.addnorm3(Z, block.ffn(Z))
        return self.dense(X[:, -words.shape[1]:]), (source, lens, whole)
""",
    ),
    variant(
        "book",
        "TransformerDecoder",
        DECODER_HEAD
        + """
    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None] * self.depth]

    def forward(self, X, state):
        X = self.pos_encoding(self.embedding(X) * math.sqrt(self.width))
        for block in self.blks:
            X, state = block(X, state)
        return self.dense(X), state
""",
    ),
    trivial(
        "no-scores",
        "TransformerDecoder",
        DECODER_HEAD
        + """
    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None] * self.depth]

    def forward(self, X, state):
        return torch.zeros(*X.shape, self.dense.out_features), state
""",
    ),
    trivial(
        "all-words-alike",
        "TransformerDecoder",
        DECODER_HEAD
        + """
    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None] * self.depth]

    def forward(self, X, state):
        return torch.full((*X.shape, self.dense.out_features), 1 / self.dense.out_features), state
""",
    ),
]

VARIANTS = BLOCKS + DECODERS
