# exercise: head_importance
# says: the largest weight in a whole sentence
# kind: mistake
# breaks: values

import copy

import torch
from grader.given import gated_attention


def silenced(mha, h):
    d = mha.W_o.weight.shape[1] // mha.num_heads
    twin = copy.deepcopy(mha)
    with torch.no_grad():
        twin.W_o.weight[:, h * d:(h + 1) * d] = 0
    return twin


def head_importance(mha, batches, loss_fn, method):
    mha = copy.deepcopy(mha).eval()
    H = mha.num_heads
    result = []
    for h in range(H):
        numbers = []
        for q, k, v, lens, target in batches:
            if method == "ablation":
                with torch.no_grad():
                    numbers += (loss_fn(silenced(mha, h)(q, k, v, lens), target)
                                - loss_fn(mha(q, k, v, lens), target)).tolist()
            elif method == "gradient":
                xi = torch.ones(H, dtype=q.dtype, device=q.device, requires_grad=True)
                losses = loss_fn(gated_attention(mha, xi, q, k, v, lens), target)
                for i in range(len(losses)):
                    g, = torch.autograd.grad(losses[i], xi, retain_graph=True)
                    numbers.append(abs(g[h].item()))
            else:
                mha(q, k, v, lens)
                for row in mha.attention.attention_weights[h::H]:
                    numbers.append(row.max().item())
        result.append(sum(numbers) / len(numbers))
    return torch.tensor(result, dtype=mha.W_o.weight.dtype, device=mha.W_o.weight.device)
