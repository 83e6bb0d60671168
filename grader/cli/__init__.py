"""The command line: one file a command. `main` is the entry point."""

from grader.cli.main import main

__all__ = ["main"]
