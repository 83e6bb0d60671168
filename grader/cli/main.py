"""`grader`: the group of commands. A command is imported when it is called."""

from __future__ import annotations

import errno
import os
import sys
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import click

from grader.support.i18n import _
from grader.support.version import __version__

LEARN, TEACH, MAINTAIN = _("Learn"), _("Teach"), _("Maintain")
# Command → its group, its module in this package, in which it is the function of that name, and what it does.
COMMANDS = {
    "start": (LEARN, "instructor.release", _("Write the course into a new folder.")),
    "check": (LEARN, "check", _("Grade your exercises, or the exercises in any file.")),
    "watch": (LEARN, "watch", _("Grade an exercise again on every save.")),
    "hint": (LEARN, "help", _("Show the next hint for an exercise.")),
    "case": (LEARN, "help", _("Write the inputs of the first failing case to a file.")),
    "reset": (LEARN, "help", _("Restore the original stub of an exercise.")),
    "explain": (LEARN, "help", _("Show a page about a known mistake.")),
    "answer": (LEARN, "answer", _("Show the answer to a question of a lesson.")),
    "questions": (LEARN, "questions", _("Ask you about what your own code returns.")),
    "play": (LEARN, "play", _("Let your language model write.")),
    "draw": (LEARN, "draw", _("Draw the attention maps of your own model.")),
    "doctor": (LEARN, "doctor", _("Show which features and sandboxes work on this machine.")),
    "release": (TEACH, "instructor.release", _("Make a student kit and check it for answers.")),
    "course": (TEACH, "instructor.release", _("Create or update an nbgrader course.")),
    "grade": (TEACH, "instructor.grade", _("Grade a folder of submissions with hidden cases.")),
    "regrade": (TEACH, "instructor.after_grading", _("Grade a class again and show who changes, and why.")),
    "adopt": (TEACH, "instructor.after_grading", _("Give a group of equal wrong answers a name.")),
    "comment": (TEACH, "instructor.after_grading", _("Write a comment to all students of a group.")),
    "purge": (TEACH, "instructor.after_grading", _("Remove what is stored about a student.")),
    "cluster": (TEACH, "instructor.grade", _("Set up machines that grade together.")),
    "new": (MAINTAIN, "instructor.author", _("Create an exercise from a working template.")),
    "build": (MAINTAIN, "instructor.author", _("Generate assignments/ from solutions/.")),
    "verify": (MAINTAIN, "instructor.author", _("Check solutions, stubs, mistakes and variants.")),
}

EXAMPLES = _("""\b
Examples:
  grader                               list the exercises; choose one to work on
  grader --plain                       print the list and what is next
  grader check                         grade all your exercises
  grader check masked_softmax          grade one exercise and show details
  grader check --file attention.ipynb  grade the exercises in any file
""")


class Lazy(click.Group):
    """Imports only the command that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in COMMANDS if _is_here(name)]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            hint = _("run `grader --help`")
            for near in get_close_matches(name, COMMANDS, n=1, cutoff=0.5):
                hint = _("did you mean `grader {name}`?").format(name=near)
            raise click.UsageError(_("there is no command {name}; {hint}").format(name=name, hint=hint))
        if not _is_here(name):
            raise click.UsageError(_("`grader {name}` is not part of the student kit").format(name=name))
        command: click.Command = getattr(import_module(f"grader.cli.{COMMANDS[name][1]}"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))  # the same in all groups
        for group in (LEARN, TEACH, MAINTAIN):
            here = [name for name in self.list_commands(ctx) if COMMANDS[name][0] == group]
            if here:
                with formatter.section(group):
                    formatter.write_dl([(name.ljust(width), COMMANDS[name][2]) for name in here])


def _is_here(name: str) -> bool:
    """Whether a command is installed: a student kit has none for instructors."""
    return not COMMANDS[name][1].startswith("instructor.") or find_spec("grader.cli.instructor") is not None


@click.group(
    cls=Lazy,
    invoke_without_command=True,
    help=_("Exercises on attention and Transformers, with a grader that names your mistake."),
    epilog=EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="grader")
@click.option("--plain", is_flag=True, help=_("Print the list of exercises, and do not wait for keys."))
@click.pass_context
def group(ctx: click.Context, plain: bool) -> None:
    if ctx.invoked_subcommand is not None:
        return
    from grader.cli import overview

    if plain or not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("TERM") == "dumb":
        overview.show_map()
    elif chosen := overview.choose(Path.cwd()):
        from grader.cli.watch import watch

        assert watch.callback
        watch.callback(chosen, course=None, sandbox="auto")


_NO_ROOM = (errno.EROFS, errno.EACCES, errno.ENOSPC, errno.EDQUOT, errno.ENOTDIR)


def main() -> None:
    """Run a command, and exit with its status. An expected error is printed as one sentence."""
    from grader.support.errors import GraderError

    try:
        group(standalone_mode=False)
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except click.ClickException as wrong:
        _end(f"grader: {wrong.format_message()}", 2)
    except GraderError as refused:
        _end(f"grader: {refused}", refused.exit_status)
    except ModuleNotFoundError as missing:
        says = _("grader: this needs the package {name}: python -m pip install {name}")
        if (missing.name or "").startswith("grader."):
            says = _("grader: {name} is not part of the student kit")
        _end(says.format(name=missing.name), 2)
    except ImportError as broken:  # numpy and torch end a long text with the files that could not be loaded
        why = str(broken).strip().splitlines()[-1:]
        says = _("a library cannot be loaded ({why}); is there enough memory? `ulimit -v` shows a limit")
        _end(f"grader: {says.format(why=''.join(why))}", 2)
    except (click.Abort, KeyboardInterrupt):
        _end(_("stopped"), 130)
    except BrokenPipeError:
        sys.stderr.close()  # otherwise Python prints a message about the closed pipe when it exits
        sys.exit(141)  # as a shell reports SIGPIPE
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        says = _(
            "grader: {file} cannot be written: {reason}. XDG_CACHE_HOME=FOLDER names another cache folder"
        )
        _end(says.format(file=error.filename, reason=error.strerror), 2)


def _end(sentence: str, status: int) -> NoReturn:
    click.echo(sentence, err=True)
    sys.exit(status)
