# exercise: kernel_attention_weights
# says: wraps w in a new tensor that is cut off from the graph
# kind: mistake
# breaks: gradients

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    if isinstance(w, torch.Tensor):
        w = w.detach().clone()
    else:
        w = torch.tensor(w, dtype=queries.dtype, device=queries.device)
    attention = []
    for q in queries:
        attention.append(torch.softmax(-((q - keys) * w)**2 / 2, dim=0))
    return torch.stack(attention)
