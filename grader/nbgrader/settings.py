"""The settings of an instructor: `c.Headway.…` in nbgrader_config.py."""

from __future__ import annotations

from traitlets import Bool, Enum, Unicode
from traitlets.config import Configurable

from grader.sandbox.tiers import AUTO, CHOICES


class Headway(Configurable):
    """Settings of the grading. `grader course` writes all except `store`."""

    solutions = Unicode(
        "", help="The folder solutions/ that hidden cases are recorded from: its Python files are run."
    ).tag(config=True)
    seed_file = Unicode(
        "",
        help="The file that holds the secret seed; empty: $HEADWAY_SEED_FILE, or the seed in your configuration folder.",
    ).tag(config=True)
    sandbox = Enum(CHOICES, default_value=AUTO, help="The sandbox in which submissions run.").tag(config=True)
    trusted_submissions = Bool(
        False, help="Allow the basic sandbox, which stops no determined attacker."
    ).tag(config=True)
    course = Unicode(
        "",
        help="The folder whose headway.toml has the course's points, weights and other rules; empty: none.",
    ).tag(config=True)
    store = Unicode(
        "",
        help="The store of `grader grade submitted --store`; empty: the store in your cache folder."
        " A result that is stored there is not graded again.",
    ).tag(config=True)
