# exercise: PositionWiseFFN
# says: ReLU behind the second layer too
# kind: mistake
# breaks: values

from torch import nn

class PositionWiseFFN(nn.Module):
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs)
        self.act = nn.ReLU()

    def forward(self, X):
        X = self.act(self.dense1(X))
        return self.act(self.dense2(X))
