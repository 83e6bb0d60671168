# %% [markdown]
# # 01 · Attention pooling
#
# You have measured a few pairs: at the place $k_s$ you found the value $v_s$. Now somebody asks about a new
# place $q$. What do you answer? The mean of all values does not listen to the question. The value of the
# nearest place listens, but throws away all the others and jumps whenever another place becomes the nearest.
# In between lies a good answer: an average of all values in which near places weigh more.
#
# This is already attention, and these are its three words. The **query** is the question $q$. The **keys**
# are the places $k_s$ to compare it with. The **values** are what is averaged. Comparing the query with every
# key gives **attention weights**, positive numbers that sum to one, and the answer is the weighted sum. The
# idea is sixty years old: Nadaraya (1964) and Watson (1964) found it independently, for fitting curves.
#
# $$f(q) = \sum_{s} \alpha_s(q) v_s$$
#
# $$\alpha_s(q) = \frac{\exp(x_s)}{\sum_{s'} \exp(x_{s'})}$$
#
# $$x_s = -\frac{((q - k_s) w)^2}{2}$$
#
# The **score** $x_s$ says how well key $s$ fits the query: 0 for a perfect fit, and the lower the farther
# away. Its exponential, drawn over the distance, is Gauss's bell curve; such a curve, which turns a distance
# into a weight, is called a *kernel*. Turning scores into weights by taking exponentials and dividing them by
# their sum is called **softmax**, and it will stay with us for the whole course.
#
# The number $w$ sets how picky the average is. With $w = 0$ distance does not matter and the answer is the
# plain mean; the larger $w$, the narrower the bell, and in the end only the nearest key counts. Nobody has to
# choose it by hand: the answer depends smoothly on $w$, so $w$ can be a parameter that is *learned* by
# gradient descent.
#
# ![Above, six measured values as dots over their keys, and three curves of answers: for w = 0.1 a flat line
# at the mean of all values, for w = 20 steps that jump from one value to the next, for w = 1.5 a smooth curve
# in between. Below, the six weights for the query 2.7, under a bell around it: 0.51 and 0.43 for the two
# nearest keys, 0.03 and less for the others.](pictures/kernel_regression.svg)
#
# | name | shape | meaning |
# |---|---|---|
# | `queries` | `(T,)` | the places we are asked about |
# | `keys` | `(S,)` | the places we know |
# | `values` | `(S,)` | what was measured at each key |
# | `w` | a number, or a tensor with one entry | how narrow the bell is |
# | weights | `(T, S)` | one row per query, one column per key; every *row* sums to one |
# | result of the regression | `(T,)` | one answer per query |
#
# **By hand.** Take $w = \sqrt{2 \ln 2} \approx 1.177$, for then the bell has heights that are easy to write
# down: a key at distance 0, 1 or 2 gets the exponential $1$, $\tfrac12$ or $\tfrac1{16}$. Let the keys be
# `[0, 1, 2]` and the values `[10, 20, 0]`.
#
# | query | exponentials | their sum | weights | answer |
# |---|---|---|---|---|
# | 1 | 1/2, 1, 1/2 | 2 | 0.25, 0.5, 0.25 | 2.5 + 10 + 0 = 12.5 |
# | 0 | 1, 1/2, 1/16 | 25/16 | 0.64, 0.32, 0.04 | 6.4 + 6.4 + 0 = 12.8 |
#
# The plain mean would have said 10 both times. Note that the answer for query 0 is not 10, although there is
# a key exactly there: an average still listens a little to the neighbours.
#
# **What goes wrong.** The weights form a table, and a softmax can run along its rows or along its columns.
# Along the wrong one, each *key* shares itself out among the queries; when `T = S` no shape complains, only
# the sums of the rows tell. Next: $w$ belongs inside the square, since it stretches the distance before the
# bell is applied. Then: far from every key all exponentials are so small that the computer rounds them to 0,
# and 0 divided by 0 is not a number (NaN). A library softmax avoids this by first subtracting the largest
# score, which changes no weight. And last: whoever turns $w$ into a plain Python number on the way cuts it
# off from its gradient, and it will never learn anything.

# %%
import torch

# %% [markdown]
# ## Exercise: `kernel_attention_weights`
#
# A weight for every pair of query and key. Two tensors with one axis each must become a table with two: think
# of the queries written down the side and the keys along the top.

# %% exercise="kernel_attention_weights"
def kernel_attention_weights(
    queries: torch.Tensor, keys: torch.Tensor, w: float | torch.Tensor = 1.0
) -> torch.Tensor:
    """Attention weights of a Gaussian kernel (Nadaraya 1964, Watson 1964).

    queries: (T,); keys: (S,); w: a number or a tensor with one entry, which may ask for a gradient.
    Returns (T, S) in the dtype of queries and keys; every row sums to one.
    """
    ### BEGIN SOLUTION
    distances = queries[:, None] - keys[None, :]  # (T, S)
    scores = -((distances * w) ** 2) / 2  # (T, S)
    return scores.softmax(dim=-1)
    ### END SOLUTION


# %% [markdown]
# ## Exercise: `kernel_regression`
#
# Use the weights: the answer for a query is the sum of all values, each times its weight.

# %% exercise="kernel_regression"
def kernel_regression(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, w: float | torch.Tensor = 1.0
) -> torch.Tensor:
    """Answer every query by the average of the values under its attention weights.

    queries: (T,); keys: (S,); values: (S,); w as in `kernel_attention_weights`.
    Returns (T,), same dtype.
    """
    ### BEGIN SOLUTION
    weights = kernel_attention_weights(queries, keys, w)  # (T, S)
    return weights @ values  # (T,)
    ### END SOLUTION


# %% [markdown]
# ## Try it
#
# Run this cell when both functions are written. You should see the two rows of weights and the two answers
# from the table above, and then a gradient, about 4.1: it says how fast the sum of the answers grows with
# `w`.

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
# ## Questions to think about
#
# 1. Can an answer ever be larger than the largest value, or smaller than the smallest? What does that say
#    about queries far outside the keys?
# 2. Suppose you learn `w` by predicting the value of each measured pair, with its own key among the keys.
#    Towards which `w` would the error vanish, and why is that useless? What should be left out?
# 3. Here the score is a fixed function of a distance. What would you have to change so that *what counts as
#    near* is learned as well? (This is where assignment 03 begins.)

# %% [markdown]
# ## Sources
#
# - Nadaraya, *On estimating regression*, Theory of Probability and its Applications 9, 1964.
# - Watson, *Smooth regression analysis*, Sankhyā A 26, 1964.
