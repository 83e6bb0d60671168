# exercise: kernel_regression
# says: numerator and denominator summed key by key, relative to the nearest key
# kind: same
# breaks:

import torch

def kernel_regression(queries, keys, values, w=1.0):
    nearest = torch.stack([((queries - k) * w) ** 2 for k in keys]).min(dim=0).values
    num = torch.zeros_like(queries)
    den = torch.zeros_like(queries)
    for i in range(len(keys)):
        K = torch.exp(-0.5 * (((queries - keys[i]) * w) ** 2 - nearest))
        num = num + K * values[i]
        den = den + K
    return num / den
