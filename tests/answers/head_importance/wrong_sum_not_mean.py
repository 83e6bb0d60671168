# exercise: head_importance
# says: summed over samples
# kind: mistake
# breaks: values

import torch


def per_sample(mha, gates, queries, keys, values, valid_lens):
    """gates (B, H)"""
    def hook(module, args):
        X = args[0]
        return X * gates.repeat_interleave(X.shape[-1] // gates.shape[-1], dim=-1).unsqueeze(1)

    handle = mha.W_o.register_forward_pre_hook(hook)
    output = mha(queries, keys, values, valid_lens)
    handle.remove()
    return output


def head_importance(mha, batches, loss_fn, method):
    mode = mha.training
    mha.eval()
    rows = []
    for queries, keys, values, valid_lens, target in batches:
        gates = torch.ones(len(queries), mha.num_heads, dtype=queries.dtype, device=queries.device)
        if method == "gradient":
            gates.requires_grad_(True)
            loss_fn(per_sample(mha, gates, queries, keys, values, valid_lens), target).sum().backward()
            rows.append(gates.grad.abs())  # (B, H)
        elif method == "ablation":
            with torch.no_grad():
                before = loss_fn(mha(queries, keys, values, valid_lens), target)
                columns = []
                for h in range(mha.num_heads):
                    gates[:] = 1
                    gates[:, h] = 0
                    after = loss_fn(per_sample(mha, gates, queries, keys, values, valid_lens), target)
                    columns.append(after - before)
                rows.append(torch.stack(columns, dim=1))
        else:
            with torch.no_grad():
                mha(queries, keys, values, valid_lens)
            best = mha.attention.attention_weights.amax(-1)  # (B*H, T)
            rows.append(best.unflatten(0, (-1, mha.num_heads)).transpose(1, 2).flatten(0, 1))
    mha.train(mode)
    return torch.cat(rows).sum(dim=0)
