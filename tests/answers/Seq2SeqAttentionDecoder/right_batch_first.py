# exercise: Seq2SeqAttentionDecoder
# says: GRU with batch_first=True
# kind: same
# breaks:

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
