"""The command line. `run` is the entry point."""

from __future__ import annotations

import os
import sys


def run() -> None:
    """Run a command. Ctrl-C prints one word, also while the modules are imported."""
    os.environ["PYTHONSAFEPATH"] = "1"  # processes of the grader import nothing from the current folder
    try:
        from grader.cli.main import main
        from grader.support.sanitize import tolerate_any_encoding

        tolerate_any_encoding()
        main()
    except KeyboardInterrupt:
        from grader.support.i18n import _

        print(_("stopped"), file=sys.stderr)
        sys.exit(130)
