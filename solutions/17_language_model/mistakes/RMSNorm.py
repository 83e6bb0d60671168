"""Known mistakes in RMSNorm; their pages are in RMSNorm.md."""

from grader.authoring import dtype_mistake, edit, mistake

WIDE = "wide = x.to(torch.promote_types(x.dtype, torch.float32))"
MEAN = "mean_square = wide.square().mean(-1, keepdim=True)"
NORMED = "normed = wide * torch.rsqrt(mean_square + self.eps)"
RESULT = "return (normed * self.weight).to(x.dtype)"
WEIGHT = "self.weight = nn.Parameter(torch.ones(d_model))"

MISTAKES = [
    mistake(
        "rms-mean-subtracted",
        edit(WIDE, WIDE + "\n        wide = wide - wide.mean(-1, keepdim=True)"),
        says="the mean is subtracted first, as in LayerNorm",
        asks="Take the vector 3, 4. What should come out, and what does your module return?",
    ),
    mistake(
        "rms-mean-subtracted-above",
        edit(
            NORMED,
            NORMED.replace("wide *", "(wide - wide.mean(-1, keepdim=True)) *"),
        ),
        says="the mean is subtracted from the vector before it is divided",
        asks="Which of the two steps of LayerNorm does this norm leave out?",
    ),
    mistake(
        "rms-deviation",
        edit(MEAN, "mean_square = wide.var(-1, keepdim=True, correction=0)"),
        says="vectors are divided by their standard deviation instead of the root of their mean square",
        asks="What is the mean square of 3, 4, and what is its variance?",
    ),
    mistake(
        "rms-deviation-unbiased",
        edit(MEAN, "mean_square = wide.var(-1, keepdim=True)"),
        says="vectors are divided by the standard deviation that PyTorch computes with one feature less",
        asks="What is the mean square of 3, 4, and what does your module divide by?",
    ),
    mistake(
        "rms-eps-outside",
        edit(NORMED, "normed = wide / (mean_square.sqrt() + self.eps)"),
        says="eps is added after the root, so short vectors come out too long",
        asks="Which of the two is larger for a mean square of 0.000001: eps under the root, or eps after it?",
    ),
    mistake(
        "rms-no-eps",
        edit(NORMED, "normed = wide * torch.rsqrt(mean_square)"),
        says="eps is not used, so a zero vector is divided by zero",
        asks="What does your module return for a vector of zeros?",
    ),
    mistake(
        "rms-eps-fixed",
        edit("self.eps = eps", "self.eps = 1e-5"),
        says="the eps that was passed is not used",
        asks="Which eps does your module use if it is built with 0.5?",
    ),
    mistake(
        "rms-eps-squared",
        edit("mean_square + self.eps)", "mean_square + self.eps**2)"),
        says="eps is squared before it is added",
        asks="What exactly is added to the mean square?",
    ),
    mistake(
        "rms-over-steps",
        edit(
            MEAN,
            "mean_square = wide.square().mean(-2, keepdim=True) if wide.dim() > 1 else wide.square().mean()",
        ),
        forms=[[edit(MEAN, "mean_square = wide.square().mean(1, keepdim=True)")]],
        says="the mean goes over the steps instead of the features",
        asks="Does the result of one step change if another step changes?",
    ),
    mistake(
        "rms-over-everything",
        edit(MEAN, "mean_square = wide.square().mean()"),
        says="one mean goes over the whole input, so vectors are not normalised one by one",
        asks="Does the result of one step change if another step changes?",
    ),
    mistake(
        "rms-over-steps-and-features",
        edit(MEAN, "mean_square = wide.square().mean(tuple(range(-min(2, wide.dim()), 0)), keepdim=True)"),
        says="the mean goes over steps and features together",
        asks="Does the result of one step change if another step changes?",
    ),
    mistake(
        "rms-sum",
        edit(".mean(-1, keepdim=True)  # (…, 1)", ".sum(-1, keepdim=True)  # (…, 1)"),
        says="squares are added up instead of averaged, so vectors come out with length 1",
        asks="How large is a typical feature of the result if there are 96 features?",
    ),
    mistake(
        "rms-no-root",
        edit(NORMED, "normed = wide / (mean_square + self.eps)"),
        says="vectors are divided by the mean square, without the root",
        asks="If a vector is ten times as long, how does your result change?",
    ),
    mistake(
        "rms-multiplied",
        edit(NORMED, "normed = wide * torch.sqrt(mean_square + self.eps)"),
        says="vectors are multiplied by the root instead of divided",
        asks="If a vector is ten times as long, how does your result change?",
    ),
    mistake(
        "rms-absolute",
        edit(MEAN, "mean_square = wide.abs().mean(-1, keepdim=True).square()"),
        says="the mean of the absolute values takes the place of the root mean square",
        asks="What is the mean of the squares of 3 and 4, and what is the square of their mean?",
    ),
    mistake(
        "rms-weight-unused",
        edit(RESULT, "return normed.to(x.dtype)"),
        says="the weight is not used",
        asks="Which gradient does your weight get?",
    ),
    mistake(
        "rms-weight-added",
        edit(RESULT, "return (normed + self.weight).to(x.dtype)"),
        says="the weight is added instead of multiplied",
        asks="What should a new module, with all weights 1, do besides normalising?",
    ),
    mistake(
        "rms-weight-zeros",
        edit(WEIGHT, "self.weight = nn.Parameter(torch.zeros(d_model))"),
        says="a new module has the weight 0, so it returns zeros",
        asks="What does a new module return for 3, 4?",
    ),
    mistake(
        "rms-one-plus-weight",
        edit(WEIGHT, "self.weight = nn.Parameter(torch.zeros(d_model))"),
        edit("normed * self.weight", "normed * (1 + self.weight)"),
        says="the result is multiplied by one plus the weight",
        asks="Your weight begins at 0. What does a loaded weight of 1 mean to your module?",
        kind="different",
    ),
    mistake(
        "rms-weight-one-number",
        edit(WEIGHT, "self.weight = nn.Parameter(torch.ones(1))"),
        says="there is one weight for all features",
        asks="How many weights does the norm have for d_model features?",
    ),
    mistake(
        "rms-weight-not-learned",
        edit(WEIGHT, "self.register_buffer('weight', torch.ones(d_model))"),
        says="the weight is no parameter, so it is not learned",
        asks="Is your weight among the parameters of the module?",
    ),
    mistake(
        "rms-with-bias",
        edit(WEIGHT, WEIGHT + "\n        self.bias = nn.Parameter(torch.zeros(d_model))"),
        edit("normed * self.weight", "normed * self.weight + self.bias"),
        says="there is a bias, which this norm does not have",
        asks="How many parameters does the norm have for d_model features?",
    ),
    mistake(
        "rms-before-weight",
        edit(WIDE, "wide = x.to(torch.promote_types(x.dtype, torch.float32)) * self.weight"),
        edit(RESULT, "return normed.to(x.dtype)"),
        says="the weight is applied before the norm, which divides it out again",
        asks="What remains of a weight of 2 for all features?",
    ),
    mistake(
        "rms-in-place",
        edit(RESULT, "x.data.copy_(normed * self.weight)\n        return x * 1"),
        forms=[[edit(NORMED, "wide /= torch.sqrt(mean_square + self.eps)\n        normed = wide")]],
        says="the input is overwritten",
        asks="Who else needs the x that your module got?",
    ),
    mistake(
        "rms-norm-detached",
        edit("torch.rsqrt(mean_square + self.eps)", "torch.rsqrt(mean_square.detach() + self.eps)"),
        says="no gradient flows through the mean square",
        asks="If one feature grows, which features of the result change?",
    ),
    dtype_mistake(
        "rms-short-squares",
        edit(WIDE, "wide = x"),
        edit(RESULT, "return normed * self.weight.to(x.dtype)"),
        says="the mean square is computed in half precision",
        asks="What is the square of 300 in float16?",
    ),
    dtype_mistake(
        "rms-result-wide",
        edit(
            RESULT,
            "return normed * self.weight.float() if x.dtype != torch.float64 else normed * self.weight",
        ),
        says="the result is float32 for an input in half precision",
        asks="Which dtype does the next layer expect?",
    ),
    mistake(
        "rms-eps-of-torch",
        edit("self.eps = eps", "self.eps = 1.1920929e-07"),
        says="eps is PyTorch's default, the precision of float32, instead of the one that was passed",
        asks="Which eps does your module use if it is built with 0.5?",
    ),
]
