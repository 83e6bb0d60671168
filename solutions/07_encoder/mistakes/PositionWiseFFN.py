"""Known mistakes in PositionWiseFFN; their pages are in PositionWiseFFN.md."""

from grader.authoring import dtype_mistake, edit, mistake

MISTAKES = [
    mistake(
        "ffn-no-activation",
        edit("torch.relu(self.dense1(X))", "self.dense1(X)"),
        says="there is no non-linearity between the two layers, so together they are one linear layer",
        asks="What single layer could replace your two?",
    ),
    mistake(
        "ffn-gelu",
        edit("torch.relu(self.dense1(X))", "nn.functional.gelu(self.dense1(X))"),
        says="the non-linearity is a smooth curve (GELU), not the maximum with zero",
        asks="What does the lesson's network do with a negative value between its layers?",
        kind="different",
    ),
    mistake(
        "ffn-silu",
        edit("torch.relu(self.dense1(X))", "nn.functional.silu(self.dense1(X))"),
        says="the non-linearity is a smooth curve (SiLU, or swish), not the maximum with zero",
        asks="What does the lesson's network do with a negative value between its layers?",
        kind="different",
    ),
    mistake(
        "ffn-leaky",
        edit("torch.relu(self.dense1(X))", "nn.functional.leaky_relu(self.dense1(X))"),
        says=(
            "the non-linearity keeps a hundredth of each negative value (leaky ReLU) instead of the maximum "
            "with zero"
        ),
        asks="What does the lesson's network do with a negative value between its layers?",
        kind="different",
    ),
    mistake(
        "ffn-tanh",
        edit("torch.relu(self.dense1(X))", "torch.tanh(self.dense1(X))"),
        says="the non-linearity is a hyperbolic tangent, not the maximum with zero",
        asks="What does the lesson's network do with a negative value between its layers?",
        kind="different",
    ),
    mistake(
        "ffn-sigmoid",
        edit("torch.relu(self.dense1(X))", "torch.sigmoid(self.dense1(X))"),
        says="the non-linearity is a logistic curve (sigmoid), not the maximum with zero",
        asks="What does the lesson's network do with a negative value between its layers?",
        kind="different",
    ),
    mistake(
        "ffn-absolute",
        edit("torch.relu(self.dense1(X))", "self.dense1(X).abs()"),
        says="negative values between the layers become positive instead of zero",
        asks="What should -3 become between the two layers?",
    ),
    mistake(
        "ffn-negative-part",
        edit("torch.relu(self.dense1(X))", "self.dense1(X).clamp(max=0)"),
        says="between the layers the negative values are kept and the positive ones become zero",
        asks="Which values should be kept, the positive or the negative ones?",
    ),
    mistake(
        "ffn-relu-at-the-end-too",
        edit("self.dense2(hidden)", "torch.relu(self.dense2(hidden))"),
        says="the maximum with zero is applied once more, after the second layer",
        asks="Can the output of your network ever lower a feature of the residual connection?",
    ),
    mistake(
        "ffn-relu-at-the-end-only",
        edit("torch.relu(self.dense1(X))", "self.dense1(X)"),
        edit("self.dense2(hidden)", "torch.relu(self.dense2(hidden))"),
        says="the maximum with zero comes after the second layer instead of between the two",
        asks="Between which two steps does the lesson's formula apply the maximum?",
    ),
    mistake(
        "ffn-relu-on-input",
        edit("torch.relu(self.dense1(X))", "self.dense1(torch.relu(X))"),
        says="the maximum with zero is applied before the first layer instead of after it",
        asks="Half of the input is negative. Where in your network is it lost?",
    ),
    mistake(
        "ffn-input-overwritten",
        edit("torch.relu(self.dense1(X))", "self.dense1(torch.relu_(X))"),
        says="negative values of the caller's input are overwritten with zeros before the first layer",
        asks="The residual connection still needs the input after the call. Which values does it find there?",
    ),
    mistake(
        "ffn-no-bias",
        edit(
            "nn.Linear(ffn_num_input, ffn_num_hiddens)",
            "nn.Linear(ffn_num_input, ffn_num_hiddens, bias=False)",
        ),
        edit(
            "nn.Linear(ffn_num_hiddens, ffn_num_outputs)",
            "nn.Linear(ffn_num_hiddens, ffn_num_outputs, bias=False)",
        ),
        says="the two layers have no biases",
        asks="What does the lesson's formula add after each multiplication?",
        kind="different",
    ),
    mistake(
        "ffn-back-to-input-size",
        edit("nn.Linear(ffn_num_hiddens, ffn_num_outputs)", "nn.Linear(ffn_num_hiddens, ffn_num_input)"),
        says="the second layer always returns the size of the input: the output size is ignored",
        asks="Which of the sizes that the class gets is never used?",
    ),
    mistake(
        "ffn-input-mixed",
        edit("torch.relu(self.dense1(X))", "torch.relu(self.dense1(X + X.mean(dim=1, keepdim=True)))"),
        says="the mean over all positions is added to every input: positions influence one another",
        asks="If one word changes, which results may change in this network?",
    ),
    mistake(
        "ffn-hidden-mixed",
        edit("self.dense2(hidden)", "self.dense2(hidden + hidden.mean(dim=1, keepdim=True))"),
        says="the mean over all positions is added between the layers: positions influence one another",
        asks="If one word changes, which hidden features may change?",
    ),
    mistake(
        "ffn-result-mixed",
        edit(
            "return self.dense2(hidden)",
            """
            Y = self.dense2(hidden)
            return Y + Y.mean(dim=1, keepdim=True)
            """,
        ),
        says="the mean over all positions is added to every result: positions influence one another",
        asks="If one word changes, how many positions of the output may change?",
    ),
    mistake(
        "ffn-neighbours-mixed",
        """
            class PositionWiseFFN(nn.Module):
                def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
                    super().__init__()
                    self.dense1 = nn.Conv1d(ffn_num_input, ffn_num_hiddens, kernel_size=3, padding=1)
                    self.dense2 = nn.Conv1d(ffn_num_hiddens, ffn_num_outputs, kernel_size=3, padding=1)

                def forward(self, X):
                    return self.dense2(self.dense1(X.transpose(1, 2)).relu()).transpose(1, 2)
            """,
        says="your convolutions use three neighbouring positions at once",
        asks="Which kernel size of a convolution uses one position only?",
    ),
    mistake(
        "ffn-residual-inside",
        edit(
            "return self.dense2(hidden)",
            """
            Y = self.dense2(hidden)
            return Y + X if Y.shape == X.shape else Y
            """,
        ),
        says="if the sizes allow it, the input is added to the result inside the network",
        asks="Which module adds the input to the result, and what happens if two modules do?",
    ),
    mistake(
        "ffn-dropout-inside",
        edit("self.dense2(hidden)", "self.dense2(nn.functional.dropout(hidden, 0.1, self.training))"),
        says="the network applies dropout in training, although it gets no dropout rate",
        asks="Is there a dropout rate among the arguments of this class?",
        kind="different",
    ),
    mistake(
        "ffn-hidden-detached",
        edit("self.dense2(hidden)", "self.dense2(hidden.detach())"),
        says="gradients stop between the layers: the first one never learns",
        asks="After a backward pass, which of the two layers has a gradient?",
    ),
    mistake(
        "ffn-relu-behind-gradients-back",
        edit(
            "torch.relu(self.dense1(X))",
            """
            self.dense1(X)
            hidden = hidden + (torch.relu(hidden) - hidden).detach()
            """,
        ),
        says="the gradient ignores the maximum with zero",
        asks="A hidden value was set to zero. Should a small change of it change the loss?",
    ),
    mistake(
        "ffn-squeezed",
        edit("return self.dense2(hidden)", "return self.dense2(hidden).squeeze()"),
        says="axes of length one are removed from the result",
        asks="Which shape is returned for a sentence with a single word?",
    ),
    mistake(
        "ffn-features-before-steps",
        edit("return self.dense2(hidden)", "return self.dense2(hidden).transpose(1, 2)"),
        says="the result has features before positions",
        asks="In which order are the axes of the input, and in which order are those of your result?",
    ),
    dtype_mistake(
        "ffn-zeros-in-float32",
        edit("torch.relu(self.dense1(X))", "torch.maximum(self.dense1(X), torch.zeros(1, device=X.device))"),
        says="the zeros for the maximum are in single precision, and so the hidden features are too",
        asks="What is the dtype of the maximum of two tensors with different dtypes?",
    ),
    mistake(
        "ffn-stays-flat",
        edit("self.dense1(X)", "self.dense1(X.reshape(-1, X.shape[-1]))"),
        says="sentences and positions are merged into one axis and never taken apart again",
        asks="Which axes does the input have, and which does your result have?",
    ),
]
