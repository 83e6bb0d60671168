# exercise: PositionWiseFFN
# says: bias=False
# kind: different
# breaks: values

from torch import nn

class PositionWiseFFN(nn.Module):
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs, **kwargs):
        super(PositionWiseFFN, self).__init__(**kwargs)
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens, bias=False)
        self.relu = nn.ReLU()
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs, bias=False)

    def forward(self, X):
        return self.dense2(self.relu(self.dense1(X)))
