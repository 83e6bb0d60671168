"""The choice of a tier by a self-test, the cache of its reports, and the reason why a tier is refused.

A canary is a small attack of the self-test. If a canary succeeds although the tier promises to refuse it, the tier
is not used.
"""

import json
import os
import subprocess
import sys
import time
from contextlib import nullcontext
from pkgutil import resolve_name

import pytest

from grader.sandbox import choose as choose_module
from grader.sandbox import launcher, selftest
from grader.sandbox.base import CHOICES, TIERS, SandboxError
from grader.sandbox.choose import (
    best_tier,
    choose,
    report_all,
    report_on,
)
from grader.sandbox.selftest import Canary, TierReport
from grader.support.errors import UsageError


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Use a separate cache folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "headway" / "sandbox.json"


@pytest.fixture
def tried(monkeypatch):
    """Return the list of self-tested tiers. The self-test is replaced by one that every tier passes."""
    tried: list[str] = []

    def examine(tier: str) -> TierReport:
        tried.append(tier)
        return TierReport(tier, True, "", (Canary("read_a_file", True, True, ""),))

    monkeypatch.setattr(selftest, "examine", examine)
    return tried


def test_every_promised_canary_is_refused_on_this_machine(tier):
    report = selftest.examine(tier)
    assert report.available, report.reason
    assert len(report.canaries) >= 20
    not_promised = {canary.name for canary in report.canaries if not canary.promised}
    assert not_promised == ({"see_processes"} if tier == "landlock" else set())


def test_what_a_killed_self_test_leaves_is_removed_by_the_next(tier):
    source = f"from grader.sandbox.selftest import examine\nprint(flush=True)\nexamine({tier!r})"
    for after in (0.0, 0.2, 0.5):  # seconds
        with subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE) as examining:
            examining.stdout.readline()
            time.sleep(after)
            examining.kill()
    assert selftest.examine(tier).available
    # The fixture `leaves_nothing` fails the test if something is left.


def test_a_canary_that_succeeds_makes_the_tier_unavailable(tier, monkeypatch):
    monkeypatch.setattr(selftest, "_attack", lambda tier: {"fork": None, "connect_out": "connected"})
    report = report_on(tier)
    assert not report.available
    assert report.reason == "connect out: connected"
    with pytest.raises(SandboxError, match=f"the {tier} sandbox does not work .* connect out: connected"):
        choose(tier)


def test_traces_are_found_even_if_a_canary_does_not_report_them(tmp_path):
    with selftest._targets(str(tmp_path)) as (targets, listener):
        assert selftest._traces(targets, listener) == {}
        with open(targets["file"], "w"), open(os.path.join(targets["folder"], "planted"), "w"):
            import socket

            with socket.create_connection(("127.0.0.1", targets["port"])):
                found = selftest._traces(targets, listener)
    assert set(found) == {"change_a_file", "write_a_file", "connect_out"}


def test_a_step_that_fails_is_the_reason_in_the_report(tier, monkeypatch):
    monkeypatch.setattr(launcher, "site_folders", lambda: ["/nowhere/at/all", "relative"])
    # without targets, the worker raises a KeyError
    monkeypatch.setattr(selftest, "_targets", lambda _folder: nullcontext(({}, None)))
    report = selftest.examine(tier)
    assert not report.available
    assert report.reason.startswith("run the canaries: the worker ended early")


def test_reports_are_cached(tried):
    report_all()
    assert tried == ["strict", "landlock"]
    assert [report.canaries for report in report_all()][:2] == [(Canary("read_a_file", True, True, ""),)] * 2
    assert tried == ["strict", "landlock"]
    report_all(fresh=True)
    assert tried == ["strict", "landlock"] * 2


def test_without_a_cache_or_proc_a_tier_still_works(tried, monkeypatch, tmp_path, cache):
    def refused(path):
        raise PermissionError(path)

    with monkeypatch.context() as hidden:
        hidden.setattr(selftest, "_text", refused)
        assert report_on("strict").available
        assert not cache.exists()
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert report_on("strict").available


@pytest.mark.parametrize(
    "what", ["boot", "kernel", "user", "namespace", "Seccomp", "python", "code", "grader"]
)
def test_a_changed_machine_is_tested_again(tried, cache, what):
    report_on("strict")
    stored = json.loads(cache.read_text())
    stored["circumstances"][what] += "?"
    cache.write_text(json.dumps(stored))
    report_on("strict")
    assert tried == ["strict"] * 2


@pytest.mark.parametrize("spoil", [lambda cache: cache.chmod(0o622), lambda cache: cache.write_text("{")])
def test_a_cache_that_others_can_write_or_is_broken_is_ignored(tried, cache, spoil):
    report_on("strict")
    assert cache.stat().st_mode & 0o777 == 0o600
    assert os.listdir(cache.parent) == ["sandbox.json"]
    spoil(cache)
    for _ in range(2):
        report_on("strict")
    assert tried == ["strict"] * 2
    assert cache.stat().st_mode & 0o777 == 0o600


def test_a_self_test_that_timed_out_is_not_cached(monkeypatch, cache):
    slow = TierReport("strict", False, "run the canaries: it took too long")
    monkeypatch.setattr(selftest, "examine", lambda tier: slow)
    assert report_on("strict") == slow
    assert not cache.exists()


def available_tiers() -> list[str]:
    return [report.tier for report in report_all() if report.available]


def tier_of(asked: str) -> str:
    launcher = choose(asked)
    launcher.close()
    return launcher.tier


@pytest.mark.parametrize("working", [{"strict", "landlock", "basic"}, {"landlock", "basic"}, {"basic"}])
def test_auto_chooses_the_best_available_tier(monkeypatch, working):
    monkeypatch.setattr(
        choose_module, "report_on", lambda tier, fresh=False: TierReport(tier, tier in working, "no")
    )
    assert set(available_tiers()) == working
    assert tier_of("auto") == next(name for name in TIERS if name in working)
    assert tier_of("basic") == "basic"


def test_an_unknown_tier_is_refused():
    with pytest.raises(SandboxError, match="'stricter' is not a sandbox tier: choose one of auto, strict"):
        choose("stricter")


@pytest.mark.parametrize("asked", ["auto", "basic"])
def test_basic_is_refused_for_untrusted_submissions(asked, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(UsageError, match="not trusted"):
        best_tier(asked, "not trusted")
    assert best_tier(asked) == "basic"


def test_every_list_of_tiers_comes_from_the_table():
    from grader.cli.check import check
    from grader.cli.instructor.grade import grade
    from grader.cli.instructor.release import course
    from grader.cli.watch import watch
    from grader.nbgrader.engine_cache import Headway

    for command in (check, course, grade, watch):
        option = next(option for option in command.params if option.name == "sandbox")
        assert tuple(option.type.choices) == CHOICES
    assert tuple(Headway.class_traits()["sandbox"].values) == CHOICES
    assert [report.tier for report in report_all()] == list(TIERS)
    assert all(resolve_name(row.implementation) for row in TIERS.values())


def test_off_linux_only_the_basic_tier_works(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert available_tiers() == ["basic"]
    assert report_on("strict").reason == "needs Linux; this is darwin"
    with pytest.raises(SandboxError, match="needs Linux"):
        choose("strict")
    assert tier_of("auto") == "basic"
