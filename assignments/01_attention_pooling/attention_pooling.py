# %% [markdown]
# # 01 · Attention pooling
#
# You have measured a few pairs: at the place $k_s$ you found the value $v_s$. Now you want an answer for a
# new place $q$. The mean of all values ignores $q$. The value of the nearest place depends on $q$, but it
# ignores all other values, and it jumps whenever another place becomes the nearest. A good
# answer is in between: an average of all values in which near places count more. Combining many values into
# one like this is called *pooling*.
#
# After this lesson you can
#
# - name queries, keys, values, scores and attention weights, and give their shapes;
# - compute a weighted average whose weights come from a softmax over the keys;
# - use broadcasting to compute a table for all pairs of two lists.
#
# Are shapes, broadcasting and matrix products of tensors new to you, or long ago? [ground.md](ground.md) has
# what you need, on one page.
#
# This weighted average is already attention, and its parts have names. The **query** is the new place $q$.
# The **keys** are the known places $k_s$, with which the query is compared. The **values** $v_s$ are
# averaged. Comparing the query with every key gives **attention weights**. They are positive and sum to one.
# The answer is the weighted sum of the values. Nadaraya (1964) and Watson (1964) found this method
# independently, for fitting curves.
#
# $$f(q) = \sum_{s} \alpha_s(q) v_s$$
#
# $$\alpha_s(q) = \frac{\exp(x_s)}{\sum_{s'} \exp(x_{s'})}$$
#
# $$x_s = -\frac{((q - k_s) w)^2}{2}$$
#
# The **score** $x_s$ says how well key $s$ fits the query. A perfect fit has the score 0, and the score
# falls as the distance grows. As a function of the distance, the exponential of the score is a Gaussian
# bell curve. A function that turns a distance into a weight is called a *kernel*. Take exponentials, divide
# by their sum: that is the **softmax**. Every attention in this course uses it.
#
# The parameter $w$ controls the width of the bell. With $w = 0$ the distance has no effect, and the answer is
# the plain mean. The larger $w$ is, the narrower the bell. For very large $w$ only the nearest key counts.
# You need not choose $w$ by hand: the answer is a smooth function of $w$, so $w$ can be *learned* by gradient
# descent. "Let it learn" below does it.
#
# ![Above, six measured values as dots over their keys, and three curves of answers: for w = 0.1 a flat line
# at the mean of all values, for w = 20 steps that jump from one value to the next, for w = 1.5 a smooth curve
# in between. Below, the six weights for the query 2.7, under a bell around it: 0.51 and 0.43 for the two
# nearest keys, 0.03 and less for the others.](pictures/kernel_regression.svg)
#
# | name | shape | meaning |
# |---|---|---|
# | `queries` | `(T,)` | the new places |
# | `keys` | `(S,)` | the known places |
# | `values` | `(S,)` | the measured value at each key |
# | `w` | a number, or a tensor with one element | sets the width of the bell |
# | weights | `(T, S)` | one row per query, one column per key; every *row* sums to one |
# | result of the regression | `(T,)` | one answer per query |
#
# **By hand.** Take $w = \sqrt{2 \ln 2} \approx 1.177$. With this $w$ the exponentials are simple: a key at
# distance 0, 1 or 2 gets the exponential $1$, $\tfrac12$ or $\tfrac1{16}$. Let the keys be `[0, 1, 2]` and
# the values `[10, 20, 0]`.
#
# | query | exponentials | their sum | weights | answer |
# |---|---|---|---|---|
# | 1 | 1/2, 1, 1/2 | 2 | 0.25, 0.5, 0.25 | 2.5 + 10 + 0 = 12.5 |
# | 0 | 1, 1/2, 1/16 | 25/16 | 0.64, 0.32, 0.04 | 6.4 + 6.4 + 0 = 12.8 |
#
# The plain mean would be 10 both times. One key is exactly at 0, and its value is 10, too. But the answer for
# query 0 is not 10, because the neighbouring keys have some weight.
#
# **Broadcasting.** The weights need every pair of a query and a key. PyTorch computes all pairs at once,
# without a loop. It compares the shapes of two tensors axis by axis, *from the right*. Where one tensor has
# size 1, or has no axis at all, PyTorch repeats it to match the other. Any other difference in size is an
# error.
#
# ```python
# column = torch.tensor([[10], [20]])  # (2, 1)
# row = torch.tensor([1, 2, 3])  # (3,), treated as (1, 3)
# column + row  # (2, 3): [[11, 12, 13], [21, 22, 23]]
# ```
#
# `unsqueeze`, or `None` inside an index, inserts an axis of size 1.
#
# **What goes wrong.**
#
# - The softmax runs along the wrong axis of the table. Then the weights of each *key* sum to one. The shape
#   is still right. Check the sums of the rows: they are no longer one.
# - $w$ is outside the square. It belongs inside, because it scales the distance before the square is taken.
# - The query is far from every key. Then all exponentials are so small that they are rounded to 0, and 0
#   divided by 0 is NaN (not a number). A library softmax avoids this: it first subtracts the largest score,
#   which changes no weight.
# - $w$ is converted to a plain Python number. This cuts it off from its gradient, and it is never learned.

# %%
import torch

# %% [markdown]
# ## Exercise: `kernel_attention_weights`
#
# Compute one weight per pair of query and key. Two tensors with one axis each become a table with two axes:
# one row per query, one column per key.
#
# `kernel_attention_weights(queries, keys, w)`: `(T,)` and `(S,)` in, `(T, S)` out.
#
# **In plain Python.** Such a block stands before each exercise. It says on lists of numbers, in loops, what
# your function computes. You write it for tensors, without a loop.
#
# ```python
# import math
#
# def kernel_attention_weights_plain(queries, keys, w):  # T numbers, S numbers, a number
#     table = []
#     for q in queries:
#         scores = [-(((q - k) * w) ** 2) / 2 for k in keys]
#         exps = [math.exp(x - max(scores)) for x in scores]  # the largest is 1, however far away q is
#         table.append([e / sum(exps) for e in exps])
#     return table  # (T, S)
# ```
#
# **In PyTorch, something similar.** All pairs of two lists, and the share that each has in its column:
#
# ```python
# prices = torch.tensor([1.0, 3.0])
# amounts = torch.tensor([2.0, 5.0, 10.0])
# table = prices[:, None] * amounts  # (2, 3): [[2, 5, 10], [6, 15, 30]]
# table / table.sum(dim=0)  # (2, 3): [[0.25, 0.25, 0.25], [0.75, 0.75, 0.75]]
# ```


# %% exercise="kernel_attention_weights"
def kernel_attention_weights(
    queries: torch.Tensor, keys: torch.Tensor, w: float | torch.Tensor = 1.0
) -> torch.Tensor:
    """Return the attention weights of a Gaussian kernel (Nadaraya 1964, Watson 1964).

    queries: (T,); keys: (S,), both of the same floating-point dtype; w: a number, or a tensor of shape ()
    or (1,) that may require a gradient.
    Returns (T, S) in the dtype of queries and keys; every row sums to one, also for a query far from all keys.
    """
    raise NotImplementedError("kernel_attention_weights is not written yet")


# %% [markdown]
# ## Exercise: `kernel_regression`
#
# Use the weights. The answer for a query is the sum of all values, each multiplied by its weight.
#
# `kernel_regression(queries, keys, values, w)`: `(T,)`, `(S,)` and `(S,)` in, `(T,)` out.
#
# **In plain Python.**
#
# ```python
# def kernel_regression_plain(queries, keys, values, w):  # T numbers, S numbers, S numbers, a number
#     answers = []
#     for weights in kernel_attention_weights_plain(queries, keys, w):  # S weights for one query
#         answer = 0.0
#         for weight, value in zip(weights, values):
#             answer += weight * value
#         answers.append(answer)
#     return answers  # (T,)
# ```
#
# **In PyTorch, something similar.** A list times a table:
#
# ```python
# amounts = torch.tensor([1.0, 2.0, 3.0])  # (3,)
# prices = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])  # (3, 2), three things in two shops
# amounts @ prices  # (2,): [4, 5]
# ```


# %% exercise="kernel_regression"
def kernel_regression(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, w: float | torch.Tensor = 1.0
) -> torch.Tensor:
    """Return one answer per query: the sum of the values, weighted by the attention weights.

    queries: (T,); keys: (S,); values: (S,), all of the same floating-point dtype; w: as in
    `kernel_attention_weights`.
    Returns (T,), same dtype, without NaN also for a query far from all keys.
    """
    raise NotImplementedError("kernel_regression is not written yet")


# %% [markdown]
# ## Try it
#
# Run this cell when both functions are written. It prints the two rows of weights and the two answers from
# the table above. Then it prints a gradient of about 4.1: the derivative of the sum of the answers with
# respect to `w`.

# %%
keys = torch.tensor([0.0, 1.0, 2.0])
values = torch.tensor([10.0, 20.0, 0.0])
queries = torch.tensor([1.0, 0.0])
w = torch.tensor(1.1774100, requires_grad=True)  # the square root of 2 ln 2
try:
    print(kernel_attention_weights(queries, keys, w))
    answers = kernel_regression(queries, keys, values, w)
    print(answers)
    answers.sum().backward()
    print("gradient of w:", w.grad)
except NotImplementedError as unwritten:
    print(unwritten)

# %% [markdown]
# ## Let it learn
#
# Now your functions learn. Fifty pairs are drawn around a known curve, $2 \sin(x) + x^{0.8}$, with noise.
# One number is learned: $w$. It starts at 0.3, much too small. Each of the 50 places is a query, and the
# loss is the mean squared difference between the answer and the measured value. Then $w$ takes a step against
# its gradient, 40 times.
#
# One thing matters: the pair's own key is *left out*, so each value is predicted from the 49 others. This is
# called *leave-one-out*. With its own key among the keys, each pair can look up its own value, and the loss
# falls for as long as $w$ grows. After 1000 steps $w$ would be 13.5, after 2000 steps 19.9, and it goes on
# growing.
#
# Without the own key $w$ goes from 0.30 to 3.49, and the loss from 1.26 to 0.36. Do not expect 0: the noise
# alone has the mean square 0.31 here, and nobody can predict it. More steps would lead to 3.96 and change
# the loss by less than 0.01. The distance to the true curve, which the loss never sees, shrinks as well: its
# mean square falls from 0.85 to 0.04. You can also start at 10, which is too large. Each answer is then an
# average of the nearest few values, and $w$ comes down slowly: to 9.73 in 40 steps, and to 3.96 in 1000.
#
# ![Above, 50 dots around a true curve that rises to 3.6 and falls to 1.4. Before, with w = 0.30, the answers
# are a nearly flat line at 2.5. After, with w = 3.49, they follow the true curve closely. Below, the weights
# as two tables of 50 queries and 50 keys, both sorted. Before, each row is nearly uniform, with 0.01 to 0.03
# everywhere. After, a row has 6 to 16 keys with 0.01 or more, in a band along the diagonal. The diagonal
# itself is empty.](pictures/learned_width.svg)

# %%
if __name__ == "__main__":  # here and in a notebook, not while the file is checked
    torch.manual_seed(0)
    places = (5 * torch.rand(50)).sort().values  # (50,)
    measured = 2 * torch.sin(places) + places**0.8 + 0.5 * torch.randn(50)  # (50,)
    others = ~torch.eye(50, dtype=torch.bool)  # (50, 50), row i: all pairs except pair i
    w = torch.tensor(0.3, requires_grad=True)
    try:
        for step in range(41):
            pairs = zip(places, others, strict=True)
            answers = [kernel_regression(q[None], places[rest], measured[rest], w) for q, rest in pairs]
            loss = ((torch.cat(answers) - measured) ** 2).mean()
            if step % 10 == 0:
                print(f"step {step}: w = {w.item():.2f}, loss = {loss.item():.2f}")
            (slope,) = torch.autograd.grad(loss, w)
            with torch.no_grad():
                w -= slope  # the learning rate is 1
    except NotImplementedError as unwritten:
        print(unwritten)

# %% [markdown]
# ## Summary
#
# - Attention compares a query with all keys and returns a weighted sum of the values.
# - A score says how well a key fits a query. A softmax over the keys turns scores into weights that sum to
#   one.
# - In kernel regression the score is a fixed function of the distance, and $w$ sets its width. You can learn
#   $w$ by gradient descent, if each pair's own key is left out.
# - Broadcasting computes the scores of all pairs without a loop.

# %% [markdown]
# ## Questions to think about
#
# 1. Can an answer be larger than the largest value, or smaller than the smallest? What does that say about
#    queries far outside the keys?
# 2. Suppose you learn `w` by predicting the value of each measured pair, with its own key among the keys.
#    Why does the error go to zero as `w` grows, and why is that useless? Why does leaving out the own key help?
# 3. Here the score is a fixed function of a distance. What would you change so that *what counts as near* is
#    learned, too? (Lesson 03 starts here.)

# %% [markdown]
# ## Sources
#
# - Nadaraya, *On estimating regression*, Theory of Probability and its Applications 9, 1964.
# - Watson, *Smooth regression analysis*, Sankhyā A 26, 1964.
