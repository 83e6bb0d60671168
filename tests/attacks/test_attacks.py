"""Every attack in every tier: it never passes, leaves no trace, and does not affect the next submission.

No attack makes an exercise *could not be graded* either. Such an exercise does not count in the sum, so a student
could remove exercises that they cannot do. The grader believes a worker that reports an internal error only if a
worker without the submission reports one too.
"""

from __future__ import annotations

import io
import json
import time
from xml.etree import ElementTree

import pytest
from attacks.conftest import LITTLE, processes, settled
from attacks.suite import Attack
from attacks.table import ATTACKS, FAMILIES
from helpers.lanes import first_of_each
from rich.console import Console

from grader.intake.read import Blocked
from grader.report.formats import FORMATS
from grader.report.terminal import show

FAMILY_OF = {attack.id: family for family, attacks in FAMILIES.items() for attack in attacks}


def test_the_suite_has_at_least_90_attacks_of_6_families():
    assert len(ATTACKS) >= 90
    assert len(FAMILIES) == 6
    assert all(attack.tries and attack.success for attack in ATTACKS.values())


@pytest.mark.parametrize("attack", first_of_each(ATTACKS.values(), lambda a: FAMILY_OF[a.id], lambda a: a.id))
def test_an_attack_gains_nothing_and_harms_nothing(attack: Attack, confined, monkeypatch):
    with monkeypatch.context() as little:
        if attack.exhausts:
            little.setattr("grader.engine.load_request.limits", lambda exercise: LITTLE)
        started = time.monotonic()
        result, refusal = None, ""
        try:
            result = confined.grade(attack)
        except Blocked as refused:
            refusal = str(refused)
        assert refusal.isprintable()
        if result is not None:
            assert result.outcome in ("failed", "blocked"), (result.outcome, result.message)
            assert (result.score or 0) <= result.points / 2, (
                "what is not passed gets no more than what it did right"
            )
            shown_harmlessly(confined.engine.report([result]))
        assert time.monotonic() - started < 240  # also on a busy machine
    confined.engine.close()
    assert confined.targets.touched() == []
    honest = confined.grade_honest()
    assert (honest.outcome, honest.score) == ("passed", honest.points), honest.message
    confined.engine.close()
    assert settled(confined.processes), f"{processes()} processes are left"


@pytest.mark.parametrize(
    "attack",
    first_of_each((a for a in ATTACKS.values() if a.control), lambda a: FAMILY_OF[a.id], lambda a: a.id),
)
def test_the_attack_is_one_and_works_where_nothing_is_in_its_way(attack: Attack, unconfined):
    result = unconfined.grade(attack)
    touched = unconfined.targets.touched()
    assert result.outcome == "passed" or touched, "it shows nothing if it fails everywhere"
    if "file is" in attack.success or "connection" in attack.success:
        assert touched or "read" in attack.success or attack.id == "read-file"
    unconfined.engine.close()
    if attack.id == "daemon":
        assert within(60, lambda: unconfined.targets.touched() == ["daemon is in the folder"]), (
            "it outlived its grader"
        )


def test_the_next_student_is_unharmed_in_the_weakest_tier_too(unconfined):
    honest = unconfined.grade_honest()
    unconfined.engine.close()
    assert (honest.outcome, honest.score) == ("passed", honest.points)


def shown_harmlessly(report) -> None:
    """Require that every format of the report is well-formed, and that none contains a control sequence."""
    json.loads(FORMATS["json"](report).encode())
    ElementTree.fromstring(FORMATS["junit"](report).encode())
    page = FORMATS["html"](report)
    assert not [
        tag for tag in ("<script", "<img", "<b>", "onerror=alert(1)>") if tag in page.partition("</style>")[2]
    ]
    commands = [line for line in FORMATS["github"](report).splitlines() if line.startswith(("::", "##"))]
    assert len(commands) <= 1 and all(line.startswith("::error file=") for line in commands)
    assert len([line for line in FORMATS["markdown"](report).splitlines() if line.startswith("|")]) == 3
    out = io.StringIO()
    show(report, Console(file=out, width=100, color_system=None, force_terminal=False), full=True)
    text = out.getvalue()
    text.encode()
    assert not [c for c in text if not c.isprintable() and c not in "\n\t"]
    assert not set("\u202e\u2066\u2069") & set(text)


def within(seconds: float, holds) -> bool:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
