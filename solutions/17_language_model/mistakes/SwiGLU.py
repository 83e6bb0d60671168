"""Known mistakes in SwiGLU; their pages are in SwiGLU.md."""

from grader.authoring import edit, mistake

GATE = "gate = nn.functional.silu(self.W_gate(x))"
RESULT = "return self.W_down(gate * self.W_up(x))"
LAYERS = "self.W_gate = nn.Linear(d_model, d_hidden, bias=False)"

MISTAKES = [
    mistake(
        "glu-exchanged",
        edit("silu(self.W_gate(x))", "silu(self.W_up(x))"),
        edit("gate * self.W_up(x)", "gate * self.W_gate(x)"),
        says="gate and up are exchanged: SiLU is applied to the wrong one",
        asks="Which of the two layers goes through SiLU?",
    ),
    mistake(
        "glu-silu-of-product",
        edit(GATE, "gate = self.W_gate(x)"),
        edit(RESULT, "return self.W_down(nn.functional.silu(gate * self.W_up(x)))"),
        says="SiLU is applied to the product instead of the gate",
        asks="What goes through SiLU, and what is multiplied afterwards?",
    ),
    mistake(
        "glu-silu-of-both",
        edit(RESULT, "return self.W_down(gate * nn.functional.silu(self.W_up(x)))"),
        says="both layers go through SiLU",
        asks="Which of the two layers goes through SiLU?",
    ),
    mistake(
        "glu-no-silu",
        edit(GATE, "gate = self.W_gate(x)"),
        says="there is no SiLU: the gate is multiplied as it is",
        asks="Which gate does an input of -3 get?",
    ),
    mistake(
        "glu-sigmoid",
        edit(GATE, "gate = self.W_gate(x).sigmoid()"),
        says="the gate is a sigmoid, not SiLU",
        asks="SiLU of 2 is larger than 1. Can your gate be?",
        kind="different",
    ),
    mistake(
        "glu-gelu",
        edit("nn.functional.silu(", "nn.functional.gelu("),
        says="the gate goes through GELU instead of SiLU",
        asks="Which function of the gate does the lesson use?",
        kind="different",
    ),
    mistake(
        "glu-relu",
        edit("nn.functional.silu(", "nn.functional.relu("),
        says="the gate goes through ReLU instead of SiLU",
        asks="Which gate does an input of -1 get?",
        kind="different",
    ),
    mistake(
        "glu-tanh",
        edit("nn.functional.silu(self.W_gate(x))", "torch.tanh(self.W_gate(x))"),
        says="the gate goes through tanh instead of SiLU",
        asks="SiLU of 2 is larger than 1. Can your gate be?",
        kind="different",
    ),
    mistake(
        "glu-sum",
        edit("gate * self.W_up(x)", "gate + self.W_up(x)"),
        says="gate and up are added instead of multiplied",
        asks="What comes through a gate that is 0?",
    ),
    mistake(
        "glu-no-gate",
        edit(RESULT, "return self.W_down(nn.functional.silu(self.W_up(x)))"),
        says="the gate is not used: this is a feed-forward network with SiLU",
        asks="Which gradient does W_gate get?",
    ),
    mistake(
        "glu-no-up",
        edit(RESULT, "return self.W_down(gate)"),
        says="what the gate should let through is not used",
        asks="Which gradient does W_up get?",
    ),
    mistake(
        "glu-gate-twice",
        edit(RESULT, "return self.W_down(gate * self.W_gate(x))"),
        says="the gate is multiplied by its own layer instead of the other one",
        asks="Which gradient does W_up get?",
    ),
    mistake(
        "glu-plain",
        edit(LAYERS, "pass"),
        edit(GATE, "pass"),
        edit(RESULT, "return self.W_down(nn.functional.silu(self.W_up(x)))"),
        says="there is no gate: this is a feed-forward network of two layers",
        asks="How many layers does the network have?",
        kind="different",
    ),
    mistake(
        "glu-residual",
        edit(RESULT, "return x + self.W_down(gate * self.W_up(x))"),
        says="the input is added here, although the block adds it",
        asks="What should the network return if W_down is zero?",
    ),
    mistake(
        "glu-with-bias",
        edit(LAYERS, LAYERS.replace("False", "True")),
        edit(
            "self.W_up = nn.Linear(d_model, d_hidden, bias=False)", "self.W_up = nn.Linear(d_model, d_hidden)"
        ),
        edit(
            "self.W_down = nn.Linear(d_hidden, d_model, bias=False)",
            "self.W_down = nn.Linear(d_hidden, d_model)",
        ),
        says="the layers have a bias",
        asks="How many parameters do three matrices have?",
    ),
    mistake(
        "glu-gate-detached",
        edit(GATE, GATE + ".detach()"),
        says="no gradient flows through the gate",
        asks="Which gradient does W_gate get?",
    ),
    mistake(
        "glu-softmax",
        edit("nn.functional.silu(self.W_gate(x))", "torch.softmax(self.W_gate(x), -1)"),
        says="the gate is a softmax over the features",
        asks="Should one feature close when another one opens?",
    ),
    mistake(
        "glu-silu-before",
        edit("silu(self.W_gate(x))", "silu(x)"),
        edit("gate = nn.functional.silu(x)", "gate = self.W_gate(nn.functional.silu(x))"),
        says="SiLU is applied to the input of the gate's layer instead of its output",
        asks="Does SiLU come before or after W_gate?",
    ),
    mistake(
        "glu-silu-after",
        edit(RESULT, "return nn.functional.silu(self.W_down(gate * self.W_up(x)))"),
        says="the result goes through SiLU once more",
        asks="Which values can the result of the network have?",
    ),
    mistake(
        "glu-own-hidden",
        edit(LAYERS, LAYERS.replace("d_hidden", "2 * d_hidden // 3")),
        edit("self.W_up = nn.Linear(d_model, d_hidden", "self.W_up = nn.Linear(d_model, 2 * d_hidden // 3"),
        edit("self.W_down = nn.Linear(d_hidden", "self.W_down = nn.Linear(2 * d_hidden // 3"),
        says="the layers do not have d_hidden features inside",
        asks="How many rows should W_up have?",
    ),
]
