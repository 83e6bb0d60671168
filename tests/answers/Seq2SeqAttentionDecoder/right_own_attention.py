# exercise: Seq2SeqAttentionDecoder
# says: own additive attention, keys projected once
# kind: same
# breaks:

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
