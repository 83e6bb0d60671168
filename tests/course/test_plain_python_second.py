"""What the specifications in plain Python of lessons 09 to 17 compute, and what the reference computes."""

import copy
import itertools
import math

import pytest
import torch
from helpers.plain_python import OF, Table, each, lesson
from torch import nn

from grader.given import KVCache, MultiHeadAttention, RingCache, TransformerDecoder, TransformerEncoder

TABLE = Table()


def on_rows(layer):
    """Return a layer (or a matrix) as a function from a list of numbers to a list of numbers."""
    if isinstance(layer, torch.Tensor):
        return lambda row: (layer @ torch.tensor(row)).tolist()
    return lambda row: layer(torch.tensor(row)).tolist()


def by_head(linear, d):
    """Return a function for each head of a layer."""
    return [on_rows(weight) for weight in linear.weight.unflatten(0, (-1, d))]


def each_head(plain, *batches):
    """Return what the specification computes for each sequence and each head."""
    return [each(plain, heads) for heads in zip(*batches, strict=True)]


def transformer(kind, layers):
    sizes = (11, 12, 12, 12, 12, [12], 12, 16)
    return kind(*sizes, num_heads=3, num_layers=layers, dropout=0.1).eval()


def next_scores(model, *inputs):
    """Return a function from a list of tokens to the scores of the next one."""
    return lambda tokens: model(torch.tensor([tokens]), *inputs)[0, -1].tolist()


class Toy(nn.Module):
    """A model whose logits depend on all tokens so far. It takes caches, of which it needs none."""

    num_layers = 1

    def __init__(self, vocab_size=7):
        super().__init__()
        self.table = nn.Parameter(3 * torch.randn(vocab_size, vocab_size))
        self.before = None

    def forward(self, tokens, caches=None):
        sums = self.table[tokens].cumsum(1)  # (B, n, V)
        if caches and caches[0].length:
            sums = sums + self.before
        if caches:
            caches[0].append(*torch.zeros(2, len(tokens), 1, tokens.shape[1], 1))
        self.before = sums[:, -1:].detach()
        return sums


# ---- lessons 09 to 11


@TABLE.of("Seq2SeqAttentionDecoder")
def seq2seq_attention_decoder(plain, right):
    decoder = right(vocab_size=11, embed_size=4, num_hiddens=6, num_layers=3, dropout=0.1).eval()
    outputs, hidden = torch.randn(5, 3, 6), torch.randn(3, 3, 6)  # (S, B, D), (L, B, D)
    tokens, lengths = torch.randint(11, (3, 4)), torch.tensor([5, 2, 3])
    scores, state = decoder(tokens, decoder.init_state((outputs, hidden), lengths))

    def attend(query, rows):
        return decoder.attention(torch.tensor([[query]]), *[torch.tensor([rows])] * 2, None)[0, 0].tolist()

    def gru(row, states):
        output, new = decoder.rnn(torch.tensor([[row]]), torch.tensor(states)[:, None])
        return output[0, 0].tolist(), new[:, 0].tolist()

    parts = (on_rows(lambda token: decoder.embedding(token)), attend, gru, on_rows(decoder.dense))
    found = each(plain, (tokens, outputs.transpose(0, 1), hidden.transpose(0, 1), lengths), *parts)
    yield [one[0] for one in found], scores
    yield [one[1] for one in found], state[1].transpose(0, 1)


class Maps(nn.Module):
    def __init__(self, attention_weights):
        super().__init__()
        self.attention_weights = attention_weights

    def forward(self, tokens):
        return tokens


@TABLE.of("attention_maps")
def attention_maps(plain, right):
    tokens, maps = torch.zeros(2, 4), torch.rand(2, 3, 4, 5)  # (B, T), (B, H, T, S)
    entries = {
        "together": maps.flatten(0, 1),
        "apart": maps,
        "per head": list(maps.unbind(1)),
    }
    found = right(Maps(list(entries.values())), tokens)["encoder"]
    for (layout, entry), one in zip(entries.items(), found, strict=True):
        entry = [head.tolist() for head in entry] if layout == "per head" else entry.tolist()
        yield plain(entry, layout, 2), one


def attention_and_inputs():
    mha = MultiHeadAttention(6, 5, 7, 12, num_heads=3, dropout=0.1).eval()
    return mha, (torch.randn(2, 4, 5), torch.randn(2, 3, 6), torch.randn(2, 3, 7), torch.tensor([2, 3]))


@TABLE.of("gated_attention")
def gated_attention(plain, right):
    mha, inputs = attention_and_inputs()
    heads, gates = [], torch.tensor([1.0, 0.0, -0.3])
    mha.W_o.register_forward_pre_hook(lambda _module, given: heads.append(given[0].unflatten(-1, (3, -1))))
    mha(*inputs)
    yield (
        each(plain, (heads[0].transpose(1, 2),), gates.tolist(), on_rows(mha.W_o)),
        right(mha, gates, *inputs),
    )


@TABLE.of("head_importance")
def head_importance(plain, right):
    mha, inputs = attention_and_inputs()
    target, gated = torch.randn(2, 4, 12), lesson("10_pruning")["gated_attention"]

    def losses(output, target):
        return (output - target).square().mean((1, 2))

    def at(gates):
        return losses(gated(mha, gates, *inputs), target)  # (B,)

    whole, closed = at(torch.ones(3)), [at(1.0 - torch.eye(3)[head]) for head in range(3)]
    slopes = torch.autograd.functional.jacobian(at, torch.ones(3)).T  # (H, B)
    weights = mha.attention.attention_weights.unflatten(0, (2, 3)).transpose(0, 1)  # (H, B, T, S)
    seen = {
        "ablation": [list(zip(whole.tolist(), one.tolist(), strict=True)) for one in closed],
        "gradient": slopes.tolist(),
        "confidence": weights.flatten(1, 2).tolist(),
    }
    for method, heads in seen.items():
        batches = [tuple(part[[i]] for part in (*inputs, target)) for i in range(2)]
        yield [plain(method, head) for head in heads], right(mha, batches, losses, method)


@TABLE.of("prune_heads")
def prune_heads(plain, right):
    mha, _ = attention_and_inputs()
    smaller = right(copy.deepcopy(mha), [2, 0])
    for layer in ("W_q", "W_k", "W_v"):
        rows, columns = plain(getattr(mha, layer).weight.tolist(), mha.W_o.weight.tolist(), 3, [2, 0])
        yield rows, getattr(smaller, layer).weight
        yield columns, smaller.W_o.weight
    with pytest.raises(ValueError, match="head"):
        plain(mha.W_q.weight.tolist(), mha.W_o.weight.tolist(), 3, [0, 1, 2, 1])


@TABLE.of("removal_experiment")
def removal_experiment(plain, right):
    names = lesson("10_pruning")
    model = names["Classifier"](12, 4, 3).eval()
    X, labels = data = torch.randn(50, 3, 12), torch.randint(3, (50,))
    importance = names["head_importance"](model.attention, [(X, X, X, None, labels)], model.loss, "ablation")

    def accuracy(removed):
        gates = torch.tensor([float(head not in removed) for head in range(4)])
        output = names["gated_attention"](model.attention, gates, X, X, X, None)
        return (model.read(output).argmax(-1) == labels).float().mean().item()

    rows = right(model, data)
    for order in ("importance", "reverse"):
        found = [
            (row["removed"], row["accuracy"]) for row in rows if (row["order"], row["seed"]) == (order, 0)
        ]
        yield plain(importance.tolist(), order, accuracy), found


def decoder_of(model, src, src_valid_len):
    """Return a function that makes a new state, and gives the scores of the next word for all words so far."""

    def scores(words):
        state = model.decoder.init_state(model.encoder(src, src_valid_len), src_valid_len)
        for word in words:
            step, state = model.decoder(torch.tensor([[word]]), state)
        return step[0, -1].tolist()

    return scores


@TABLE.of("greedy_decode")
def greedy_decode(plain, right):
    names = lesson("11_capstone")
    model = names["EncoderDecoder"](
        transformer(TransformerEncoder, 1), transformer(TransformerDecoder, 2)
    ).eval()
    nn.init.normal_(model.decoder.embedding.weight, std=3)  # so that it writes many different words
    src, lengths = torch.randint(3, 11, (6, 5)), torch.tensor([5, 4, 3, 2, 1, 5])
    written = right(model, src, lengths, 6, 1, 2)
    for eos in {word for row in written for word in row[1:]}:  # so some sentences end early
        rows = [decoder_of(model, *(x[[i]] for x in (src, lengths))) for i in range(6)]
        yield [plain(row, 6, 1, eos) for row in rows], right(model, src, lengths, 6, 1, eos)


def losses_of(training, model, *given):
    """Return the losses from which a training computes its gradients."""
    kept, backward = [], torch.Tensor.backward
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(torch.Tensor, "backward", lambda loss: (kept.append(loss.detach()), backward(loss)))
        training(model, *given)
    return torch.stack(kept)


@TABLE.of("train")
def train(plain, right):
    class Reads(Toy):
        def forward(self, src, tgt, src_valid_len):
            return super().forward(tgt), None

    model = Reads()
    tgt, lengths = torch.randint(3, 7, (3, 6)), torch.tensor([6, 3, 4])
    before = Toy()
    before.load_state_dict(model.state_dict())
    rows = each(lambda row, valid_len: plain(next_scores(before), row, valid_len), (tgt, lengths))
    losses = [loss for row in rows for loss in row]
    assert len(losses) == 5 + 2 + 3
    batch = (torch.zeros(3, 2), torch.ones(3), tgt, lengths)
    yield [sum(losses) / len(losses)], losses_of(right, model, [batch], 1)


# ---- lesson 12


@TABLE.of("rotary_angles")
def rotary_angles(plain, right):
    positions = torch.tensor([[0, 7, 3], [1000, 2, 5]])
    rows = [[plain(p, 6, 100.0) for p in row] for row in positions.tolist()]
    yield rows, right(positions, 6, 100.0).double()  # float32


@TABLE.of("apply_rotary")
def apply_rotary(plain, right):
    x, positions = torch.randn(2, 3, 5, 4), torch.tensor([[0, 1, 2, 3, 4], [9, 2, 0, 7, 7]])
    rows = [each(plain, (heads,), row.tolist()) for heads, row in zip(x, positions, strict=True)]
    yield rows, right(x, positions)


@TABLE.of("RotaryAttention")
def rotary_attention(plain, right):
    module, x, positions = right(12, 3), torch.randn(2, 5, 12), torch.tensor([4, 0, 9, 1, 2])
    heads = list(zip(*(by_head(layer, 4) for layer in (module.W_q, module.W_k, module.W_v)), strict=True))
    yield each(plain, (x,), positions.tolist(), heads, on_rows(module.W_o)), module(x, positions)


@TABLE.of("interleaved_to_half")
def interleaved_to_half(plain, right):
    weight = torch.randn(12, 5)
    yield plain(weight.tolist(), 2), right(weight, 2)


@TABLE.of("MixedRotary")
def mixed_rotary(plain, right):
    x, positions = torch.randn(2, 3, 5, 4), torch.tensor([3, 0, 9, 1, 1])
    yield [each(plain, (heads,), positions.tolist(), 100.0) for heads in x], right(4, 100.0)(x, positions)


# ---- lesson 13


@TABLE.of("KVCache")
def kv_cache(plain, right):
    cache, x = right(7), torch.randn(2, 7, 3)  # (keys and values, T, d)
    calls, found = [], []
    for start, stop, length in ((0, 2, 0), (0, 4, 3), (4, 5, 1), (1, 7, 7)):
        calls += [("append", *x[:, start:stop].tolist()), ("crop", length)]
        found.append(torch.cat(cache.append(*x[:, None, None, start:stop]))[:, 0])
        cache.crop(length)
    yield from zip(plain(calls, 7), found, strict=True)
    for call in (("append", *x[:, :1].tolist()), ("crop", 8), ("crop", -1)):
        with pytest.raises(ValueError, match=r"full|length"):
            plain([*calls, call], 7)


@TABLE.of("cached_attention")
def cached_attention(plain, right):
    q, k, v = torch.randn(3, 2, 3, 7, 4)
    cache = KVCache(7)
    right(q[:, :, :5], k[:, :, :5], v[:, :, :5], cache)
    new = right(q[:, :, 5:], k[:, :, 5:], v[:, :, 5:], cache)
    yield each_head(plain, *(x[:, :, 5:] for x in (q, k, v)), k[:, :, :5], v[:, :, :5]), new


@TABLE.of("CachedSelfAttention")
def cached_self_attention(plain, right):
    module, x, cache = right(12, 3), torch.randn(2, 7, 12), KVCache(7)
    heads = list(zip(*(by_head(layer, 4) for layer in (module.W_q, module.W_k, module.W_v)), strict=True))
    for start, stop in ((0, 3), (3, 5), (5, 6)):
        rows = each(plain, (x[:, start:stop], x[:, :start]), heads, on_rows(module.W_o))
        yield rows, module(x[:, start:stop], cache)


@TABLE.of("generate")
def generate(plain, right):
    model, prompt = Toy(), torch.randint(7, (4, 3))
    for chunk_size in (None, 2):
        yield (
            each(lambda row: plain(next_scores(model), row, 5), (prompt,)),
            right(model, prompt, 5, chunk_size),
        )


# ---- lesson 14


@TABLE.of("repeat_kv")
def repeat_kv(plain, right):
    x = torch.randn(2, 3, 5, 4)
    yield each(plain, (x,), 2), right(x, 2)


@TABLE.of("window_mask")
def window_mask(plain, right):
    q, k = torch.tensor([7, 3, 0]), torch.tensor([5, -1, 0, 7, 1, 4])
    for given in ((), (3,), (3, 2), (None, 2)):
        rows = [[plain(one, other, *given) for other in k.tolist()] for one in q.tolist()]
        yield rows, right(q, k, *given)


@TABLE.of("RingCache")
def ring_cache(plain, right):
    cache, x, found = right(3, 2), torch.randn(11, 4), []
    pieces = x.split([4, 1, 1, 1, 4])
    for piece in pieces:
        keys, _values, positions = cache.append(piece[None, None], piece[None, None])
        found.append((positions.tolist(), keys[0, 0]))
    for seen, (positions, keys) in zip(plain([p.tolist() for p in pieces], 3, 2), found, strict=True):
        yield [position for position, _key in seen], positions
        yield [key for _position, key in seen], keys


@TABLE.of("GroupedQueryAttention")
def grouped_query_attention(plain, right):
    module, x, ring = right(12, 6, 3, window=3, sinks=1), torch.randn(2, 7, 12), RingCache(3, 1)
    layers = [by_head(layer, 2) for layer in (module.W_q, module.W_k, module.W_v)]
    rows = each(plain, (x,), *layers, on_rows(module.W_o), 3, 1)
    yield rows, module(x)
    yield rows, torch.cat([module(piece, ring) for piece in x.split(2, dim=1)], dim=1)


# ---- lesson 15


@TABLE.of("merge_state")
def merge_state(plain, right):
    out_a, out_b = torch.randn(2, 4, 3)
    lse_a, lse_b = (
        torch.tensor([900.0, -math.inf, 2.0, -math.inf]),
        torch.tensor([901.0, 3.0, -4.0, -math.inf]),
    )
    out_a, out_b = out_a.masked_fill(lse_a[:, None] < -1e9, 0), out_b.masked_fill(lse_b[:, None] < -1e9, 0)
    found = each(plain, (out_a, lse_a, out_b, lse_b))
    yield from zip(zip(*found, strict=True), right(out_a, lse_a, out_b, lse_b), strict=True)


ATTENDED = ((5, 7, False, None), (5, 7, True, None), (5, 7, True, 3), (7, 5, True, 2))  # T, S, causal, window


def tiled_inputs(T, S):
    return torch.randn(2, 3, T, 4), torch.randn(2, 3, S, 4), torch.randn(2, 3, S, 6)


@TABLE.of("tiled_attention")
def tiled_attention(plain, right):
    for T, S, *masks in ATTENDED:
        inputs = tiled_inputs(T, S)
        found = each_head(lambda *rows: plain(*rows, *masks), *inputs)  # noqa: B023
        output, lse = right(*inputs, 3, *masks)
        yield [[head[0] for head in heads] for heads in found], output
        yield [[head[1] for head in heads] for heads in found], lse


@TABLE.of("tiled_attention_backward")
def tiled_attention_backward(plain, right):
    forward = lesson("15_tiles")["tiled_attention"]
    for T, S, *masks in ATTENDED[::2]:
        inputs = [x[:1, :1] for x in tiled_inputs(T, S)]
        grad = torch.randn(1, 1, T, 6)
        gradients = right(grad, *inputs, *forward(*inputs, 3, *masks), 3, *masks)
        for rows, wanted in zip(
            plain(*(x[0, 0].tolist() for x in (grad, *inputs)), *masks), gradients, strict=True
        ):
            # Differences of numbers that are rounded: eight digits.
            yield [[round(number, 7) for number in row] for row in rows], wanted[0, 0].round(decimals=7)


# ---- lesson 16


@TABLE.of("top_k_top_p_filtering")
def top_k_top_p_filtering(plain, right):
    logits = 2 * torch.randn(20, 7)
    for given in ((0, 1.0), (3, 1.0), (0, 0.7), (4, 0.8), (9, 0.0)):
        yield each(plain, (logits,), *given), right(logits, *given)
    halves = torch.tensor([[1.0, 4.0, 2.0, 1.0]]).log()  # the best token has a mass of exactly 0.5
    yield each(plain, (halves,), 0, 0.5), right(halves, 0, 0.5)


@TABLE.of("sample_token")
def sample_token(plain, right):
    probs = torch.tensor([[0.0, 0.2, 0.0, 0.5, 0.3, 0.0]])
    for u in (0.0, 0.1, 0.2, 0.6, 0.9, 1 - 1e-12):
        yield each(plain, (probs,), u), right(probs, torch.tensor([u]))
    yield plain([0.3, 0.6, 0.0], 0.95), right(torch.tensor([0.3, 0.6, 0.0]), 0.95)


@TABLE.of("verify_draft")
def verify_draft(plain, right):
    for _ in range(30):
        p, q = torch.randn(4, 5).softmax(-1), torch.randn(3, 5).softmax(-1)
        given = (p, q, torch.randint(5, (3,)), torch.rand(3), torch.rand(()))
        yield plain(*(x.tolist() for x in given)), right(*given)
    given = [torch.tensor(x) for x in ([[0.25, 0.75]] * 2, [[0.5, 0.5]], [0], [0.5], 0.1)]  # u is exactly p/q
    yield plain(*(x.tolist() for x in given)), right(*given)


@TABLE.of("speculative_generate")
def speculative_generate(plain, right):
    logits, draws = 2 * torch.randn(5, 5), torch.rand(200).tolist()
    p, q = logits.softmax(-1), (logits + torch.randn(5, 5) / 2).softmax(-1)

    def of(table):
        return lambda tokens: table[tokens[-1]].tolist()

    for num_draft in (1, 3):
        found = plain(of(p), of(q), [2, 1], 17, num_draft, iter(draws).__next__)
        yield (
            found,
            right(p.__getitem__, q.__getitem__, torch.tensor([2, 1]), 17, num_draft, iter(draws).__next__),
        )


# ---- lesson 17


@TABLE.of("RMSNorm")
def rms_norm(plain, right):
    norm, x = right(6, eps=0.1), torch.randn(2, 3, 6)
    nn.init.normal_(norm.weight)
    yield [each(plain, (rows,), norm.weight.tolist(), 0.1) for rows in x], norm(x)


@TABLE.of("SwiGLU")
def swiglu(plain, right):
    module, x = right(6, 10), 3 * torch.randn(2, 3, 6)
    layers = [on_rows(layer) for layer in (module.W_gate, module.W_up, module.W_down)]
    yield [each(plain, (rows,), *layers) for rows in x], module(x)


@TABLE.of("LanguageModelBlock")
def language_model_block(plain, right):
    block, x, cache = right(24, 6, 2), torch.randn(2, 5, 24), KVCache(5)
    heads = [by_head(block.attention[name], 4) for name in ("W_q", "W_k", "W_v")]
    rest = [on_rows(part) for part in (block.attention["W_o"], block.norm2, block.ffn)]
    rows = each(plain, (x,), on_rows(block.norm1), *heads, *rest)
    yield rows, block(x)
    yield rows, torch.cat([block(piece, cache) for piece in x.split(2, dim=1)], dim=1)


@TABLE.of("LanguageModel")
def language_model(plain, right):
    model, tokens = right(11, 12, 3, 1, num_layers=2, max_len=9), torch.randint(11, (2, 5))
    nn.init.normal_(model.embedding.weight)
    blocks = [lambda rows, block=block: block(torch.tensor([rows]))[0].tolist() for block in model.blocks]
    yield each(plain, (tokens,), model.embedding.weight.tolist(), blocks, on_rows(model.norm)), model(tokens)


@TABLE.of("train_language_model")
def train_language_model(plain, right):
    model, rows = Toy(), torch.randint(7, (3, 6))
    before = copy.deepcopy(model)
    losses = each(lambda row: plain(next_scores(before), row), (rows,))
    yield [sum(losses) / len(losses)], losses_of(right, model, itertools.repeat(rows), 1)


@TABLE.of("write_text")
def write_text(plain, right):
    model, prompt, draws = Toy(), torch.randint(7, (2, 3)), torch.rand(5, 2)  # a draw for each step and row
    for given in ((1.0,), (0,), (3.0, 3), (3.0, 0, 0.6)):
        rows = [
            plain(next_scores(model), row, 5, iter(own).__next__, *given)
            for row, own in zip(prompt.tolist(), draws.T.tolist(), strict=True)
        ]
        yield rows, right(model, prompt, 5, iter(draws.flatten().tolist()).__next__, *given)


# ---- the tests


def test_all_exercises_from_lesson_09_on_are_in_the_table():
    assert list(TABLE) == [name for name, assignment in OF.items() if assignment.name >= "09"]


@pytest.mark.parametrize("name", TABLE)
def test_a_specification_computes_what_the_reference_computes(name):
    TABLE.check(name)
