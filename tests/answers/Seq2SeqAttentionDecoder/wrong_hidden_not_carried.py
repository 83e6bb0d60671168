# exercise: Seq2SeqAttentionDecoder
# says: hidden state not carried between steps
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
        emb = self.embedding(X)
        logits, self.attention_weights = [], []
        for t in range(X.shape[1]):
            ctx = self.attention(hidden[-1][:, None], memory, memory, lens)
            step = torch.cat([ctx, emb[:, t:t + 1]], -1).transpose(0, 1)
            out, new_hidden = self.rnn(step, hidden)
            logits.append(self.dense(out[0]))
            self.attention_weights.append(self.attention.attention_weights)
        return torch.stack(logits, 1), [memory, new_hidden, lens]
