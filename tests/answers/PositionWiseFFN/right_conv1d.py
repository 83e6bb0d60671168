# exercise: PositionWiseFFN
# says: FFN by Conv1d(kernel_size=1)
# kind: same
# breaks:

from torch import nn

class PositionWiseFFN(nn.Module):
    """'Another way of describing this is as two convolutions with kernel size 1.'"""
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.dense1 = nn.Conv1d(ffn_num_input, ffn_num_hiddens, kernel_size=1)
        self.dense2 = nn.Conv1d(ffn_num_hiddens, ffn_num_outputs, kernel_size=1)

    def forward(self, X):
        X = X.permute(0, 2, 1)               # channels are the features
        return self.dense2(self.dense1(X).relu()).permute(0, 2, 1)
