"""The command line: one file a command. `run` is the entry point."""

from __future__ import annotations

import sys


def run() -> None:
    """Load the commands and run the one that was asked for. Ctrl-C is as quiet while they load as later."""
    try:
        from grader.cli.main import main

        main()
    except KeyboardInterrupt:
        from grader.support.i18n import _

        print(_("stopped"), file=sys.stderr)
        sys.exit(130)
