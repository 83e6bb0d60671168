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
    plain_name,
    run_example,
)

TABLE = Table()


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
    X, lengths = torch.randn(2, 5, 3), [2, 4]
    rows = [plain(row, length, 7.0) for row, length in zip(X.tolist(), lengths, strict=True)]
    yield rows, right(X, torch.tensor(lengths), 7.0)


@TABLE.of("masked_softmax")
def masked_softmax(plain, right):
    X, lengths = 800 * torch.randn(2, 3, 5), [[1, 4, 5], [3, 2, 1]]
    rows = [
        [plain(*row) for row in zip(*pair, strict=True)] for pair in zip(X.tolist(), lengths, strict=True)
    ]
    yield rows, right(X, torch.tensor(lengths))
    yield [[plain(row, None) for row in rows] for rows in X.tolist()], right(X, None)


@pytest.mark.parametrize("name", TABLE)
def test_a_specification_computes_what_the_reference_computes(name):
    TABLE.check(name)
