"""The base class of exceptions whose message is shown to the user, and its general subclasses."""

from __future__ import annotations


class GraderError(Exception):
    """A refusal or a fault, as one sentence for the user.

    exit_status: what the command line exits with: 2 for wrong use, 3 if something could not be graded.
    """

    exit_status = 2


class CannotWrite(GraderError, OSError):
    """A file or a folder cannot be written. It is also an OSError, for callers that treat every OSError alike."""


class UsageError(GraderError):
    """A call, an option, a name, a folder or a setting is wrong."""


class BadData(GraderError, ValueError):
    """Bytes or text are not what they should be; the message says why."""
