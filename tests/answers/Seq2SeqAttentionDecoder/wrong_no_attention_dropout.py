# exercise: Seq2SeqAttentionDecoder
# says: dropout not passed to the attention
# kind: mistake
# breaks: modes

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
