"""Known mistakes in PositionWiseFFN; their pages are in PositionWiseFFN.md."""

from grader.authoring import dtype_mistake, edit, mistake

MISTAKES = [
    mistake(
        "ffn-no-activation",
        edit("torch.relu(self.dense1(X))", "self.dense1(X)"),
        says="nothing stands between the two layers, so together they are one linear layer",
        asks="What single layer could replace your two?",
    ),
    mistake(
        "ffn-gelu",
        edit("torch.relu(self.dense1(X))", "nn.functional.gelu(self.dense1(X))"),
        says="between the layers stands a smooth curve (GELU), not the maximum with zero",
        asks="What does the lesson's network do with a negative number between its layers?",
        kind="different",
    ),
    mistake(
        "ffn-silu",
        edit("torch.relu(self.dense1(X))", "nn.functional.silu(self.dense1(X))"),
        says="between the layers stands a smooth curve (SiLU, or swish), not the maximum with zero",
        asks="What does the lesson's network do with a negative number between its layers?",
        kind="different",
    ),
    mistake(
        "ffn-leaky",
        edit("torch.relu(self.dense1(X))", "nn.functional.leaky_relu(self.dense1(X))"),
        says=(
            "between the layers stands a maximum that lets a hundredth of negative numbers through, not the"
            " maximum with zero"
        ),
        asks="What does the lesson's network do with a negative number between its layers?",
        kind="different",
    ),
    mistake(
        "ffn-tanh",
        edit("torch.relu(self.dense1(X))", "torch.tanh(self.dense1(X))"),
        says="between the layers stands a hyperbolic tangent, not the maximum with zero",
        asks="What does the lesson's network do with a negative number between its layers?",
        kind="different",
    ),
    mistake(
        "ffn-sigmoid",
        edit("torch.relu(self.dense1(X))", "torch.sigmoid(self.dense1(X))"),
        says="between the layers stands a logistic curve (sigmoid), not the maximum with zero",
        asks="What does the lesson's network do with a negative number between its layers?",
        kind="different",
    ),
    mistake(
        "ffn-absolute",
        edit("torch.relu(self.dense1(X))", "self.dense1(X).abs()"),
        says="negative numbers between the layers are turned positive instead of becoming zero",
        asks="What should become of -3 between the two layers?",
    ),
    mistake(
        "ffn-negative-part",
        edit("torch.relu(self.dense1(X))", "self.dense1(X).clamp(max=0)"),
        says="between the layers the negative numbers are kept and the positive ones become zero",
        asks="Which side of zero should pass?",
    ),
    mistake(
        "ffn-relu-at-the-end-too",
        edit("self.dense2(hidden)", "torch.relu(self.dense2(hidden))"),
        says="the maximum with zero is taken once more, behind the second layer",
        asks="Can your network ever lower a feature of the residual that it is added to?",
    ),
    mistake(
        "ffn-relu-at-the-end-only",
        edit("torch.relu(self.dense1(X))", "self.dense1(X)"),
        edit("self.dense2(hidden)", "torch.relu(self.dense2(hidden))"),
        says="the maximum with zero stands behind the second layer instead of between the two",
        asks="Which two things must something non-linear stand between?",
    ),
    mistake(
        "ffn-relu-on-input",
        edit("torch.relu(self.dense1(X))", "self.dense1(torch.relu(X))"),
        says="the maximum with zero is taken before the first layer instead of behind it",
        asks="Half of what comes in is negative. Where in your network does it go?",
    ),
    mistake(
        "ffn-input-overwritten",
        edit("torch.relu(self.dense1(X))", "self.dense1(torch.relu_(X))"),
        says="negative numbers of the caller's input are overwritten with zeros before the first layer",
        asks="The residual still needs the input after the call. What does it find there?",
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
        says="the second layer goes back to the size of the input, whatever size was asked for",
        asks="Three sizes were handed in. Which of them is never used?",
    ),
    mistake(
        "ffn-input-mixed",
        edit("torch.relu(self.dense1(X))", "torch.relu(self.dense1(X + X.mean(dim=1, keepdim=True)))"),
        says="the mean over all positions is added to every input: positions influence one another",
        asks="Change one word: whose results may change in this network?",
    ),
    mistake(
        "ffn-hidden-mixed",
        edit("self.dense2(hidden)", "self.dense2(hidden + hidden.mean(dim=1, keepdim=True))"),
        says="the mean over all positions is added between the layers: positions influence one another",
        asks="Change one word: whose hidden features may change?",
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
        asks="Change one word: how many positions of the output may change?",
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
        says="your convolutions look at three neighbouring positions at once",
        asks="How wide must a convolution be to see one position only?",
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
        says="where sizes allow it, the input is added to the result: the residual is already inside",
        asks="Who adds the input to the result, and what if two do?",
    ),
    mistake(
        "ffn-dropout-inside",
        edit("self.dense2(hidden)", "self.dense2(nn.functional.dropout(hidden, 0.1, self.training))"),
        says="in training something is dropped inside the network, at a rate that nobody asked for",
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
        says="gradients pass the maximum with zero as if it were not there",
        asks="A hidden number that was cut to zero: should a small change of it change the loss?",
    ),
    mistake(
        "ffn-squeezed",
        edit("return self.dense2(hidden)", "return self.dense2(hidden).squeeze()"),
        says="axes of length one are removed from the result",
        asks="What shape comes back for a sentence of a single word?",
    ),
    mistake(
        "ffn-features-before-steps",
        edit("return self.dense2(hidden)", "return self.dense2(hidden).transpose(1, 2)"),
        says="the result comes back with features before positions",
        asks="In which order do the axes of the input stand, and in which those of your result?",
    ),
    dtype_mistake(
        "ffn-zeros-in-float32",
        edit("torch.relu(self.dense1(X))", "torch.maximum(self.dense1(X), torch.zeros(1, device=X.device))"),
        says=(
            "the zeros that cut off what is negative are of single precision, and so the hidden features "
            "become"
        ),
        asks="What is the dtype of the larger of two numbers when the two have different dtypes?",
    ),
]
