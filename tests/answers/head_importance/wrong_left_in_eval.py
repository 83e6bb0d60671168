# exercise: head_importance
# says: the module stays in evaluation mode
# kind: mistake
# breaks: purity

import torch
from grader.given import gated_attention


def head_importance(mha, batches, loss_fn, method):
    H = mha.num_heads
    was_training = mha.training
    mha.eval()
    total, count = mha.W_q.weight.new_zeros(H), 0
    for queries, keys, values, valid_lens, target in batches:
        B, T = queries.shape[:2]
        ones = torch.ones(H, dtype=queries.dtype, device=queries.device)
        if method == "ablation":
            with torch.no_grad():
                base = loss_fn(gated_attention(mha, ones, queries, keys, values, valid_lens), target)
                for h in range(H):
                    gates = ones.clone()
                    gates[h] = 0
                    loss = loss_fn(gated_attention(mha, gates, queries, keys, values, valid_lens), target)
                    total[h] += (loss - base).sum()
            count += B
        elif method == "gradient":
            gates = ones.requires_grad_()
            losses = loss_fn(gated_attention(mha, gates, queries, keys, values, valid_lens), target)
            for loss in losses:
                grad = torch.autograd.grad(loss, gates, retain_graph=True)[0]
                total += grad.abs()
            count += B
        elif method == "confidence":
            with torch.no_grad():
                mha(queries, keys, values, valid_lens)
            weights = mha.attention.attention_weights.reshape(B, H, T, -1)
            total += weights.max(dim=-1).values.sum(dim=(0, 2))
            count += B * T
        else:
            raise ValueError(f"no such method: {method}")
    return total / count
