"""Below the heading of each exercise stand a specification in plain Python, which is true, and an example that runs."""

import ast

import pytest
import torch
from helpers.lanes import first_of_each
from helpers.plain_python import (
    EXAMPLE,
    OF,
    PLAIN,
    Table,
    as_answer,
    below_heading,
    block,
    defined,
    each,
    given_class,
    on_lists,
    plain_name,
    reference,
    run_example,
    specification,
    weights_of,
)

TABLE = Table()
LENGTHS = torch.tensor([[1, 4, 5], [3, 2, 1]])  # (B=2, T=3)
SIZES = {"key_size": 4, "query_size": 6, "value_size": 7, "num_hiddens": 8, "num_heads": 2, "dropout": 0.1}


@pytest.mark.parametrize("name", OF)
def test_an_exercise_has_a_specification_in_plain_python(name):
    assert below_heading(name).count(PLAIN) == 1
    tree = ast.parse(block(name, PLAIN))
    assert defined(name) - {"math"} == {plain_name(name)}
    imported = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    assert [ast.unparse(node) for node in imported] in ([], ["import math"])
    assert len(block(name, PLAIN).splitlines()) <= 20


@pytest.mark.parametrize("name", OF)
def test_the_example_in_pytorch_runs_and_its_comments_are_true(name):
    assert below_heading(name).count(EXAMPLE) == 1
    assert len(block(name, EXAMPLE).splitlines()) <= 6
    assert run_example(name) >= 1


@pytest.mark.parametrize("name", first_of_each(OF))
def test_a_specification_is_no_answer(grade_one, name):
    assert block(name, PLAIN)
    assert grade_one(as_answer(name), name).outcome == "failed"


def test_the_first_eight_lessons_are_in_the_table():
    assert list(TABLE) == [name for name, assignment in OF.items() if assignment.name < "09"]


# ---- against the reference: what the specification computes, and what the reference computes


@TABLE.of("kernel_attention_weights")
def kernel_attention_weights(plain, right):
    near, keys = torch.randn(3), torch.randn(5)
    for queries in (near, near + 1000):
        yield plain(queries.tolist(), keys.tolist(), 0.7), right(queries, keys, 0.7)


@TABLE.of("kernel_regression")
def kernel_regression(plain, right):
    queries, keys, values = torch.randn(3), torch.randn(5), torch.randn(5)
    yield plain(queries.tolist(), keys.tolist(), values.tolist(), 0.7), right(queries, keys, values, 0.7)


@TABLE.of("sequence_mask")
def sequence_mask(plain, right):
    X, lengths = torch.randn(2, 5, 3), torch.tensor([2, 4])
    yield each(plain, (X, lengths), 7.0), right(X, lengths, 7.0)


@TABLE.of("masked_softmax")
def masked_softmax(plain, right):
    X = 800 * torch.randn(2, 3, 5)
    yield [each(plain, pair) for pair in zip(X, LENGTHS, strict=True)], right(X, LENGTHS)
    yield [each(plain, (queries,), None) for queries in X], right(X, None)


@TABLE.of("AdditiveAttention")
def additive_attention(plain, right):
    attention = right(key_size=4, query_size=2, num_hiddens=6, dropout=0.1).eval()
    weights = (attention.W_q.weight.tolist(), attention.W_k.weight.tolist(), attention.w_v.weight[0].tolist())
    queries, keys, values = torch.randn(2, 3, 2), torch.randn(2, 5, 4), torch.randn(2, 5, 7)
    yield each(plain, (queries, keys, values, LENGTHS), *weights), attention(queries, keys, values, LENGTHS)


@TABLE.of("DotProductAttention")
def dot_product_attention(plain, right):
    queries, keys, values = torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.randn(2, 5, 7)
    attention = right(dropout=0.1).eval()
    yield each(plain, (queries, keys, values, LENGTHS)), attention(queries, keys, values, LENGTHS)


@TABLE.of("transpose_qkv")
def transpose_qkv(plain, right):
    X = torch.randn(2, 5, 12)
    yield plain(X.tolist(), 3), right(X, 3)


@TABLE.of("transpose_output")
def transpose_output(plain, right):
    X = torch.randn(6, 5, 4)
    yield plain(X.tolist(), 3), right(X, 3)


@TABLE.of("MultiHeadAttention")
def multi_head_attention(plain, right):
    attention = right(**SIZES).eval()
    queries, keys, values = torch.randn(2, 3, 6), torch.randn(2, 5, 4), torch.randn(2, 5, 7)
    yield (
        each(plain, (queries, keys, values, LENGTHS), *weights_of(attention), 2),
        attention(queries, keys, values, LENGTHS),
    )


@TABLE.of("MixedUpAttention")
def mixed_up_attention(plain, right):
    yield from multi_head_attention(plain, right)
    attention = right(**SIZES).eval()
    queries, keys, values = torch.randn(2, 3, 6), torch.randn(2, 5, 4), torch.randn(2, 5, 7)
    unmasked = each(plain, (queries, keys, values), None, *weights_of(attention), 2)
    yield unmasked, attention(queries, keys, values, None)


@TABLE.of("catches_mixed_up")
def catches_mixed_up(plain, right):
    class WithoutMask(reference("MixedUpAttention")):
        def forward(self, queries, keys, values, valid_lens):
            return super().forward(queries, keys, values, None)

    inputs = [[torch.randn(size).tolist() for size in ((3, 6), (5, 4), (5, 7))] + [[1, 4, 5]]]
    for kind in (reference("MixedUpAttention"), WithoutMask, given_class("MixedUpAttention")):
        module = kind(**SIZES).eval()
        yield plain(on_lists(module), inputs, (*weights_of(module), 2)), right(module)


@TABLE.of("TangledSelfAttention")
def tangled_self_attention(plain, right):
    attention, x = right(d_model=12, n_head=3), torch.randn(2, 5, 12)
    yield each(plain, (x,), *weights_of(attention), 3), attention(x)


@TABLE.of("catches_tangled")
def catches_tangled(plain, right):
    for kind in (reference("TangledSelfAttention"), given_class("TangledSelfAttention")):
        module = kind(d_model=12, n_head=3)
        for steps in (4, 7):
            x = [torch.randn(steps, 12).tolist()]
            yield plain(on_lists(module), x, (*weights_of(module), 3)), right(module)


def features_of_heads(module, x):
    """Return q, k and v of each head, (H, T, d), as nested lists."""
    layers = (module.W_Q, module.W_K, module.W_V)
    return zip(*(layer(x).unflatten(-1, (3, 4)).transpose(0, 1).tolist() for layer in layers), strict=True)


@TABLE.of("TransparentSelfAttention")
def transparent_self_attention(plain, right):
    module, x = right(embed_dim=12, num_heads=3).eval(), torch.randn(5, 12)
    results, weights = zip(*(plain(*head) for head in features_of_heads(module, x)), strict=True)
    output, attention = module(x[None])
    yield module.fc_out(torch.tensor(results).transpose(0, 1).flatten(1)).tolist(), output[0]
    yield weights, attention[0]


@TABLE.of("catches_transparent")
def catches_transparent(plain, right):
    class DropsReturned(reference("TransparentSelfAttention")):
        def forward(self, x):
            output, attention = super().forward(x)
            return output, self.dropout(attention)

    x = torch.randn(5, 12)
    for kind in (
        reference("TransparentSelfAttention"),
        DropsReturned,
        given_class("TransparentSelfAttention"),
    ):
        module = kind(embed_dim=12, num_heads=3)
        torch.nn.init.eye_(module.fc_out.weight)
        torch.nn.init.zeros_(module.fc_out.bias)
        found = []
        for training in (True, False):
            output, attention = module.train(training)(x[None])
            results = output[0].unflatten(-1, (3, 4)).transpose(0, 1).tolist()
            heads = zip(results, attention[0].tolist(), features_of_heads(module, x), strict=True)
            found += [plain(result, weights, *head, training) for result, weights, head in heads]
        yield any(found), right(module)


@TABLE.of("PositionalEncoding")
def positional_encoding(plain, right):
    for D in (4, 7):
        X = torch.randn(2, 5, D)
        yield each(plain, (X,)), right(D, dropout=0.1).eval()(X)


@TABLE.of("TokenEmbedding")
def token_embedding(plain, right):
    embedding, tokens = right(6, 3), torch.tensor([4, 1, 4, 2, 1])
    vectors, trained = plain(tokens.tolist(), embedding.weight.tolist())
    yield vectors, embedding(tokens)
    embedding(tokens).sum().backward()
    yield trained, set(embedding.weight.grad.sum(dim=1).nonzero().flatten().tolist())


@TABLE.of("shift_matrix")
def shift_matrix(plain, right):
    for delta in (-3, 0, 5):
        M = right(delta, 6)
        yield plain(M.tolist(), delta), True
        yield plain(M.T.tolist(), delta), delta == 0


@TABLE.of("AddNorm")
def add_norm(plain, right):
    layer, X, Y = at_random(right(6, dropout=0.1)), torch.randn(5, 6), torch.randn(5, 6)
    yield each(plain, (X, Y), layer.ln.weight.tolist(), layer.ln.bias.tolist()), layer(X, Y)


@TABLE.of("PositionWiseFFN")
def position_wise_ffn(plain, right):
    network, X = at_random(right(3, 8, 4)), torch.randn(5, 3)
    yield each(plain, (X,), *(parameter.tolist() for parameter in network.parameters())), network(X)


def at_random(module):
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter)
    return module.eval()


def of_part(part):
    """Return the specification of a part of a block as a function of lists, with the weights of the part."""
    weights = [parameter.tolist() for parameter in part.parameters()]
    name = type(part).__name__
    shared = (*weights, part.num_heads) if name == "MultiHeadAttention" else weights
    return lambda *lists: specification(name)(*lists, *shared)


BLOCK = {"key_size": 6, "query_size": 6, "value_size": 6, "num_hiddens": 6, "norm_shape": 6}
BLOCK |= {"ffn_num_input": 6, "ffn_num_hiddens": 8, "num_heads": 2, "dropout": 0.0}


def encoder_block(plain, block):
    parts = [of_part(part) for part in (block.attention, block.addnorm1, block.ffn, block.addnorm2)]
    return lambda X, lengths: plain(X, lengths, *parts)


@TABLE.of("EncoderBlock")
def encoder_blocks(plain, right):
    block, X = at_random(right(**BLOCK)), torch.randn(2, 3, 6)
    yield each(encoder_block(plain, block), (X, LENGTHS)), block(X, LENGTHS)


@TABLE.of("TransformerEncoder")
def transformer_encoder(plain, right):
    encoder, tokens = (
        at_random(right(vocab_size=9, num_layers=2, **BLOCK)),
        torch.tensor([[3, 7, 4], [8, 0, 3]]),
    )
    blocks = [encoder_block(specification("EncoderBlock"), block) for block in encoder.blks]
    table = encoder.embedding.weight.tolist()
    yield each(plain, (tokens, LENGTHS), table, blocks), encoder(tokens, LENGTHS)


def decoder_block(plain, block):
    parts = (block.attention1, block.addnorm1, block.attention2, block.addnorm2, block.ffn, block.addnorm3)
    functions = [of_part(part) for part in parts]
    return lambda X, E, length: plain(X, E, length, *functions)


def both_ways(decoder, X, new_state):
    """Yield what the reference computes for all steps at once, and for one after the other with the cache."""
    yield decoder.train()(X, new_state())[0]
    decoder.eval()
    state, steps = new_state(), []
    for step in X.split(1, dim=1):
        Y, state = decoder(step, state)
        steps.append(Y)
    yield torch.cat(steps, dim=1)


@TABLE.of("DecoderBlock")
def decoder_blocks(plain, right):
    block, lengths = at_random(right(**BLOCK, i=0)), torch.tensor([2, 5])
    X, E = torch.randn(2, 3, 6), torch.randn(2, 5, 6)
    found = each(decoder_block(plain, block), (X, E, lengths))
    for Y in both_ways(block, X, lambda: [E, lengths, [None]]):
        yield found, Y


@TABLE.of("TransformerDecoder")
def transformer_decoder(plain, right):
    decoder, E = at_random(right(vocab_size=9, num_layers=2, **BLOCK)), torch.randn(5, 6)
    tokens = torch.tensor([3, 7, 4, 3])
    whole = [decoder_block(specification("DecoderBlock"), block) for block in decoder.blks]
    blocks = [lambda X, block=block: block(X, E.tolist(), 4) for block in whole]
    shared = (decoder.embedding.weight, decoder.dense.weight, decoder.dense.bias)
    table, weight, bias = (part.tolist() for part in shared)
    found = [plain(tokens.tolist(), table, blocks, weight, bias)]
    for Y in both_ways(decoder, tokens[None], lambda: decoder.init_state(E[None], torch.tensor([4]))):
        yield found, Y


@pytest.mark.parametrize("name", TABLE)
def test_a_specification_computes_what_the_reference_computes(name):
    TABLE.check(name)
