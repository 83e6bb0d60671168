"""Right answers written differently, and trivial answers.

`edition-1` is written as in edition 1 of *Dive into Deep Learning*.
"""

from grader.authoring import trivial, variant

HEAD = """
class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0):
        super().__init__()
        self.attention = AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)

"""

BATCH_FIRST = HEAD.replace("dropout=dropout)", "dropout=dropout, batch_first=True)")

VARIANTS = [
    variant(
        "edition-1",
        "Seq2SeqAttentionDecoder",
        """
from d2l import torch as d2l

class Seq2SeqAttentionDecoder(d2l.AttentionDecoder):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0):
        super().__init__()
        self.attention = d2l.AdditiveAttention(num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.LazyLinear(vocab_size)
        self.apply(d2l.init_seq2seq)

    def init_state(self, enc_outputs, enc_valid_lens):
        return enc_outputs[0].swapaxes(0, 1), enc_outputs[1], enc_valid_lens

    def forward(self, X, state):
        source, hidden, lens = state
        steps, self._attention_weights = [], []
        for word in self.embedding(X).swapaxes(0, 1):
            context = self.attention(hidden[-1].unsqueeze(1), source, source, lens)
            self._attention_weights.append(self.attention.attention_weights)
            joined = torch.cat((context, word.unsqueeze(1)), dim=2)
            step, hidden = self.rnn(joined.swapaxes(0, 1), hidden)
            steps.append(step)
        scores = self.dense(torch.cat(steps))
        return scores.swapaxes(0, 1), (source, hidden, lens)

    @property
    def attention_weights(self):
        return self._attention_weights
""",
    ),
    variant(
        "batch-first",
        "Seq2SeqAttentionDecoder",
        BATCH_FIRST
        + """
    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return {"source": enc_outputs[0].transpose(0, 1), "hidden": enc_outputs[1], "lens": enc_valid_lens}

    def forward(self, X, state):
        state, scores, self.attention_weights = dict(state), [], []
        for word in X.split(1, dim=1):
            context = self.attention(state["hidden"][-1][:, None], state["source"], state["source"], state["lens"])
            out, state["hidden"] = self.rnn(torch.cat((context, self.embedding(word)), dim=2), state["hidden"])
            scores.append(self.dense(out))
            self.attention_weights += [self.attention.attention_weights]
        return torch.cat(scores, dim=1), state
""",
    ),
    variant(
        "weights-in-one-tensor",
        "Seq2SeqAttentionDecoder",
        HEAD
        + """
    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs[0].movedim(1, 0), enc_outputs[1], enc_valid_lens]

    def forward(self, X, state):
        source, hidden, lens = state
        words, rows, seen = self.embedding(X), [], []
        for t in range(X.shape[1]):
            context = self.attention(hidden[-1:].movedim(1, 0), source, source, lens)[:, 0]
            hidden = self.rnn(torch.hstack((context, words[:, t]))[None], hidden)[1]
            rows.append(hidden[-1])
            seen.append(self.attention.attention_weights)
        self.attention_weights = torch.cat(seen, dim=1)  # (B, T, S)
        return self.dense(torch.stack(rows, dim=1)), [source, hidden, lens]
""",
    ),
    variant(
        "word-after-word",
        "Seq2SeqAttentionDecoder",
        HEAD
        + """
    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return *enc_outputs, enc_valid_lens

    def one(self, word, state):
        outputs, hidden, lens = state
        source = outputs.permute(1, 0, 2)
        context = self.attention(hidden[-1].unsqueeze(1), source, source, lens)
        out, hidden = self.rnn(torch.cat((context.squeeze(1), self.embedding(word)), 1).unsqueeze(0), hidden)
        return self.dense(out.squeeze(0)), self.attention.attention_weights, (outputs, hidden, lens)

    def forward(self, X, state):
        scores, kept = [], []
        for word in X.T:
            score, weights, state = self.one(word, state)
            scores.append(score)
            kept.append(weights.squeeze(1))  # (B, S)
        self.attention_weights = kept
        return torch.stack(scores, dim=1), state
""",
    ),
    variant(
        "attention-written-out",
        "Seq2SeqAttentionDecoder",
        """
class _Additive(nn.Module):
    def __init__(self, D, p):
        super().__init__()
        self.W_k, self.W_q = nn.Linear(D, D, bias=False), nn.Linear(D, D, bias=False)
        self.w_v, self.drop = nn.Linear(D, 1, bias=False), nn.Dropout(p)


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0):
        super().__init__()
        self.attention = _Additive(num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        outputs, hidden = enc_outputs  # (S, B, D)
        padding = None
        if enc_valid_lens is not None:
            padding = torch.arange(len(outputs), device=outputs.device)[:, None] >= enc_valid_lens
        return outputs, self.attention.W_k(outputs), padding, hidden

    def forward(self, X, state):
        outputs, keys, padding, hidden = state
        self.attention_weights, scores = [], []
        for word in self.embedding(X).unbind(1):
            score = self.attention.w_v(torch.tanh(keys + self.attention.W_q(hidden[-1])))[..., 0]  # (S, B)
            if padding is not None:
                score = score.where(~padding, torch.tensor(-1e9, dtype=score.dtype, device=score.device))
            weights = score.softmax(0)
            self.attention_weights.append(weights.T[:, None])
            context = (self.attention.drop(weights)[..., None] * outputs).sum(0)
            out, hidden = self.rnn(torch.cat((context, word), -1)[None], hidden)
            scores.append(self.dense(out[0]))
        return torch.stack(scores, 1), (outputs, keys, padding, hidden)
""",
    ),
    trivial(
        "zeros",
        "Seq2SeqAttentionDecoder",
        HEAD
        + """
    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return enc_outputs

    def forward(self, X, state):
        return torch.zeros(*X.shape, self.dense.out_features), state
""",
    ),
    trivial(
        "all-words-alike",
        "Seq2SeqAttentionDecoder",
        HEAD
        + """
    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return enc_outputs

    def forward(self, X, state):
        return torch.full((*X.shape, self.dense.out_features), 1 / self.dense.out_features), state
""",
    ),
]
