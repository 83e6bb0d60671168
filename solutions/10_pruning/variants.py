"""Right answers written differently, and trivial answers."""

from grader.authoring import edit, trivial, variant


def function(head, *lines):
    return f"{head}\n" + "\n".join(f"    {line}" for line in lines) + "\n"


MAPS = "def attention_maps(model, *inputs):"
GATED = "def gated_attention(mha, gates, queries, keys, values, valid_lens):"
IMPORTANCE = "def head_importance(mha, batches, loss_fn, method):"
PRUNE = "def prune_heads(mha, heads):"
REMOVAL = "def removal_experiment(model, data):"


def maps(id, *lines):
    return variant(f"maps-{id}", "attention_maps", function(MAPS, *lines))


def gated(id, *lines):
    return variant(f"gated-{id}", "gated_attention", function(GATED, *lines))


def gradients_by(id, *lines):
    """Return the reference with other code for the method `gradient`.

    `lines` add the absolute gradients of the samples of a batch to `total`, (H,).
    """
    replaced = (
        "gates = queries.new_ones(num_heads, requires_grad=True)",
        "losses = loss_fn(gated_attention(mha, gates, *inputs), target)  # (B,)",
        "for loss in losses:",
        "    (slope,) = torch.autograd.grad(loss, gates, retain_graph=True)  # (H,)",
        "    total = total + slope.abs()",
    )
    indented = "\n            "
    return variant(f"gradients-{id}", "head_importance", edit(indented.join(replaced), indented.join(lines)))


def prune(id, *lines):
    return variant(f"prune-{id}", "prune_heads", function(PRUNE, *lines))


def removal(id, *lines):
    return variant(f"removal-{id}", "removal_experiment", function(REMOVAL, *lines))


KEPT = (
    "H = mha.num_heads",
    "kept = sorted(set(range(H)) - set(heads))",
    "if not kept:",
    "    raise ValueError('nothing left')",
    "d = len(mha.W_q.weight) // H",
)

LOOKS = [
    maps(
        "from-the-parts",
        "model(*inputs)",
        "B = len(inputs[0])",
        "parts = [m.attention_weights for m in model.modules() if type(m).__name__ == 'DotProductAttention']",
        "parts = [w.view(B, -1, *w.shape[-2:]) for w in parts]",
        "if type(model).__name__ == 'Encoder':",
        "    return {'encoder': parts}",
        "return {'decoder': parts[::2], 'cross': parts[1::2]}",
    ),
    maps(
        "by-hooks",
        "seen = []",
        "def note(module, args, out):",
        "    seen.append(module.attention_weights.unflatten(0, (inputs[0].size(0), -1)).detach())",
        "hooks = [m.register_forward_hook(note) for m in model.modules() if hasattr(m, 'W_o')]",
        "with torch.no_grad():",
        "    model(*inputs)",
        "for hook in hooks:",
        "    hook.remove()",
        "decodes = callable(getattr(model, 'init_state', None))",
        "return {'decoder': tuple(seen[0::2]), 'cross': tuple(seen[1::2])} if decodes else {'encoder': tuple(seen)}",
    ),
    maps(
        "loop-over-sentences",
        "out = model(*inputs)",
        "def one(kept):",
        "    if not torch.is_tensor(kept):",
        "        return torch.cat([w[:, None] for w in kept], 1)",
        "    if kept.ndim == 4:",
        "        return kept",
        "    return torch.stack(kept.chunk(inputs[0].shape[0]))",
        "if isinstance(out, tuple):",
        "    return dict(zip(('decoder', 'cross'), ([one(w) for w in part] for part in model.attention_weights)))",
        "return dict(encoder=[one(w) for w in model.attention_weights])",
    ),
    *(
        trivial(
            f"maps-{id}",
            "attention_maps",
            function(
                MAPS,
                "B, T = inputs[0].shape",
                "keys = ('decoder', 'cross') if hasattr(model, 'init_state') else ('encoder',)",
                f"return {{key: [{what}] * 2 for key in keys}}",
            ),
        )
        for id, what in (("zeros", "torch.zeros(B, 3, T, T)"), ("even", "torch.full((B, 3, T, T), 1 / T)"))
    ),
    trivial("maps-nothing", "attention_maps", function(MAPS, "return {}")),
]

GATES = [
    gated(
        "by-a-hook",
        "d = mha.W_o.in_features // len(gates)",
        "hook = mha.W_o.register_forward_pre_hook(lambda layer, x: (x[0].unflatten(-1, (-1, d)) * gates[:, None]).flatten(-2))",
        "try:",
        "    return mha(queries, keys, values, valid_lens)",
        "finally:",
        "    hook.remove()",
    ),
    gated(
        "on-the-values",
        "H = mha.num_heads",
        "q, k, v = (W(x).unflatten(-1, (H, -1)).transpose(1, 2) for W, x in ((mha.W_q, queries), (mha.W_k, keys), (mha.W_v, values)))",
        "v = v * gates[:, None, None]",
        "lens = None if valid_lens is None else valid_lens.repeat_interleave(H, dim=0)",
        "heads = mha.attention(q.flatten(0, 1), k.flatten(0, 1), v.flatten(0, 1), lens)",
        "return mha.W_o(heads.unflatten(0, (-1, H)).transpose(1, 2).flatten(2))",
    ),
    gated(
        "in-the-output-matrix",
        "seen = []",
        "hook = mha.W_o.register_forward_pre_hook(lambda layer, x: seen.append(x[0]))",
        "mha(queries, keys, values, valid_lens)",
        "hook.remove()",
        "d = mha.W_o.in_features // mha.num_heads",
        "return F.linear(seen[0], mha.W_o.weight * gates.repeat_interleave(d), mha.W_o.bias)",
    ),
    gated(
        "sum-over-heads",
        "d, total = mha.W_o.in_features // mha.num_heads, 0",
        "kept = []",
        "hook = mha.W_o.register_forward_pre_hook(lambda layer, x: kept.append(x[0]))",
        "mha(queries, keys, values, valid_lens)",
        "hook.remove()",
        "for h, gate in enumerate(gates):",
        "    own = slice(h * d, h * d + d)",
        "    total = total + gate * (kept[0][..., own] @ mha.W_o.weight[:, own].T)",
        "return total if mha.W_o.bias is None else total + mha.W_o.bias",
    ),
    trivial(
        "gated-zeros",
        "gated_attention",
        function(GATED, "return torch.zeros(*queries.shape[:2], mha.W_o.out_features)"),
    ),
    trivial("gated-input-returned", "gated_attention", function(GATED, "return queries")),
]

WEIGHED = [
    gradients_by(
        "a-gate-for-every-sample",
        "gates = queries.new_ones(len(queries), num_heads, requires_grad=True)  # (B, H)",
        "hook = mha.W_o.register_forward_pre_hook(",
        "    lambda layer, x: (x[0].unflatten(-1, (num_heads, -1)) * gates[:, None, :, None]).flatten(-2)",
        ")",
        "loss_fn(mha(*inputs), target).sum().backward()",
        "hook.remove()",
        "total = total + gates.grad.abs().sum(dim=0)",
    ),
    gradients_by(
        "one-sample-at-a-time",
        "for b in range(len(queries)):",
        "    one = [None if x is None else x[b : b + 1] for x in inputs]",
        "    gates = torch.ones(num_heads, dtype=queries.dtype, device=queries.device).requires_grad_()",
        "    loss_fn(gated_attention(mha, gates, *one), target[b : b + 1]).sum().backward()",
        "    total = total + gates.grad.abs()",
    ),
    gradients_by(
        "zeroed-between-samples",
        "gates = queries.new_ones(num_heads, requires_grad=True)",
        "for loss in loss_fn(gated_attention(mha, gates, *inputs), target):",
        "    gates.grad = None",
        "    loss.backward(retain_graph=True)",
        "    total = total + gates.grad.abs().detach()",
    ),
    gradients_by(
        "by-a-jacobian",
        "slopes = torch.autograd.functional.jacobian(",
        "    lambda gates: loss_fn(gated_attention(mha, gates, *inputs), target), queries.new_ones(num_heads)",
        ")  # (B, H)",
        "total = total + slopes.abs().sum(dim=0)",
    ),
    gradients_by(
        "vmap-of-grad",
        "heads = []",
        "hook = mha.W_o.register_forward_pre_hook(lambda layer, x: heads.append(x[0].detach()))",
        "mha(*inputs)",
        "hook.remove()",
        "def loss_of(gates, joined, wanted):  # (H,), (T, D), (T, D)",
        "    gated = joined.unflatten(-1, (num_heads, -1)) * gates[:, None]",
        "    return loss_fn(mha.W_o(gated.flatten(-2))[None], wanted[None]).sum()",
        "slopes = torch.func.vmap(torch.func.grad(loss_of), in_dims=(None, 0, 0))",
        "total = total + slopes(queries.new_ones(num_heads), heads[0], target).abs().sum(dim=0)",
    ),
    variant(
        "importance-by-samples",
        "head_importance",
        function(
            IMPORTANCE,
            "def row(method, inputs, target):",
            "    H = mha.num_heads",
            "    if method == 'confidence':",
            "        mha(*inputs)",
            "        w = mha.attention.attention_weights.detach()  # (H, T, S)",
            "        return w.amax(-1).T",
            "    if method == 'ablation':",
            "        whole = loss_fn(mha(*inputs), target)",
            "        gates = 1 - torch.eye(H).to(inputs[0])",
            "        return torch.stack([loss_fn(gated_attention(mha, g, *inputs), target) - whole for g in gates], 1).detach()",
            "    g = torch.ones(H).to(inputs[0]).requires_grad_()",
            "    return torch.autograd.grad(loss_fn(gated_attention(mha, g, *inputs), target).sum(), g)[0].abs()[None]",
            "mode, rows = mha.training, []",
            "mha.train(False)",
            "for *inputs, target in batches:",
            "    for b in range(len(target)):",
            "        one = [None if x is None else x[b:b + 1] for x in inputs]",
            "        rows.append(row(method, one, target[b:b + 1]))",
            "mha.train(mode)",
            "return torch.cat(rows).mean(0)",
        ),
    ),
    trivial("importance-zeros", "head_importance", function(IMPORTANCE, "return torch.zeros(mha.num_heads)")),
    trivial(
        "importance-even",
        "head_importance",
        function(IMPORTANCE, "return torch.ones(mha.num_heads) / mha.num_heads"),
    ),
]

PRUNED = [
    prune(
        "by-index-select",
        *KEPT,
        "index = torch.cat([torch.arange(h * d, h * d + d) for h in kept]).to(mha.W_o.weight.device)",
        "for layer, dim in ((mha.W_q, 0), (mha.W_k, 0), (mha.W_v, 0), (mha.W_o, 1)):",
        "    layer.weight = nn.Parameter(layer.weight.detach().index_select(dim, index))",
        "    if dim == 0 and layer.bias is not None:",
        "        layer.bias = nn.Parameter(layer.bias.detach().index_select(0, index))",
        "mha.num_heads = len(kept)",
        "return mha",
    ),
    prune(
        "by-slicing-data",
        *KEPT,
        "def rows(t):",
        "    return torch.cat([t[h * d:(h + 1) * d] for h in kept])",
        "for layer in (mha.W_q, mha.W_k, mha.W_v):",
        "    layer.out_features = d * len(kept)",
        "    layer.weight.data = rows(layer.weight.data)",
        "    if layer.bias is not None:",
        "        layer.bias.data = rows(layer.bias.data)",
        "mha.W_o.in_features = d * len(kept)",
        "mha.W_o.weight.data = rows(mha.W_o.weight.data.T).T.contiguous()",
        "mha.num_heads = len(kept)",
        "return mha",
    ),
    prune(
        "into-a-new-module",
        *KEPT,
        "has_bias = mha.W_o.bias is not None",
        "small = MultiHeadAttention(mha.W_k.in_features, mha.W_q.in_features, mha.W_v.in_features, d * len(kept), len(kept),",
        "                           mha.attention.dropout.p, bias=has_bias)",
        "small.W_o = nn.Linear(d * len(kept), mha.W_o.out_features, bias=has_bias)",
        "small.to(mha.W_o.weight).train(mha.training)",
        "keep = torch.zeros(H, dtype=torch.bool)",
        "keep[kept] = True",
        "keep = keep.repeat_interleave(d).to(mha.W_o.weight.device)",
        "state = {}",
        "for name, value in mha.state_dict().items():",
        "    if name != 'W_o.bias':",
        "        value = value[:, keep] if name == 'W_o.weight' else value[keep]",
        "    state[name] = value",
        "small.load_state_dict(state)",
        "return small",
    ),
    prune(
        "from-the-last-to-the-first",
        "left, d = mha.num_heads, mha.W_o.weight.shape[1] // mha.num_heads",
        "if left == len(set(heads)):",
        "    raise ValueError('cannot remove every head')",
        "def without(t, h, dim):",
        "    return nn.Parameter(torch.cat([t.narrow(dim, 0, h * d), t.narrow(dim, h * d + d, t.size(dim) - h * d - d)], dim).detach())",
        "for h in sorted(set(heads), reverse=True):",
        "    for layer in (mha.W_q, mha.W_k, mha.W_v):",
        "        layer.weight = without(layer.weight, h, 0)",
        "        if layer.bias is not None:",
        "            layer.bias = without(layer.bias, h, 0)",
        "    mha.W_o.weight = without(mha.W_o.weight, h, 1)",
        "    left -= 1",
        "mha.num_heads = left",
        "return mha",
    ),
    prune(
        "one-small-layer-a-head",
        *KEPT[:-1],
        "class Heads(nn.Module):",
        "    def __init__(self, parts, out, bias, p):",
        "        super().__init__()",
        "        self.parts, self.out, self.dropout = nn.ModuleList(parts), nn.ModuleList(out), nn.Dropout(p)",
        "        self.bias = bias",
        "        self.num_heads = len(out)",
        "    def forward(self, queries, keys, values, valid_lens):",
        "        total, self.attention_weights = 0 if self.bias is None else self.bias, []",
        "        for n, o in enumerate(self.out):",
        "            q, k, v = (W(x) for W, x in zip(self.parts[3 * n:3 * n + 3], (queries, keys, values)))",
        "            scores = q @ k.mT / q.shape[-1] ** 0.5",
        "            if valid_lens is not None:",
        "                lens = valid_lens.reshape(len(q), -1, 1)",
        "                scores = scores.masked_fill(torch.arange(k.shape[1], device=k.device) >= lens, -1e6)",
        "            self.attention_weights.append(scores.softmax(-1))",
        "            total = total + o(self.dropout(self.attention_weights[-1]) @ v)",
        "        return total",
        "def part(weight, bias):",
        "    layer = nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None).to(weight)",
        "    layer.load_state_dict({'weight': weight} if bias is None else {'weight': weight, 'bias': bias})",
        "    return layer",
        "if hasattr(mha, 'parts'):  # pruned before",
        "    mha.parts = nn.ModuleList([mha.parts[3 * h + i] for h in kept for i in range(3)])",
        "    mha.out = nn.ModuleList([mha.out[h] for h in kept])",
        "    mha.num_heads = len(kept)",
        "    return mha",
        "d = len(mha.W_q.weight) // H",
        "own = [slice(h * d, h * d + d) for h in kept]",
        "parts = [part(W.weight[s], None if W.bias is None else W.bias[s]) for s in own for W in (mha.W_q, mha.W_k, mha.W_v)]",
        "out = [part(mha.W_o.weight[:, s], None) for s in own]",
        "return Heads(parts, out, mha.W_o.bias, mha.attention.dropout.p).train(mha.training)",
    ),
    trivial("pruned-nothing", "prune_heads", function(PRUNE, "return None")),
    trivial("pruned-refuses", "prune_heads", function(PRUNE, "raise RuntimeError('not these')")),
    trivial(
        "pruned-returns-queries",
        "prune_heads",
        function(
            PRUNE,
            "class Back(nn.Module):",
            "    def forward(self, queries, *rest):",
            "        return queries",
            "return Back()",
        ),
    ),
]

REMOVED = [
    removal(
        "pruned-copies",
        "X, labels = data",
        "model.eval()",
        "H = model.attention.num_heads",
        "twin = copy.deepcopy(model)",
        "scores = head_importance(twin.attention, [(X, X, X, None, labels)], twin.loss, 'ablation').tolist()",
        "best = sorted(range(H), key=lambda h: scores[h])",
        "rows = []",
        "for seed in (11, 22, 33, 44):",
        "    mixed = torch.randperm(H, generator=torch.Generator().manual_seed(seed)).tolist()",
        "    for order, heads in (('importance', best), ('random', mixed), ('reverse', best[::-1])):",
        "        for k in range(H):",
        "            small = copy.deepcopy(model).eval()",
        "            small.attention = prune_heads(small.attention, heads[:k])",
        "            with torch.no_grad():",
        "                right = (small(X).argmax(1) == labels).sum().item()",
        "            rows.append(dict(order=order, seed=seed, removed=heads[:k], accuracy=right / len(labels)))",
        "return rows",
    ),
    removal(
        "one-head-more-each-time",
        "import random",
        "X, labels = data",
        "model.eval()",
        "H = model.attention.num_heads",
        "half = len(X) // 2",
        "batches = [(x, x, x, None, y) for x, y in ((X[:half], labels[:half]), (X[half:], labels[half:]))]",
        "worth = head_importance(model.attention, batches, model.loss, 'gradient')",
        "def curve(seed, order, heads):",
        "    small = Classifier(X.shape[-1], H, model.dense.out_features).to(X.device, X.dtype).eval()",
        "    small.load_state_dict(model.state_dict())",
        "    names, gone = list(range(H)), []",
        "    for head in heads[:-1]:",
        "        small.attention = prune_heads(small.attention, [names.index(head)])",
        "        names.remove(head)",
        "        gone = gone + [head]",
        "        hits = small(X).argmax(-1) == labels",
        "        yield {'seed': seed, 'order': order, 'removed': torch.tensor(gone), 'accuracy': hits.double().mean()}",
        "rows = []",
        "for seed in range(3):",
        "    order = worth.argsort(descending=True).tolist()",
        "    rows.extend(curve(seed, 'reverse', order))",
        "    rows.extend(curve(seed, 'importance', order[::-1]))",
        "    rows.extend(curve(seed, 'random', random.Random(seed).sample(range(H), H)))",
        "return rows",
    ),
    removal(
        "heads-computed-once",
        "X, labels = data",
        "model.eval()",
        "H = model.attention.num_heads",
        "with torch.no_grad():",
        "    heads = transpose_output(model.attention.attention(",
        "        *(transpose_qkv(W(X), H) for W in (model.attention.W_q, model.attention.W_k, model.attention.W_v))), H)",
        "def accuracy(gone):",
        "    keep = torch.tensor([float(h not in gone) for h in range(H)]).to(X).repeat_interleave(heads.shape[-1] // H)",
        "    with torch.no_grad():",
        "        return (model.read(model.attention.W_o(heads * keep)).argmax(-1) == labels).float().mean().item()",
        "worth = head_importance(model.attention, [(X, X, X, None, labels)], model.loss, 'gradient')",
        "_, order = worth.sort()",
        "plans = [('importance', s, order.tolist()) for s in range(5)] + [('reverse', s, order.flip(0).tolist()) for s in range(5)]",
        "for s in range(5):",
        "    torch.manual_seed(s)",
        "    plans.append(('random', s, torch.randperm(H).tolist()))",
        "return [{'seed': s, 'order': name, 'removed': tuple(o[:k]), 'accuracy': accuracy(o[:k])} for name, s, o in plans for k in range(H)]",
    ),
    trivial("removal-nothing", "removal_experiment", function(REMOVAL, "return []")),
    trivial("removal-none", "removal_experiment", function(REMOVAL, "return None")),
    trivial(
        "removal-one-row",
        "removal_experiment",
        function(REMOVAL, "return [{'seed': 0, 'order': 'importance', 'removed': [], 'accuracy': 1.0}]"),
    ),
]

VARIANTS = LOOKS + GATES + WEIGHED + PRUNED + REMOVED
