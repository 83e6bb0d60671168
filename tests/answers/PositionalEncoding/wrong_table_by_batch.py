# exercise: PositionalEncoding
# says: one position per sequence of the batch: (B, 1, D) added
# kind: mistake
# breaks: values

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    # pe[:x.size(0)] belongs to inputs of shape (T, B, D)
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, num_hiddens, 2) * (-torch.log(torch.tensor(10000.0)) / num_hiddens))
        pe = torch.zeros(max_len, 1, num_hiddens)
        pe[:, 0, 0::2] = torch.sin(position * div_term)
        pe[:, 0, 1::2] = torch.cos(position * div_term)[:, :num_hiddens // 2]
        self.register_buffer('pe', pe, persistent=False)

    def forward(self, x):
        x = x + self.pe[:x.size(0)]
        return self.dropout(x)
