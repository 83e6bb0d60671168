# exercise: PositionWiseFFN
# says: dropout of 0.1 between the layers
# kind: different
# breaks: modes

from torch import nn

class PositionWiseFFN(nn.Module):
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs)
        self.dropout = nn.Dropout(0.1)

    def forward(self, X):
        return self.dense2(self.dropout(self.dense1(X).relu()))
