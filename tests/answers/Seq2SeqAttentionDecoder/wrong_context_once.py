# exercise: Seq2SeqAttentionDecoder
# says: context computed once from the first hidden state
# kind: mistake
# breaks: values

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
