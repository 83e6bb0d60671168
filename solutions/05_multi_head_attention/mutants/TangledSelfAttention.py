"""Answers to TangledSelfAttention that still have a fault. They must fail; a student reads nothing about them."""

from grader.authoring import edit, mutant

MUTANTS = [
    mutant(
        "tangled-only-renamed",
        edit("q @ k.transpose(2, 3) / math", "q @ k.transpose(2, 3) @ q / math"),
        edit("torch.ones(steps, steps,", "torch.ones(self.d_head, self.d_head,"),
        edit('scores.masked_fill(future, float("-inf"))', 'scores + future * float("-inf")'),
        edit("future", "later", times=2),
        says="every fault is still there",
    ),
    mutant(
        "tangled-scores-unfixed",
        edit("q @ k.transpose(2, 3) / math", "q @ k.transpose(2, 3) @ q / math"),
        says="the scores are multiplied by the queries once more",
    ),
    mutant(
        "tangled-size-unfixed",
        edit("torch.ones(steps, steps,", "torch.ones(self.d_head, self.d_head,"),
        says="the mask has the size of a head",
    ),
    mutant(
        "tangled-product-unfixed",
        edit('scores.masked_fill(future, float("-inf"))', 'scores + future * float("-inf")'),
        says="the mask contains zero times infinity, which is NaN",
    ),
    mutant(
        "tangled-mask-unfixed",
        edit("torch.ones(steps, steps,", "torch.ones(self.d_head, self.d_head,"),
        edit('scores.masked_fill(future, float("-inf"))', 'scores + future * float("-inf")'),
        says="only the scores are corrected",
    ),
    mutant(
        "tangled-mask-gone",
        edit('scores.masked_fill(future, float("-inf"))', "scores"),
        says="the mask was taken out",
    ),
    mutant(
        "tangled-mask-added",
        edit('scores.masked_fill(future, float("-inf"))', "scores - future.to(scores)"),
        says="1 is subtracted from the scores of later steps",
    ),
    mutant(
        "tangled-mask-of-zero",
        edit('scores.masked_fill(future, float("-inf"))', "scores.masked_fill(future, 0.0)"),
        says="later steps have a score of zero",
    ),
    mutant(
        "tangled-past-hidden",
        edit(".triu(diagonal=1)", ".tril(diagonal=-1)"),
        says="the past is hidden",
    ),
    mutant(
        "tangled-next-seen",
        edit("diagonal=1", "diagonal=2"),
        says="the next step is seen",
    ),
    mutant(
        "tangled-self-hidden",
        edit("diagonal=1", "diagonal=0"),
        edit('float("-inf")', "-1e9"),
        says="no step sees itself",
    ),
    mutant(
        "tangled-scale-gone",
        edit(" / math.sqrt(self.d_head)", ""),
        says="the scores are not scaled",
    ),
    mutant(
        "tangled-merge",
        edit("heads.transpose(1, 2).reshape", "heads.reshape"),
        says="the heads are joined without moving the head axis back",
    ),
    mutant(
        "tangled-softmax-axis",
        edit("dim=-1)", "dim=-2)"),
        says="the softmax runs over the queries",
    ),
]
