"""Read a submission as text; nothing here runs or imports it."""

from grader.intake.read import Blocked, Submission, Unit, read_submission

__all__ = ["Blocked", "Submission", "Unit", "read_submission"]
