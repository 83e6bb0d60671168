# exercise: kernel_regression
# says: numerator and denominator summed key by key, NaN far from all keys
# kind: mistake
# breaks: values

import torch

def kernel_regression(queries, keys, values, w=1.0):
    num = torch.zeros_like(queries)
    den = torch.zeros_like(queries)
    for i in range(len(keys)):
        K = torch.exp(-0.5 * ((queries - keys[i]) * w) ** 2)
        num = num + K * values[i]
        den = den + K
    return num / den
