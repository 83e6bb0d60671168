# exercise: Seq2SeqAttentionDecoder
# says: only the last step's attention weights stored
# kind: policy
# breaks: weights

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
