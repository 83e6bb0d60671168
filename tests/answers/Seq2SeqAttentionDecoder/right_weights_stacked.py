# exercise: Seq2SeqAttentionDecoder
# says: attention weights as one tensor, a step a row
# kind: same
# breaks:

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
