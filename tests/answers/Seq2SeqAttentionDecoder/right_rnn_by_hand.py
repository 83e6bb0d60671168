# exercise: Seq2SeqAttentionDecoder
# says: GRU equations written out, weights still in an nn.GRU
# kind: same
# breaks:

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
