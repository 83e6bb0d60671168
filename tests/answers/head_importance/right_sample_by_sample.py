# exercise: head_importance
# says: every sentence as a batch of its own
# kind: same
# breaks:

import torch
from grader.given import gated_attention


def head_importance(mha, batches, loss_fn, method):
    training, H = mha.training, mha.num_heads
    mha.train(False)
    scores = []
    for queries, keys, values, valid_lens, target in batches:
        for i in range(len(queries)):
            one = slice(i, i + 1)
            lens = valid_lens[one] if valid_lens is not None else None
            args = queries[one], keys[one], values[one], lens
            gates = torch.ones(H, dtype=queries.dtype, device=queries.device, requires_grad=True)
            loss = loss_fn(gated_attention(mha, gates, *args), target[one])[0]
            if method == "gradient":
                gates.grad = None
                loss.backward(inputs=[gates])
                scores.append(gates.grad.abs())
            elif method == "ablation":
                row = torch.empty(H, dtype=queries.dtype, device=queries.device)
                for h in range(H):
                    silent = torch.ones_like(gates)
                    silent[h] = 0.0
                    row[h] = loss_fn(gated_attention(mha, silent, *args), target[one])[0].detach() - loss.detach()
                scores.append(row)
            elif method == "confidence":
                weights = mha.attention.attention_weights.detach()  # (H, T, S)
                scores.extend(weights.max(dim=2)[0].T)
    mha.train(training)
    return torch.stack(scores).mean(0)
