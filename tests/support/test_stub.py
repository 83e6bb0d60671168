"""A stub is the reference without its solutions: other lines replace those between the markers."""

import ast
from textwrap import dedent

import pytest

from grader.support.code import stub
from grader.support.errors import UsageError

SOURCE = dedent(
    '''
    # %% [markdown]
    # Text with `### BEGIN SOLUTION` in the middle of a line.


    def masked_softmax(X, valid_lens):
        """Says what is asked for."""
        ### BEGIN SOLUTION
        secret = X + 1
        return secret
        ### END SOLUTION


    class Head:
        def __init__(self, size):
            self.size = size
            ### BEGIN SOLUTION
            self.secret = 1
            ### END SOLUTION

        def forward(self, X):
            def inner():
                ### BEGIN SOLUTION
                return self.secret
                ### END SOLUTION
            return inner()


    ### BEGIN SOLUTION
    class Repaired:
        secret = 2
    ### END SOLUTION
    print("end")
    '''
)


def test_only_the_lines_of_solutions_are_replaced():
    left, inside = stub(SOURCE), False
    assert "secret" not in left
    assert "\n# Your version goes here.\nprint" in left  # at the top level
    for line in SOURCE.splitlines():
        if line.strip() in ("### BEGIN SOLUTION", "### END SOLUTION"):
            inside = not inside
        else:
            assert inside or line in left.splitlines()


def test_a_stub_parses_and_says_which_function_is_not_written_yet():
    text = stub(SOURCE)
    ast.parse(text)
    assert 'raise NotImplementedError("masked_softmax is not written yet")' in text
    assert 'raise NotImplementedError("Head is not written yet")' in text  # in its constructor
    assert 'raise NotImplementedError("Head.forward.inner is not written yet")' in text


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (
            "### BEGIN SOLUTION\n### BEGIN SOLUTION\n### END SOLUTION\n",
            "line 2: a solution begins inside another",
        ),
        ("x = 1\n### END SOLUTION\n", "line 2: END SOLUTION without BEGIN SOLUTION"),
        ("### BEGIN SOLUTION\nx = 1\n", "the last solution does not end"),
    ],
)
def test_markers_that_do_not_match_are_refused(source, sentence):
    with pytest.raises(UsageError, match=sentence):
        stub(source)
