# exercise: kernel_regression
# says: a list comprehension over the queries
# kind: same
# breaks:

import torch
from typing import Union

def _predict(q: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, w) -> torch.Tensor:
    weights = (-((q - keys) * w).square() / 2).softmax(0)
    return torch.dot(weights, values)

def kernel_regression(queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor,
                      w: Union[float, torch.Tensor] = 1.0) -> torch.Tensor:
    return torch.stack([_predict(q, keys, values, w) for q in queries])
