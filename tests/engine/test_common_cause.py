"""The report shows a common cause once, and not each of its effects."""

from __future__ import annotations

from pathlib import Path

from grader.intake.read import Submission, Unit

HEAD = "import math\nimport torch\nfrom torch import nn\nfrom grader.given import masked_softmax\n"
ADDITIVE = """
class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, {outputs}, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        {first}
        features = torch.tanh(self.W_q(queries).unsqueeze(2) + self.W_k(keys).unsqueeze(1))
        scores = self.w_v(features).mean(-1)
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)
"""
POSITIONS = """
class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        assert num_hiddens % 2 == 0
        self.table = no_such_name
"""


def failed(result):
    return [check for check in result.checks if check.outcome == "failed"]


def test_the_same_exception_of_every_call_is_one_failed_check(grade_one):
    result = grade_one(HEAD + ADDITIVE.format(outputs=1, first="no_such_name"), "AdditiveAttention")
    (check,) = failed(result)
    assert result.message == "every call raises the same exception: fix it first"
    assert "no_such_name" in check.message
    assert check.where.startswith("answer.py, line")
    assert {c.message for c in result.checks if c.outcome == "skipped" and c.counts} <= {
        "skipped: earlier checks failed",
        "skipped: the same exception",
    }


def test_an_exception_in_a_constructor_is_no_mismatch_of_weights(grade_one):
    """The exception depends on the dropout, so there is no common exception either."""
    source = POSITIONS.replace("no_such_name", "no_such_name if dropout else no_other_name")
    result = grade_one(HEAD + source, "PositionalEncoding")
    assert result.message == ""
    assert "no_other_name" in failed(result)[0].message


def test_an_exception_of_a_policy_does_not_hide_the_common_exception(grade_one):
    result = grade_one(HEAD + POSITIONS, "PositionalEncoding")
    assert result.message == "every call raises the same exception: fix it first"


def test_different_exceptions_are_all_shown(grade_one):
    first = "assert valid_lens is None, valid_lens.shape"
    result = grade_one(HEAD + ADDITIVE.format(outputs=1, first=first), "AdditiveAttention")
    assert result.message == ""
    assert len(failed(result)) > 1


def test_unmatched_weights_come_first_and_values_are_not_judged(grade_one):
    result = grade_one(HEAD + ADDITIVE.format(outputs=5, first="pass"), "AdditiveAttention")
    check = failed(result)[0]
    assert result.checks[0] == check
    assert "w_v" in check.message
    assert "w_v" in check.expected
    assert result.message.startswith("the weights of the cases could not be loaded")
    assert not [c for c in failed(result) if c.facet in ("values", "gradients", "masking")]
    assert any(c.message == "skipped: the weights of the case could not be loaded" for c in result.checks)


def test_hidden_cases_have_the_same_message_and_no_expected_values(engine):
    hidden = engine.with_options(hidden=True)
    for outputs, first, says in (
        (5, "pass", "the weights of the cases could not be loaded"),
        (1, "no_such_name", "every call raises the same exception: fix it first"),
    ):
        source = HEAD + ADDITIVE.format(outputs=outputs, first=first)
        report = hidden.grade(
            Submission(Path("answer.py"), (Unit("answer.py", source),)), ["AdditiveAttention"]
        )
        (result,) = report.exercises
        assert result.message.startswith(says)
        assert {check.expected for check in result.checks} == {None}
