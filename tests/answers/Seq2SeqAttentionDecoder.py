# %% right_batch_first: GRU with batch_first=True
# kind: same

import torch
from torch import nn
from grader.given import AdditiveAttention

class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0):
        super().__init__()
        self.attention = AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout, batch_first=True)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens):
        outputs, hidden = enc_outputs
        return {'keys': outputs.transpose(0, 1), 'hidden': hidden, 'lens': enc_valid_lens}

    def forward(self, X, state):
        keys, hidden, lens = state['keys'], state['hidden'], state['lens']
        logits, weights = [], []
        for t in range(X.shape[1]):
            query = hidden[-1].unsqueeze(1)
            context = self.attention(query, keys, keys, lens)
            weights.append(self.attention.attention_weights)
            step, hidden = self.rnn(torch.cat((context, self.embedding(X[:, t:t + 1])), dim=2), hidden)
            logits.append(self.dense(step))
        self.attention_weights = weights
        return torch.cat(logits, dim=1), {'keys': keys, 'hidden': hidden, 'lens': lens}


# %% right_book: the book's decoder
# kind: same

import torch
from torch import nn
from grader.given import AdditiveAttention


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers,
                 dropout=0, **kwargs):
        super(Seq2SeqAttentionDecoder, self).__init__(**kwargs)
        self.attention = AdditiveAttention(
            num_hiddens, num_hiddens, num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(
            embed_size + num_hiddens, num_hiddens, num_layers,
            dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)
    def init_state(self, enc_outputs, enc_valid_lens, *args):
        # (T, B, D), (L, B, D)
        outputs, hidden_state = enc_outputs
        return (outputs.permute(1, 0, 2), hidden_state, enc_valid_lens)

    def forward(self, X, state):
        # enc_outputs (B, T, D), hidden_state (L, B, D)
        enc_outputs, hidden_state, enc_valid_lens = state
        X = self.embedding(X).permute(1, 0, 2)
        outputs, self._attention_weights = [], []
        for x in X:
            query = torch.unsqueeze(hidden_state[-1], dim=1)
            context = self.attention(query, enc_outputs, enc_outputs, enc_valid_lens)
            x = torch.cat((context, torch.unsqueeze(x, dim=1)), dim=-1)
            out, hidden_state = self.rnn(x.permute(1, 0, 2), hidden_state)
            outputs.append(out)
            self._attention_weights.append(self.attention.attention_weights)
        outputs = self.dense(torch.cat(outputs, dim=0))
        return outputs.permute(1, 0, 2), [enc_outputs, hidden_state, enc_valid_lens]
    @property
    def attention_weights(self):
        return self._attention_weights


# %% right_own_attention: own additive attention, keys projected once
# kind: same

import torch
from torch import nn

class Additive(nn.Module):
    def __init__(self, size, p):
        super().__init__()
        self.W_k = nn.Linear(size, size, bias=False)
        self.W_q = nn.Linear(size, size, bias=False)
        self.w_v = nn.Linear(size, 1, bias=False)
        self.drop = nn.Dropout(p)

class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0):
        super().__init__()
        self.attention = Additive(num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [*enc_outputs, enc_valid_lens]

    def forward(self, X, state):
        outputs, hidden, lens = state                                      # outputs stay (S, B, D)
        keys = self.attention.W_k(outputs)
        pad = None
        if lens is not None:
            pad = torch.arange(outputs.shape[0], device=X.device)[:, None] >= lens[None, :]   # (S, B)
        self.attention_weights, steps = [], []
        for token in X.unbind(1):
            e = self.attention.w_v(torch.tanh(keys + self.attention.W_q(hidden[-1]))).squeeze(-1)
            if pad is not None:
                e = e.masked_fill(pad, float('-inf'))
            a = e.softmax(0)
            self.attention_weights.append(a.T.unsqueeze(1))                # (B, 1, S)
            context = torch.einsum('sb,sbd->bd', self.attention.drop(a), outputs)
            _, hidden = self.rnn(torch.cat([context, self.embedding(token)], 1)[None], hidden)
            steps.append(self.dense(hidden[-1]))
        return torch.stack(steps, 1), [outputs, hidden, lens]


# %% right_rnn_by_hand: GRU equations written out, weights still in an nn.GRU
# kind: same

import torch
from torch import nn
import torch.nn.functional as F
from grader.given import AdditiveAttention

class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0):
        super().__init__()
        self.layers, self.p = num_layers, dropout
        self.attention = AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights = None

    def init_state(self, enc_outputs, enc_valid_lens, *_):
        outputs, hidden = enc_outputs
        return outputs.transpose(0, 1).contiguous(), hidden, enc_valid_lens

    def cell(self, x, h, layer):
        w = lambda kind: getattr(self.rnn, f'{kind}_l{layer}')
        r_x, z_x, n_x = F.linear(x, w('weight_ih'), w('bias_ih')).chunk(3, dim=1)
        r_h, z_h, n_h = F.linear(h, w('weight_hh'), w('bias_hh')).chunk(3, dim=1)
        r, z = torch.sigmoid(r_x + r_h), torch.sigmoid(z_x + z_h)
        n = torch.tanh(n_x + r * n_h)
        return (1 - z) * n + z * h

    def forward(self, X, state):
        memory, hidden, lens = state
        h = list(hidden)
        result, weights = [], []
        for t in range(X.shape[1]):
            x = self.attention(h[-1].unsqueeze(1), memory, memory, lens).squeeze(1)
            weights.append(self.attention.attention_weights)
            x = torch.cat((x, self.embedding(X[:, t])), dim=1)
            for layer in range(self.layers):
                if layer > 0:
                    x = F.dropout(x, self.p, self.training)
                x = h[layer] = self.cell(x, h[layer], layer)
            result.append(x)
        self.attention_weights = weights
        return self.dense(torch.stack(result, dim=1)), (memory, torch.stack(h), lens)


# %% right_weights_stacked: attention weights as one tensor, a step a row
# kind: same

import torch
import torch.nn as nn
from grader.given import AdditiveAttention

class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0):
        super().__init__()
        self.attention = AdditiveAttention(key_size=num_hiddens, query_size=num_hiddens, num_hiddens=num_hiddens, dropout=dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights = []

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        memory, hidden = enc_outputs
        return [memory.transpose(0, 1), hidden, enc_valid_lens]

    def one_step(self, x, hidden, memory, lens):
        context = self.attention(hidden[-1:].transpose(0, 1), memory, memory, lens)
        out, hidden = self.rnn(torch.cat([context.squeeze(1), x], dim=-1).unsqueeze(0), hidden)
        return self.dense(out.squeeze(0)), hidden

    def forward(self, X, state):
        memory, hidden, lens = state
        logits, weights = [], []
        for x in self.embedding(X).unbind(dim=1):
            y, hidden = self.one_step(x, hidden, memory, lens)
            logits.append(y)
            weights.append(self.attention.attention_weights)
        self.attention_weights = torch.stack(weights)        # (T, B, 1, S)
        return torch.stack(logits, dim=1), (memory, hidden, lens)


# %% wrong_context_once: context computed once from the first hidden state
# kind: mistake
# breaks: values
# equals: seq2seq-query-never-changes

import torch
import torch.nn as nn
from grader.given import AdditiveAttention

class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0):
        super().__init__()
        self.attention = AdditiveAttention(key_size=num_hiddens, query_size=num_hiddens, num_hiddens=num_hiddens, dropout=dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights = []

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        memory, hidden = enc_outputs
        return [memory.transpose(0, 1), hidden, enc_valid_lens]

    def forward(self, X, state):
        memory, hidden, lens = state
        ctx = self.attention(hidden[-1].unsqueeze(1), memory, memory, lens)
        self.attention_weights = [self.attention.attention_weights] * X.shape[1]
        x = torch.cat((ctx.expand(-1, X.shape[1], -1), self.embedding(X)), dim=-1)
        out, hidden = self.rnn(x.transpose(0, 1), hidden)
        return self.dense(out).transpose(0, 1), [memory, hidden, lens]


# %% wrong_first_token: feeds the first token at every step
# kind: mistake
# breaks: values
# equals: seq2seq-first-word-always

import torch
import torch.nn as nn
from grader.given import AdditiveAttention

class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0):
        super().__init__()
        self.attention = AdditiveAttention(key_size=num_hiddens, query_size=num_hiddens, num_hiddens=num_hiddens, dropout=dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights = []

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        memory, hidden = enc_outputs
        return [memory.transpose(0, 1), hidden, enc_valid_lens]

    def forward(self, X, state):
        memory, hidden, lens = state
        token = self.embedding(X[:, :1])
        out_list, self.attention_weights = [], []
        for _ in range(X.shape[1]):
            ctx = self.attention(hidden[-1].unsqueeze(1), memory, memory, lens)
            out, hidden = self.rnn(torch.cat([ctx, token], 2).transpose(0, 1), hidden)
            out_list.append(out)
            self.attention_weights.append(self.attention.attention_weights)
        return self.dense(torch.cat(out_list)).transpose(0, 1), [memory, hidden, lens]


# %% wrong_hidden_detached: hidden state detached between steps: gradient stops at one step
# kind: mistake
# breaks: gradients
# equals: seq2seq-hidden-detached

import torch
import torch.nn as nn
from grader.given import AdditiveAttention

class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0):
        super().__init__()
        self.attention = AdditiveAttention(key_size=num_hiddens, query_size=num_hiddens, num_hiddens=num_hiddens, dropout=dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights = []

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        memory, hidden = enc_outputs
        return [memory.transpose(0, 1), hidden, enc_valid_lens]

    def forward(self, X, state):
        memory, hidden, lens = state
        out_list, self.attention_weights = [], []
        for x in self.embedding(X).transpose(0, 1):
            ctx = self.attention(hidden[-1].unsqueeze(1), memory, memory, lens)
            out, hidden = self.rnn(torch.cat([ctx, x.unsqueeze(1)], 2).transpose(0, 1), hidden)
            hidden = hidden.detach()
            out_list.append(out)
            self.attention_weights.append(self.attention.attention_weights)
        return self.dense(torch.cat(out_list)).transpose(0, 1), [memory, hidden, lens]


# %% wrong_hidden_not_carried: hidden state not carried between steps
# kind: mistake
# breaks: values
# equals: seq2seq-hidden-carried-between-calls-only

import torch
import torch.nn as nn
from grader.given import AdditiveAttention

class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0):
        super().__init__()
        self.attention = AdditiveAttention(key_size=num_hiddens, query_size=num_hiddens, num_hiddens=num_hiddens, dropout=dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights = []

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        memory, hidden = enc_outputs
        return [memory.transpose(0, 1), hidden, enc_valid_lens]

    def forward(self, X, state):
        memory, hidden, lens = state
        emb = self.embedding(X)
        logits, self.attention_weights = [], []
        for t in range(X.shape[1]):
            ctx = self.attention(hidden[-1][:, None], memory, memory, lens)
            step = torch.cat([ctx, emb[:, t:t + 1]], -1).transpose(0, 1)
            out, new_hidden = self.rnn(step, hidden)
            logits.append(self.dense(out[0]))
            self.attention_weights.append(self.attention.attention_weights)
        return torch.stack(logits, 1), [memory, new_hidden, lens]


# %% wrong_last_key_context: context is the encoder's last output, nothing attended
# kind: mistake
# breaks: values, masking
# equals: seq2seq-last-output-as-context

import torch
import torch.nn as nn
from grader.given import AdditiveAttention

class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0):
        super().__init__()
        self.attention = AdditiveAttention(key_size=num_hiddens, query_size=num_hiddens, num_hiddens=num_hiddens, dropout=dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights = []

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        memory, hidden = enc_outputs
        return [memory.transpose(0, 1), hidden, enc_valid_lens]

    def forward(self, X, state):
        memory, hidden, lens = state
        out_list, self.attention_weights = [], []
        for x in self.embedding(X).transpose(0, 1):
            self.attention(hidden[-1].unsqueeze(1), memory, memory, lens)
            ctx = memory[:, -1]
            out, hidden = self.rnn(torch.cat([ctx, x], 1).unsqueeze(0), hidden)
            out_list.append(out)
            self.attention_weights.append(self.attention.attention_weights)
        return self.dense(torch.cat(out_list)).transpose(0, 1), [memory, hidden, lens]


# %% wrong_no_attention_dropout: dropout not passed to the attention
# kind: mistake
# breaks: modes
# equals: seq2seq-attention-without-dropout

import torch
from torch import nn
from grader.given import AdditiveAttention

class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0):
        super().__init__()
        self.attention = AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, 0.0)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)
    def init_state(self, enc_outputs, enc_valid_lens, *args):
        # (T, B, D), (L, B, D)
        outputs, hidden_state = enc_outputs
        return (outputs.permute(1, 0, 2), hidden_state, enc_valid_lens)

    def forward(self, X, state):
        enc, h, lens = state
        ys, self._attention_weights = [], []
        for t in range(X.size(1)):
            c = self.attention(h[-1:].transpose(0, 1), enc, enc, lens)
            y, h = self.rnn(torch.cat((c, self.embedding(X[:, t:t + 1])), -1).transpose(0, 1), h)
            ys.append(y.transpose(0, 1))
            self._attention_weights.append(self.attention.attention_weights)
        return self.dense(torch.cat(ys, 1)), (enc, h, lens)
    @property
    def attention_weights(self):
        return self._attention_weights


# %% wrong_no_lens: attention over the encoder without enc_valid_lens
# kind: mistake
# breaks: values, masking
# equals: seq2seq-without-lengths

import torch
import torch.nn as nn
from grader.given import AdditiveAttention

class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0):
        super().__init__()
        self.attention = AdditiveAttention(key_size=num_hiddens, query_size=num_hiddens, num_hiddens=num_hiddens, dropout=dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights = []

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        memory, hidden = enc_outputs
        return [memory.transpose(0, 1), hidden, enc_valid_lens]

    def forward(self, X, state):
        memory, hidden, lens = state
        out_list, self.attention_weights = [], []
        for x in self.embedding(X).transpose(0, 1):
            ctx = self.attention(hidden[-1].unsqueeze(1), memory, memory, None)
            out, hidden = self.rnn(torch.cat([ctx[:, 0], x], 1).unsqueeze(0), hidden)
            out_list.append(out)
            self.attention_weights.append(self.attention.attention_weights)
        return self.dense(torch.cat(out_list)).transpose(0, 1), [memory, hidden, lens]


# %% wrong_no_rnn_dropout: dropout not passed to the GRU
# kind: mistake
# breaks: modes
# equals: seq2seq-rnn-without-dropout

import torch
from torch import nn
from grader.given import AdditiveAttention

class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0):
        super().__init__()
        self.attention = AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers)
        self.dense = nn.Linear(num_hiddens, vocab_size)
    def init_state(self, enc_outputs, enc_valid_lens, *args):
        # (T, B, D), (L, B, D)
        outputs, hidden_state = enc_outputs
        return (outputs.permute(1, 0, 2), hidden_state, enc_valid_lens)

    def forward(self, X, state):
        enc, h, lens = state
        ys, self._attention_weights = [], []
        for t in range(X.size(1)):
            c = self.attention(h[-1:].transpose(0, 1), enc, enc, lens)
            y, h = self.rnn(torch.cat((c, self.embedding(X[:, t:t + 1])), -1).transpose(0, 1), h)
            ys.append(y.transpose(0, 1))
            self._attention_weights.append(self.attention.attention_weights)
        return self.dense(torch.cat(ys, 1)), (enc, h, lens)
    @property
    def attention_weights(self):
        return self._attention_weights


# %% wrong_old_hidden_returned: returns the old hidden state
# kind: mistake
# breaks: modes
# equals: seq2seq-old-hidden-returned

import torch
from torch import nn
from grader.given import AdditiveAttention


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers,
                 dropout=0, **kwargs):
        super(Seq2SeqAttentionDecoder, self).__init__(**kwargs)
        self.attention = AdditiveAttention(
            num_hiddens, num_hiddens, num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(
            embed_size + num_hiddens, num_hiddens, num_layers,
            dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)
    def init_state(self, enc_outputs, enc_valid_lens, *args):
        # (T, B, D), (L, B, D)
        outputs, hidden_state = enc_outputs
        return (outputs.permute(1, 0, 2), hidden_state, enc_valid_lens)

    def forward(self, X, state):
        enc_outputs, hidden_state, enc_valid_lens = state
        h = hidden_state
        X = self.embedding(X).permute(1, 0, 2)
        outputs, self._attention_weights = [], []
        for x in X:
            context = self.attention(h[-1].unsqueeze(1), enc_outputs, enc_outputs, enc_valid_lens)
            x = torch.cat((context, x.unsqueeze(1)), dim=-1)
            out, h = self.rnn(x.permute(1, 0, 2), h)
            outputs.append(out)
            self._attention_weights.append(self.attention.attention_weights)
        outputs = self.dense(torch.cat(outputs, dim=0))
        return outputs.permute(1, 0, 2), [enc_outputs, hidden_state, enc_valid_lens]
    @property
    def attention_weights(self):
        return self._attention_weights


# %% wrong_output_time_major: output left time-major (T, B, V)
# kind: mistake
# breaks: shapes, values
# equals: seq2seq-scores-time-first

import torch
import torch.nn as nn
from grader.given import AdditiveAttention

class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0):
        super().__init__()
        self.attention = AdditiveAttention(key_size=num_hiddens, query_size=num_hiddens, num_hiddens=num_hiddens, dropout=dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights = []

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        memory, hidden = enc_outputs
        return [memory.transpose(0, 1), hidden, enc_valid_lens]

    def forward(self, X, state):
        memory, hidden, lens = state
        out_list, self.attention_weights = [], []
        for x in self.embedding(X).transpose(0, 1):
            ctx = self.attention(hidden[-1].unsqueeze(1), memory, memory, lens)
            out, hidden = self.rnn(torch.cat([ctx, x.unsqueeze(1)], 2).transpose(0, 1), hidden)
            out_list.append(out)
            self.attention_weights.append(self.attention.attention_weights)
        return self.dense(torch.cat(out_list)), [memory, hidden, lens]


# %% wrong_own_prediction: feeds its own prediction instead of the given tokens
# kind: mistake
# breaks: values
# equals: seq2seq-own-words-read

import torch
import torch.nn as nn
from grader.given import AdditiveAttention

class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0):
        super().__init__()
        self.attention = AdditiveAttention(key_size=num_hiddens, query_size=num_hiddens, num_hiddens=num_hiddens, dropout=dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights = []

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        memory, hidden = enc_outputs
        return [memory.transpose(0, 1), hidden, enc_valid_lens]

    def forward(self, X, state):
        memory, hidden, lens = state
        out_list, self.attention_weights = [], []
        token = X[:, 0]
        for _ in range(X.shape[1]):
            ctx = self.attention(hidden[-1].unsqueeze(1), memory, memory, lens)
            x = torch.cat([ctx, self.embedding(token).unsqueeze(1)], 2).transpose(0, 1)
            out, hidden = self.rnn(x, hidden)
            logits = self.dense(out[0])
            token = logits.argmax(-1)
            out_list.append(logits)
            self.attention_weights.append(self.attention.attention_weights)
        return torch.stack(out_list, 1), [memory, hidden, lens]


# %% wrong_query_first_layer: query from the first GRU layer
# kind: mistake
# breaks: values
# equals: seq2seq-query-first-layer

import torch
from torch import nn
from grader.given import AdditiveAttention


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers,
                 dropout=0, **kwargs):
        super(Seq2SeqAttentionDecoder, self).__init__(**kwargs)
        self.attention = AdditiveAttention(
            num_hiddens, num_hiddens, num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(
            embed_size + num_hiddens, num_hiddens, num_layers,
            dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)
    def init_state(self, enc_outputs, enc_valid_lens, *args):
        # (T, B, D), (L, B, D)
        outputs, hidden_state = enc_outputs
        return (outputs.permute(1, 0, 2), hidden_state, enc_valid_lens)

    def forward(self, X, state):
        enc_outputs, hidden_state, enc_valid_lens = state
        X = self.embedding(X).permute(1, 0, 2)
        outputs, self._attention_weights = [], []
        for x in X:
            query = torch.unsqueeze(hidden_state[0], dim=1)
            context = self.attention(query, enc_outputs, enc_outputs, enc_valid_lens)
            x = torch.cat((context, torch.unsqueeze(x, dim=1)), dim=-1)
            out, hidden_state = self.rnn(x.permute(1, 0, 2), hidden_state)
            outputs.append(out)
            self._attention_weights.append(self.attention.attention_weights)
        outputs = self.dense(torch.cat(outputs, dim=0))
        return outputs.permute(1, 0, 2), [enc_outputs, hidden_state, enc_valid_lens]
    @property
    def attention_weights(self):
        return self._attention_weights


# %% wrong_query_is_input: query is the embedded token padded to the hidden size
# kind: mistake
# breaks: values
# equals: seq2seq-query-from-the-word

import torch
import torch.nn as nn
from grader.given import AdditiveAttention

class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0):
        super().__init__()
        self.attention = AdditiveAttention(key_size=num_hiddens, query_size=num_hiddens, num_hiddens=num_hiddens, dropout=dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights = []

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        memory, hidden = enc_outputs
        return [memory.transpose(0, 1), hidden, enc_valid_lens]

    def forward(self, X, state):
        memory, hidden, lens = state
        out_list, self.attention_weights = [], []
        for x in self.embedding(X).transpose(0, 1):
            q = nn.functional.pad(x, (0, hidden.shape[-1] - x.shape[-1]))
            ctx = self.attention(q.unsqueeze(1), memory, memory, lens)
            out, hidden = self.rnn(torch.cat([ctx, x.unsqueeze(1)], 2).transpose(0, 1), hidden)
            out_list.append(out)
            self.attention_weights.append(self.attention.attention_weights)
        return self.dense(torch.cat(out_list)).transpose(0, 1), [memory, hidden, lens]


# %% wrong_softmax: softmax before returning logits
# kind: mistake
# breaks: values
# equals: seq2seq-softmax

import torch
import torch.nn as nn
from grader.given import AdditiveAttention

class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0):
        super().__init__()
        self.attention = AdditiveAttention(key_size=num_hiddens, query_size=num_hiddens, num_hiddens=num_hiddens, dropout=dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights = []

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        memory, hidden = enc_outputs
        return [memory.transpose(0, 1), hidden, enc_valid_lens]

    def forward(self, X, state):
        memory, hidden, lens = state
        out_list, self.attention_weights = [], []
        for x in self.embedding(X).transpose(0, 1):
            ctx = self.attention(hidden[-1].unsqueeze(1), memory, memory, lens)
            out, hidden = self.rnn(torch.cat([ctx, x.unsqueeze(1)], 2).transpose(0, 1), hidden)
            out_list.append(torch.softmax(self.dense(out), -1))
            self.attention_weights.append(self.attention.attention_weights)
        return torch.cat(out_list).transpose(0, 1), [memory, hidden, lens]


# %% wrong_time_major: encoder outputs left time-major
# kind: mistake
# breaks: shapes, values
# equals: seq2seq-outputs-time-first

import torch
from torch import nn
from grader.given import AdditiveAttention


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers,
                 dropout=0, **kwargs):
        super(Seq2SeqAttentionDecoder, self).__init__(**kwargs)
        self.attention = AdditiveAttention(
            num_hiddens, num_hiddens, num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(
            embed_size + num_hiddens, num_hiddens, num_layers,
            dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        outputs, hidden_state = enc_outputs
        return (outputs, hidden_state, enc_valid_lens)

    def forward(self, X, state):
        enc_outputs, hidden_state, enc_valid_lens = state
        X = self.embedding(X).permute(1, 0, 2)
        outputs, self._attention_weights = [], []
        for x in X:
            query = torch.unsqueeze(hidden_state[-1], dim=1)
            context = self.attention(query, enc_outputs, enc_outputs, enc_valid_lens)
            x = torch.cat((context, torch.unsqueeze(x, dim=1)), dim=-1)
            out, hidden_state = self.rnn(x.permute(1, 0, 2), hidden_state)
            outputs.append(out)
            self._attention_weights.append(self.attention.attention_weights)
        outputs = self.dense(torch.cat(outputs, dim=0))
        return outputs.permute(1, 0, 2), [enc_outputs, hidden_state, enc_valid_lens]
    @property
    def attention_weights(self):
        return self._attention_weights


# %% wrong_values_unmasked: weights with lengths, but the context is the mean of all encoder outputs
# kind: mistake
# breaks: values, masking
# equals: seq2seq-mean-as-context

import torch
import torch.nn as nn
from grader.given import AdditiveAttention

class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0):
        super().__init__()
        self.attention = AdditiveAttention(key_size=num_hiddens, query_size=num_hiddens, num_hiddens=num_hiddens, dropout=dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights = []

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        memory, hidden = enc_outputs
        return [memory.transpose(0, 1), hidden, enc_valid_lens]

    def forward(self, X, state):
        memory, hidden, lens = state
        ctx = memory.mean(dim=1, keepdim=True)
        out_list, self.attention_weights = [], []
        for x in self.embedding(X).transpose(0, 1):
            self.attention(hidden[-1].unsqueeze(1), memory, memory, lens)
            out, hidden = self.rnn(torch.cat([ctx, x.unsqueeze(1)], 2).transpose(0, 1), hidden)
            out_list.append(out)
            self.attention_weights.append(self.attention.attention_weights)
        return self.dense(torch.cat(out_list)).transpose(0, 1), [memory, hidden, lens]


# %% wrong_walks_over_batch: loops over the batch axis instead of the steps
# kind: mistake
# breaks: shapes, values
# equals: seq2seq-walks-over-batch

import torch
from torch import nn
from grader.given import AdditiveAttention


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers,
                 dropout=0, **kwargs):
        super(Seq2SeqAttentionDecoder, self).__init__(**kwargs)
        self.attention = AdditiveAttention(
            num_hiddens, num_hiddens, num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(
            embed_size + num_hiddens, num_hiddens, num_layers,
            dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)
    def init_state(self, enc_outputs, enc_valid_lens, *args):
        # (T, B, D), (L, B, D)
        outputs, hidden_state = enc_outputs
        return (outputs.permute(1, 0, 2), hidden_state, enc_valid_lens)

    def forward(self, X, state):
        enc_outputs, hidden_state, enc_valid_lens = state
        X = self.embedding(X)
        outputs, self._attention_weights = [], []
        for x in X:
            query = torch.unsqueeze(hidden_state[-1], dim=1)
            context = self.attention(query, enc_outputs, enc_outputs, enc_valid_lens)
            x = torch.cat((context, torch.unsqueeze(x, dim=1)), dim=-1)
            out, hidden_state = self.rnn(x.permute(1, 0, 2), hidden_state)
            outputs.append(out)
            self._attention_weights.append(self.attention.attention_weights)
        outputs = self.dense(torch.cat(outputs, dim=0))
        return outputs.permute(1, 0, 2), [enc_outputs, hidden_state, enc_valid_lens]
    @property
    def attention_weights(self):
        return self._attention_weights


# %% wrong_weights_last_step: only the last step's attention weights stored
# kind: policy
# breaks: weights
# equals: seq2seq-weights-list-of-one

import torch
import torch.nn as nn
from grader.given import AdditiveAttention

class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0):
        super().__init__()
        self.attention = AdditiveAttention(key_size=num_hiddens, query_size=num_hiddens, num_hiddens=num_hiddens, dropout=dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights = []

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        memory, hidden = enc_outputs
        return [memory.transpose(0, 1), hidden, enc_valid_lens]

    def forward(self, X, state):
        memory, hidden, lens = state
        out_list = []
        for x in self.embedding(X).transpose(0, 1):
            ctx = self.attention(hidden[-1].unsqueeze(1), memory, memory, lens)
            out, hidden = self.rnn(torch.cat([ctx, x.unsqueeze(1)], 2).transpose(0, 1), hidden)
            out_list.append(out)
            self.attention_weights = [self.attention.attention_weights]
        return self.dense(torch.cat(out_list)).transpose(0, 1), [memory, hidden, lens]


# %% wrong_weights_never_emptied: attention weights of all calls pile up in one list
# kind: policy
# breaks: weights
# equals: seq2seq-weights-pile-up

import torch
import torch.nn as nn
from grader.given import AdditiveAttention

class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0):
        super().__init__()
        self.attention = AdditiveAttention(key_size=num_hiddens, query_size=num_hiddens, num_hiddens=num_hiddens, dropout=dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights = []

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        memory, hidden = enc_outputs
        return [memory.transpose(0, 1), hidden, enc_valid_lens]

    def forward(self, X, state):
        memory, hidden, lens = state
        out_list = []
        for x in self.embedding(X).transpose(0, 1):
            ctx = self.attention(hidden[-1].unsqueeze(1), memory, memory, lens)
            out, hidden = self.rnn(torch.cat([ctx, x.unsqueeze(1)], 2).transpose(0, 1), hidden)
            out_list.append(out)
            self.attention_weights.append(self.attention.attention_weights)
        return self.dense(torch.cat(out_list)).transpose(0, 1), [memory, hidden, lens]


# %% wrong_weights_not_kept: attention weights not stored
# kind: policy
# breaks: weights
# equals: nothing

import torch
from torch import nn
from grader.given import AdditiveAttention


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers,
                 dropout=0, **kwargs):
        super(Seq2SeqAttentionDecoder, self).__init__(**kwargs)
        self.attention = AdditiveAttention(
            num_hiddens, num_hiddens, num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(
            embed_size + num_hiddens, num_hiddens, num_layers,
            dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)
    def init_state(self, enc_outputs, enc_valid_lens, *args):
        # (T, B, D), (L, B, D)
        outputs, hidden_state = enc_outputs
        return (outputs.permute(1, 0, 2), hidden_state, enc_valid_lens)

    def forward(self, X, state):
        enc_outputs, hidden_state, enc_valid_lens = state
        X = self.embedding(X).permute(1, 0, 2)
        outputs = []
        for x in X:
            query = torch.unsqueeze(hidden_state[-1], dim=1)
            context = self.attention(query, enc_outputs, enc_outputs, enc_valid_lens)
            x = torch.cat((context, torch.unsqueeze(x, dim=1)), dim=-1)
            out, hidden_state = self.rnn(x.permute(1, 0, 2), hidden_state)
            outputs.append(out)
        outputs = self.dense(torch.cat(outputs, dim=0))
        return outputs.permute(1, 0, 2), [enc_outputs, hidden_state, enc_valid_lens]


# %% wrong_x_before_context: concatenates (x, context) instead of (context, x)
# kind: different
# breaks: values
# equals: seq2seq-word-before-context

import torch
from torch import nn
from grader.given import AdditiveAttention


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers,
                 dropout=0, **kwargs):
        super(Seq2SeqAttentionDecoder, self).__init__(**kwargs)
        self.attention = AdditiveAttention(
            num_hiddens, num_hiddens, num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(
            embed_size + num_hiddens, num_hiddens, num_layers,
            dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)
    def init_state(self, enc_outputs, enc_valid_lens, *args):
        # (T, B, D), (L, B, D)
        outputs, hidden_state = enc_outputs
        return (outputs.permute(1, 0, 2), hidden_state, enc_valid_lens)

    def forward(self, X, state):
        enc_outputs, hidden_state, enc_valid_lens = state
        X = self.embedding(X).permute(1, 0, 2)
        outputs, self._attention_weights = [], []
        for x in X:
            query = torch.unsqueeze(hidden_state[-1], dim=1)
            context = self.attention(query, enc_outputs, enc_outputs, enc_valid_lens)
            x = torch.cat((torch.unsqueeze(x, dim=1), context), dim=-1)
            out, hidden_state = self.rnn(x.permute(1, 0, 2), hidden_state)
            outputs.append(out)
            self._attention_weights.append(self.attention.attention_weights)
        outputs = self.dense(torch.cat(outputs, dim=0))
        return outputs.permute(1, 0, 2), [enc_outputs, hidden_state, enc_valid_lens]
    @property
    def attention_weights(self):
        return self._attention_weights


# %% wrong_zero_hidden: encoder's hidden state replaced by zeros
# kind: mistake
# breaks: values
# equals: seq2seq-hidden-zero

import torch
from torch import nn
from grader.given import AdditiveAttention


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers,
                 dropout=0, **kwargs):
        super(Seq2SeqAttentionDecoder, self).__init__(**kwargs)
        self.attention = AdditiveAttention(
            num_hiddens, num_hiddens, num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(
            embed_size + num_hiddens, num_hiddens, num_layers,
            dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        outputs, hidden_state = enc_outputs
        return (outputs.permute(1, 0, 2), torch.zeros_like(hidden_state), enc_valid_lens)

    def forward(self, X, state):
        enc_outputs, hidden_state, enc_valid_lens = state
        X = self.embedding(X).permute(1, 0, 2)
        outputs, self._attention_weights = [], []
        for x in X:
            query = torch.unsqueeze(hidden_state[-1], dim=1)
            context = self.attention(query, enc_outputs, enc_outputs, enc_valid_lens)
            x = torch.cat((context, torch.unsqueeze(x, dim=1)), dim=-1)
            out, hidden_state = self.rnn(x.permute(1, 0, 2), hidden_state)
            outputs.append(out)
            self._attention_weights.append(self.attention.attention_weights)
        outputs = self.dense(torch.cat(outputs, dim=0))
        return outputs.permute(1, 0, 2), [enc_outputs, hidden_state, enc_valid_lens]
    @property
    def attention_weights(self):
        return self._attention_weights


# %% wrong_reshape_outputs: the encoder's outputs become batch-first by reshape, which mixes sentences
# kind: mistake
# breaks: gradients, masking, modes, values, weights
# equals: seq2seq-outputs-reshaped

import torch
from torch import nn

from grader.given import AdditiveAttention


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0, **kwargs):
        super(Seq2SeqAttentionDecoder, self).__init__(**kwargs)
        self.attention = AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        outputs, hidden_state = enc_outputs
        num_steps, batch_size, num_hiddens = outputs.shape
        return (outputs.reshape(batch_size, num_steps, num_hiddens), hidden_state, enc_valid_lens)

    def forward(self, X, state):
        enc_outputs, hidden_state, enc_valid_lens = state
        X = self.embedding(X).permute(1, 0, 2)
        outputs, self.attention_weights = [], []
        for x in X:
            query = torch.unsqueeze(hidden_state[-1], dim=1)
            context = self.attention(query, enc_outputs, enc_outputs, enc_valid_lens)
            x = torch.cat((context, torch.unsqueeze(x, dim=1)), dim=-1)
            out, hidden_state = self.rnn(x.permute(1, 0, 2), hidden_state)
            outputs.append(out)
            self.attention_weights.append(self.attention.attention_weights)
        outputs = self.dense(torch.cat(outputs, dim=0))
        return outputs.permute(1, 0, 2), [enc_outputs, hidden_state, enc_valid_lens]


# %% wrong_dropout_lands_in_bias: the fourth positional argument of nn.GRU is bias, not dropout; PyTorch wants a bool there
# kind: mistake
# breaks: shapes
# equals: nothing

import torch
from torch import nn

from grader.given import AdditiveAttention


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0):
        super().__init__()
        self.attention = AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        outputs, hidden_state = enc_outputs
        return (outputs.permute(1, 0, 2), hidden_state, enc_valid_lens)

    def forward(self, X, state):
        enc_outputs, hidden_state, enc_valid_lens = state
        X = self.embedding(X).permute(1, 0, 2)
        outputs, self.attention_weights = [], []
        for x in X:
            query = hidden_state[-1].unsqueeze(1)
            context = self.attention(query, enc_outputs, enc_outputs, enc_valid_lens)
            x = torch.cat((context, x.unsqueeze(1)), dim=-1)
            out, hidden_state = self.rnn(x.permute(1, 0, 2), hidden_state)
            outputs.append(out)
            self.attention_weights.append(self.attention.attention_weights)
        outputs = self.dense(torch.cat(outputs, dim=0))
        return outputs.permute(1, 0, 2), (enc_outputs, hidden_state, enc_valid_lens)


# %% wrong_scores_from_first_layer: the scores are computed from the new state of the first layer
# kind: mistake
# breaks: defaults, gradients, masking, modes, values
# equals: seq2seq-scores-from-first-layer

import torch
from torch import nn

from grader.given import AdditiveAttention


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0, **kwargs):
        super(Seq2SeqAttentionDecoder, self).__init__(**kwargs)
        self.attention = AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        outputs, hidden_state = enc_outputs
        return (outputs.permute(1, 0, 2), hidden_state, enc_valid_lens)

    def forward(self, X, state):
        enc_outputs, hidden_state, enc_valid_lens = state
        emb = self.embedding(X)  # (B, T, E)
        logits = []
        self.attention_weights = []
        for t in range(emb.shape[1]):
            query = hidden_state[-1].unsqueeze(1)  # (B, 1, D)
            context = self.attention(query, enc_outputs, enc_outputs, enc_valid_lens)  # (B, 1, D)
            rnn_in = torch.cat((context, emb[:, t].unsqueeze(1)), dim=-1)  # (B, 1, D + E)
            _, hidden_state = self.rnn(rnn_in.permute(1, 0, 2), hidden_state)
            logits.append(self.dense(hidden_state[0]))  # (B, V)
            self.attention_weights.append(self.attention.attention_weights)
        return torch.stack(logits, dim=1), (enc_outputs, hidden_state, enc_valid_lens)


# %% wrong_feeds_itself: from the second step on the input is the decoder's own best word instead of X
# kind: mistake
# breaks: defaults, gradients, masking, modes, values, weights
# equals: seq2seq-own-words-read

import torch
from torch import nn

from grader.given import AdditiveAttention


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0, **kwargs):
        super(Seq2SeqAttentionDecoder, self).__init__(**kwargs)
        self.attention = AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        outputs, hidden_state = enc_outputs
        return (outputs.permute(1, 0, 2), hidden_state, enc_valid_lens)

    def forward(self, X, state):
        memory, hidden, lens = state
        self.attention_weights = []
        all_scores = []
        token = X[:, 0]
        for t in range(X.shape[1]):
            # attend with the state of the last layer
            context = self.attention(hidden[-1].unsqueeze(1), memory, memory, lens)
            word = self.embedding(token).unsqueeze(1)
            out, hidden = self.rnn(torch.cat((context, word), dim=-1).permute(1, 0, 2), hidden)
            scores = self.dense(out.permute(1, 0, 2))
            all_scores.append(scores)
            self.attention_weights.append(self.attention.attention_weights)
            # the predicted word is the next input
            token = scores.argmax(dim=-1).squeeze(1)
        return torch.cat(all_scores, dim=1), (memory, hidden, lens)


# %% wrong_rnn_without_state: the GRU is called without a state, so every step starts from zeros
# kind: mistake
# breaks: defaults, gradients, masking, modes, values, weights
# equals: seq2seq-rnn-without-state

import torch
from torch import nn

from grader.given import AdditiveAttention


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0, **kwargs):
        super(Seq2SeqAttentionDecoder, self).__init__(**kwargs)
        self.attention = AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        outputs, hidden_state = enc_outputs
        return (outputs.permute(1, 0, 2), hidden_state, enc_valid_lens)

    def forward(self, X, state):
        enc_outputs, hidden, lens = state
        X = self.embedding(X)
        steps, self.attention_weights = [], []
        for t in range(X.size(1)):
            query = hidden[-1].unsqueeze(1)
            context = self.attention(query, enc_outputs, enc_outputs, lens)
            x = torch.cat([context, X[:, t].unsqueeze(1)], dim=-1)
            out, hidden = self.rnn(x.transpose(0, 1))
            steps.append(out)
            self.attention_weights.append(self.attention.attention_weights)
        return self.dense(torch.cat(steps, dim=0)).transpose(0, 1), (enc_outputs, hidden, lens)


# %% wrong_mean_of_layers: the query is the mean of the states of all layers
# kind: mistake
# breaks: defaults, gradients, masking, modes, values, weights
# equals: seq2seq-query-mean-of-layers

import torch
from torch import nn

from grader.given import AdditiveAttention


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0, **kwargs):
        super(Seq2SeqAttentionDecoder, self).__init__(**kwargs)
        self.attention = AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        outputs, hidden_state = enc_outputs
        return (outputs.permute(1, 0, 2), hidden_state, enc_valid_lens)

    def forward(self, X, state):
        enc_outputs, hidden, enc_valid_lens = state
        outputs = []
        self.attention_weights = []
        for x in self.embedding(X).permute(1, 0, 2):
            query = hidden.mean(dim=0).unsqueeze(1)  # all layers say something
            context = self.attention(query, enc_outputs, enc_outputs, enc_valid_lens)
            inputs = torch.cat((context.squeeze(1), x), dim=-1).unsqueeze(0)
            out, hidden = self.rnn(inputs, hidden)
            outputs.append(out.squeeze(0))
            self.attention_weights.append(self.attention.attention_weights)
        return self.dense(torch.stack(outputs, dim=1)), (enc_outputs, hidden, enc_valid_lens)


# %% wrong_batch_first_rnn: a GRU with batch_first=True is fed with time first
# kind: mistake
# breaks: modes, shapes, values
# equals: nothing

import torch
from torch import nn

from grader.given import AdditiveAttention


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0):
        super().__init__()
        self.attention = AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout, batch_first=True)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        outputs, hidden_state = enc_outputs
        return (outputs.permute(1, 0, 2), hidden_state, enc_valid_lens)

    def forward(self, X, state):
        enc_outputs, hidden_state, enc_valid_lens = state
        X = self.embedding(X).permute(1, 0, 2)
        outputs, self.attention_weights = [], []
        for x in X:
            query = hidden_state[-1].unsqueeze(1)
            context = self.attention(query, enc_outputs, enc_outputs, enc_valid_lens)
            x = torch.cat((context, x.unsqueeze(1)), dim=-1)
            out, hidden_state = self.rnn(x.permute(1, 0, 2), hidden_state)
            outputs.append(out)
            self.attention_weights.append(self.attention.attention_weights)
        outputs = self.dense(torch.cat(outputs, dim=0))
        return outputs.permute(1, 0, 2), (enc_outputs, hidden_state, enc_valid_lens)


# %% wrong_query_axis_zero: the query gets its new axis in front, (1, B, D)
# kind: mistake
# breaks: modes, shapes, values
# equals: nothing

import torch
from torch import nn

from grader.given import AdditiveAttention


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0, **kwargs):
        super(Seq2SeqAttentionDecoder, self).__init__(**kwargs)
        self.attention = AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        outputs, hidden_state = enc_outputs
        return (outputs.permute(1, 0, 2), hidden_state, enc_valid_lens)

    def forward(self, X, state):
        enc_outputs, hidden_state, enc_valid_lens = state
        X = self.embedding(X).permute(1, 0, 2)
        outputs, self.attention_weights = [], []
        for x in X:
            query = hidden_state[-1].unsqueeze(0)
            context = self.attention(query, enc_outputs, enc_outputs, enc_valid_lens)
            x = torch.cat((context, x.unsqueeze(1)), dim=-1)
            out, hidden_state = self.rnn(x.permute(1, 0, 2), hidden_state)
            outputs.append(out)
            self.attention_weights.append(self.attention.attention_weights)
        outputs = self.dense(torch.cat(outputs, dim=0))
        return outputs.permute(1, 0, 2), (enc_outputs, hidden_state, enc_valid_lens)


# %% wrong_stack_then_permute: the outputs of the steps are stacked to four axes, and permute names three
# kind: mistake
# breaks: shapes
# equals: nothing

import torch
from torch import nn

from grader.given import AdditiveAttention


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0, **kwargs):
        super(Seq2SeqAttentionDecoder, self).__init__(**kwargs)
        self.attention = AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        outputs, hidden_state = enc_outputs
        return (outputs.permute(1, 0, 2), hidden_state, enc_valid_lens)

    def forward(self, X, state):
        enc_outputs, hidden_state, enc_valid_lens = state
        X = self.embedding(X).permute(1, 0, 2)
        outputs, self.attention_weights = [], []
        for x in X:
            query = hidden_state[-1].unsqueeze(1)
            context = self.attention(query, enc_outputs, enc_outputs, enc_valid_lens)
            x = torch.cat((context, x.unsqueeze(1)), dim=-1)
            out, hidden_state = self.rnn(x.permute(1, 0, 2), hidden_state)
            outputs.append(out)
            self.attention_weights.append(self.attention.attention_weights)
        outputs = self.dense(torch.stack(outputs, dim=0))
        return outputs.permute(1, 0, 2), (enc_outputs, hidden_state, enc_valid_lens)


# %% wrong_no_attention_dropout_and_growing_list: the attention gets no dropout, and the list of weights grows over calls
# kind: mistake
# breaks: modes, weights
# equals: seq2seq-attention-without-dropout+seq2seq-weights-pile-up

import torch
from torch import nn

from grader.given import AdditiveAttention


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0):
        super().__init__()
        self.attention = AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, dropout=0)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights = []

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        outputs, hidden_state = enc_outputs
        return (outputs.permute(1, 0, 2), hidden_state, enc_valid_lens)

    def forward(self, X, state):
        enc_outputs, hidden_state, enc_valid_lens = state
        X = self.embedding(X)
        outputs = []
        for t in range(X.shape[1]):
            query = hidden_state[-1].unsqueeze(1)
            context = self.attention(query, enc_outputs, enc_outputs, enc_valid_lens)
            self.attention_weights.append(self.attention.attention_weights)
            step = torch.cat((context, X[:, t : t + 1]), dim=-1).permute(1, 0, 2)
            out, hidden_state = self.rnn(step, hidden_state)
            outputs.append(out)
        outputs = self.dense(torch.cat(outputs, dim=0))
        return outputs.permute(1, 0, 2), (enc_outputs, hidden_state, enc_valid_lens)


# %% right_batch_first_gru: a GRU with batch first, and a named tuple as state
# kind: same

from typing import NamedTuple

import torch
from torch import nn

from grader.given import AdditiveAttention


class Memory(NamedTuple):
    source: torch.Tensor  # (B, S, D)
    lens: torch.Tensor | None
    hidden: torch.Tensor  # (L, B, D)


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(
        self, vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int, dropout: float = 0
    ):
        super().__init__()
        self.attention = AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        # batch_first changes input and output only, the hidden state is still (L, B, D)
        self.rnn = nn.GRU(num_hiddens + embed_size, num_hiddens, num_layers, batch_first=True, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(
        self,
        enc_outputs: tuple[torch.Tensor, torch.Tensor],
        enc_valid_lens: torch.Tensor | None,
        *args,
    ) -> tuple:
        outputs, hidden = enc_outputs
        return Memory(source=outputs.swapaxes(0, 1), lens=enc_valid_lens, hidden=hidden)

    def forward(self, X: torch.Tensor, state: tuple) -> tuple[torch.Tensor, tuple]:
        self.attention_weights, outs = [], []
        for word in self.embedding(X).unbind(dim=1):
            *_, top = state.hidden  # the last layer
            context = self.attention(top[:, None], state.source, state.source, state.lens)
            self.attention_weights += [self.attention.attention_weights]
            out, new = self.rnn(torch.cat((context, word[:, None]), dim=2), state.hidden)
            state = state._replace(hidden=new)
            outs += [out]
        return self.dense(torch.cat(outs, dim=1)), state


# %% wrong_gru_batch_first_input: the input of the GRU has the batch first
# kind: mistake
# breaks: modes, shapes, values
# equals: nothing

import torch
from torch import nn

from grader.given import AdditiveAttention


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(
        self, vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int, dropout: float = 0
    ):
        super().__init__()
        self.attention = AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights = None

    def init_state(
        self,
        enc_outputs: tuple[torch.Tensor, torch.Tensor],
        enc_valid_lens: torch.Tensor | None,
        *args,
    ) -> tuple:
        outputs, hidden = enc_outputs
        return outputs.transpose(0, 1), hidden, enc_valid_lens

    def forward(self, X: torch.Tensor, state: tuple) -> tuple[torch.Tensor, tuple]:
        enc_outputs, hidden, enc_valid_lens = state
        self.attention_weights = []
        all_scores = []
        embedded = self.embedding(X)  # (B, T, E)
        for t in range(embedded.shape[1]):
            query = hidden[-1].unsqueeze(1)
            context = self.attention(query, enc_outputs, enc_outputs, enc_valid_lens)  # (B, 1, D)
            self.attention_weights.append(self.attention.attention_weights)
            step = torch.cat((context, embedded[:, t].unsqueeze(1)), dim=-1)  # (B, 1, D + E)
            output, hidden = self.rnn(step, hidden)
            all_scores.append(self.dense(output))
        return torch.cat(all_scores, dim=1), (enc_outputs, hidden, enc_valid_lens)


# %% wrong_no_lengths_and_first_layer: two mistakes: the lengths are not passed on, and the query comes from the first layer
# kind: mistake
# breaks: defaults, gradients, masking, modes, values, weights
# equals: seq2seq-without-lengths+seq2seq-query-first-layer

import torch
from torch import nn

from grader.given import AdditiveAttention


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(
        self, vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int, dropout: float = 0
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.attention = AdditiveAttention(
            key_size=num_hiddens, query_size=num_hiddens, num_hiddens=num_hiddens, dropout=dropout
        )
        self.rnn = nn.GRU(
            input_size=num_hiddens + embed_size, hidden_size=num_hiddens, num_layers=num_layers, dropout=dropout
        )
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights = []

    def init_state(
        self,
        enc_outputs: tuple[torch.Tensor, torch.Tensor],
        enc_valid_lens: torch.Tensor | None,
        *args,
    ) -> tuple:
        return (enc_outputs[0].permute(1, 0, 2), enc_outputs[1], enc_valid_lens)

    def forward(self, X: torch.Tensor, state: tuple) -> tuple[torch.Tensor, tuple]:
        enc, hidden, valid = state
        self.attention_weights = []
        logits = torch.zeros(X.shape[0], X.shape[1], self.dense.out_features, device=X.device, dtype=enc.dtype)
        for t in range(X.shape[1]):
            query = hidden[0].unsqueeze(1)
            ctx = self.attention(query, enc, enc, None)
            self.attention_weights.append(self.attention.attention_weights)
            gru_in = torch.cat((ctx[:, 0], self.embedding(X[:, t])), dim=-1)
            out, hidden = self.rnn(gru_in[None], hidden)
            logits[:, t] = self.dense(out[0])
        return logits, (enc, hidden, valid)


# %% wrong_one_context: one context before the loop, for all steps of a call
# kind: mistake
# breaks: defaults, gradients, masking, modes, values, weights
# equals: seq2seq-query-never-changes

import torch
from torch import nn

from grader.given import AdditiveAttention


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(
        self, vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int, dropout: float = 0
    ):
        super().__init__()
        self.attention = AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(
        self,
        enc_outputs: tuple[torch.Tensor, torch.Tensor],
        enc_valid_lens: torch.Tensor | None,
        *args,
    ) -> tuple:
        outputs, hidden = enc_outputs
        # attention wants the batch first
        return outputs.permute(1, 0, 2), hidden, enc_valid_lens

    def forward(self, X: torch.Tensor, state: tuple) -> tuple[torch.Tensor, tuple]:
        enc_outputs, hidden, lens = state
        T = X.shape[1]
        # what does the source say?
        context = self.attention(hidden[-1].unsqueeze(1), enc_outputs, enc_outputs, lens)
        self.attention_weights = [self.attention.attention_weights] * T
        inputs = torch.cat((context.expand(-1, T, -1), self.embedding(X)), dim=-1)
        inputs = inputs.permute(1, 0, 2)
        outputs = []
        for t in range(T):
            out, hidden = self.rnn(inputs[t : t + 1], hidden)
            outputs.append(out)
        scores = self.dense(torch.cat(outputs)).permute(1, 0, 2)
        return scores, (enc_outputs, hidden, lens)


# %% wrong_query_without_steps: the query has no axis of steps
# kind: mistake
# breaks: modes, shapes, values
# equals: nothing

import torch
from torch import nn

from grader.given import AdditiveAttention


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(
        self, vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int, dropout: float = 0
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.attention = AdditiveAttention(
            key_size=num_hiddens, query_size=num_hiddens, num_hiddens=num_hiddens, dropout=dropout
        )
        self.rnn = nn.GRU(
            input_size=num_hiddens + embed_size, hidden_size=num_hiddens, num_layers=num_layers, dropout=dropout
        )
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights = []

    def init_state(
        self,
        enc_outputs: tuple[torch.Tensor, torch.Tensor],
        enc_valid_lens: torch.Tensor | None,
        *args,
    ) -> tuple:
        outputs, hidden = enc_outputs
        # attention wants the batch first
        return outputs.permute(1, 0, 2), hidden, enc_valid_lens

    def forward(self, X: torch.Tensor, state: tuple) -> tuple[torch.Tensor, tuple]:
        H, s, lens = state  # h_j and s_{t-1} as in the text
        self.attention_weights = []
        y = []
        for t in range(X.size(1)):
            context = self.attention(s[-1], H, H, lens)
            self.attention_weights.append(self.attention.attention_weights)
            word = self.embedding(X[:, t])  # (B, E)
            both = torch.cat((context.reshape(word.size(0), -1), word), dim=1)
            out, s = self.rnn(both.unsqueeze(0), s)
            y.append(self.dense(out[0]))
        return torch.stack(y, dim=1), (H, s, lens)


# %% wrong_state_already_permuted: forward returns the encoder's outputs permuted, and the next call permutes them again
# kind: mistake
# breaks: modes
# equals: nothing

import torch
from torch import nn

from grader.given import AdditiveAttention


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(
        self, vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int, dropout: float = 0
    ):
        super().__init__()
        self.attention = AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(
        self,
        enc_outputs: tuple[torch.Tensor, torch.Tensor],
        enc_valid_lens: torch.Tensor | None,
        *args,
    ) -> tuple:
        outputs, hidden_state = enc_outputs
        return (outputs, hidden_state, enc_valid_lens)

    def forward(self, X: torch.Tensor, state: tuple) -> tuple[torch.Tensor, tuple]:
        enc_outputs, hidden_state, enc_valid_lens = state
        enc_outputs = enc_outputs.permute(1, 0, 2)  # -> (B, S, D)
        X = self.embedding(X).permute(1, 0, 2)  # -> (T, B, E)
        outputs, weights = [], []
        for x in X:
            query = torch.unsqueeze(hidden_state[-1], dim=1)
            context = self.attention(query, enc_outputs, enc_outputs, enc_valid_lens)
            weights.append(self.attention.attention_weights)
            x = torch.cat((context, torch.unsqueeze(x, dim=1)), dim=-1)
            out, hidden_state = self.rnn(x.permute(1, 0, 2), hidden_state)
            outputs.append(out)
        self.attention_weights = weights
        outputs = self.dense(torch.cat(outputs, dim=0))
        return outputs.permute(1, 0, 2), (enc_outputs, hidden_state, enc_valid_lens)


# %% wrong_steps_reshaped: the scores are reshaped to batch first
# kind: mistake
# breaks: gradients, masking, values
# equals: seq2seq-scores-reshaped

import torch
from torch import nn

from grader.given import AdditiveAttention


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(
        self, vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int, dropout: float = 0
    ):
        super().__init__()
        self.attention = AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(
        self,
        enc_outputs: tuple[torch.Tensor, torch.Tensor],
        enc_valid_lens: torch.Tensor | None,
        *args,
    ) -> tuple:
        outputs, hidden = enc_outputs
        # attention wants the batch first
        return outputs.permute(1, 0, 2), hidden, enc_valid_lens

    def forward(self, X: torch.Tensor, state: tuple) -> tuple[torch.Tensor, tuple]:
        keys, hidden, lens = state
        words = self.embedding(X).permute(1, 0, 2)  # (T, B, E)
        outs = []
        self.attention_weights = []
        for word in words:
            query = hidden[-1].unsqueeze(1)  # (B, 1, D)
            context = self.attention(query, keys, keys, lens)
            inp = torch.cat((context.squeeze(1), word), dim=-1).unsqueeze(0)  # (1, B, D + E)
            out, hidden = self.rnn(inp, hidden)
            outs.append(out)
            self.attention_weights.append(self.attention.attention_weights)
        scores = self.dense(torch.cat(outs, dim=0))  # (T, B, V)
        B, T = X.shape
        return scores.reshape(B, T, -1), (keys, hidden, lens)


# %% wrong_word_before_context: the word is concatenated before the context
# kind: different
# breaks: defaults, gradients, masking, modes, values, weights
# equals: seq2seq-word-before-context

import torch
from torch import nn

from grader.given import AdditiveAttention


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(
        self, vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int, dropout: float = 0
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.attention = AdditiveAttention(
            key_size=num_hiddens, query_size=num_hiddens, num_hiddens=num_hiddens, dropout=dropout
        )
        self.rnn = nn.GRU(
            input_size=num_hiddens + embed_size, hidden_size=num_hiddens, num_layers=num_layers, dropout=dropout
        )
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights = []

    def init_state(
        self,
        enc_outputs: tuple[torch.Tensor, torch.Tensor],
        enc_valid_lens: torch.Tensor | None,
        *args,
    ) -> tuple:
        outputs, hidden = enc_outputs
        # attention wants the batch first
        return outputs.permute(1, 0, 2), hidden, enc_valid_lens

    def forward(self, X: torch.Tensor, state: tuple) -> tuple[torch.Tensor, tuple]:
        enc, h, valid_lens = state
        self.attention_weights = []
        result = []
        emb = self.embedding(X)
        for t in range(X.shape[1]):
            q = h[-1][:, None, :]
            c = self.attention(q, enc, enc, valid_lens)
            x = emb[:, t : t + 1, :]
            x = torch.cat([x, c], dim=2)
            y, h = self.rnn(x.transpose(0, 1), h)
            result.append(self.dense(y).transpose(0, 1))
            self.attention_weights.append(self.attention.attention_weights)
        return torch.cat(result, dim=1), (enc, h, valid_lens)
