"""Answers to TransparentSelfAttention that still have a fault. They must fail; a student reads nothing about them."""

from grader.authoring import edit, mutant

MUTANTS = [
    mutant(
        "transparent-only-renamed",
        edit('scores.masked_fill(future, float("-inf"))', "scores"),
        edit("torch.softmax(", "self.dropout(torch.softmax("),
        edit("dim=-1)  #", "dim=-1))  #"),
        edit("self.dropout(attention) @", "attention @"),
        edit("heads.transpose(1, 2).reshape", "heads.reshape"),
        edit("future", "later"),
        says="every fault is still there",
    ),
    mutant(
        "transparent-mask-left",
        edit('scores.masked_fill(future, float("-inf"))', "scores"),
        says="there is no mask",
    ),
    mutant(
        "transparent-dropped-left",
        edit("torch.softmax(", "self.dropout(torch.softmax("),
        edit("dim=-1)  #", "dim=-1))  #"),
        edit("self.dropout(attention) @", "attention @"),
        says="the weights are returned after dropout",
    ),
    mutant(
        "transparent-merge-left",
        edit("heads.transpose(1, 2).reshape", "heads.reshape"),
        says="the heads are joined without moving the head axis back",
    ),
    mutant(
        "transparent-no-dropout",
        edit("self.dropout(attention) @", "attention @"),
        says="nothing is dropped",
    ),
    mutant(
        "transparent-dropout-on-output",
        edit("self.dropout(attention) @ v", "self.dropout(attention @ v)"),
        says="dropout is applied to the results of the heads, not to the weights",
    ),
    mutant(
        "transparent-dropout-before",
        edit("torch.softmax(scores.", "torch.softmax(self.dropout(scores)."),
        edit("self.dropout(attention) @", "attention @"),
        says="dropout is applied to the scores",
    ),
    mutant(
        "transparent-scores-back",
        edit("reshape(x.shape)), attention", "reshape(x.shape)), scores"),
        says="the scores are returned instead of the weights",
    ),
    mutant(
        "transparent-order",
        edit(
            "return self.fc_out(heads.transpose(1, 2).reshape(x.shape)), attention",
            "return attention, self.fc_out(heads.transpose(1, 2).reshape(x.shape))",
        ),
        says="the weights are returned before the output",
    ),
    mutant(
        "transparent-averaged",
        edit("reshape(x.shape)), attention", "reshape(x.shape)), attention.mean(1)"),
        says="the returned weights are averaged over the heads",
    ),
    mutant(
        "transparent-next-seen",
        edit("diagonal=1", "diagonal=2"),
        says="the next step is seen",
    ),
    mutant(
        "transparent-self-hidden",
        edit("diagonal=1", "diagonal=0"),
        edit('float("-inf")', "-1e9"),
        says="no step sees itself",
    ),
    mutant(
        "transparent-masked-late",
        edit(
            'torch.softmax(scores.masked_fill(future, float("-inf")), dim=-1)',
            "torch.softmax(scores, dim=-1).masked_fill(future, 0.0)",
        ),
        says="the future loses its weight after the softmax",
    ),
]
