# exercise: PositionWiseFFN
# says: the step of ReLU has no gradient: (x > 0) * x.detach()
# kind: mistake
# breaks: gradients

from torch import nn

class PositionWiseFFN(nn.Module):
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs)

    def forward(self, X):
        h = self.dense1(X)
        h = h - h.detach() + h.detach() * (h > 0)
        return self.dense2(h)
