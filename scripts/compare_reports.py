"""Did my change alter a verdict? Grade the same files with the grader of a commit and with this working tree.

    python scripts/compare_reports.py main             # or any commit; its result is stored
    python scripts/compare_reports.py HEAD --only answers/masked_softmax

The files are written once, from the commit: the independent answers, every mistake, mutant, variant and trivial answer
of the bank, the stubs, the attacks that end, and the sources in the tests. Each side grades them with its own course, on
public cases and on hidden ones of a fixed seed. The commit is first compared with itself: what differs there depends on
chance, and is left out and listed. Prints what differs in outcome, points, checks, names, lines, and, apart, sentences.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path.cwd()  # of the side that runs: this tree, or the worktree of the commit
SEED = "compare-reports-compare-reports\n"  # of the hidden cases, fixed so that both sides draw the same
PARTS = ("outcome", "points", "checks", "names", "lines", "sentences")
SHOWN = 40  # differences of one kind that are printed; all are in the file that is named last


# ---- the files, written by the commit's own code


def corpus() -> Iterator[tuple[str, str, list[str] | None]]:
    """Yield (path, text, exercises to grade; None: those that are found)."""
    sys.path.insert(0, str(ROOT / "tests"))
    from files.test_files import CASES
    from helpers.answers import ANSWERS

    for answer in ANSWERS:
        yield f"answers/{answer.id}.py", answer.source, [answer.exercise]
    yield from _bank()
    yield from _attacks()
    for path in sorted((ROOT / "assignments").glob("*/*")):
        if path.suffix in (".py", ".ipynb"):
            yield f"stubs/{path.name}", path.read_text("utf-8"), None
    for path in sorted((ROOT / "tests").glob("*/test_*.py")):
        for number, text in enumerate(_sources(path)):
            suffix = ".ipynb" if text.lstrip().startswith("{") else ".py"
            yield f"odd/{path.parent.name}/{path.stem}_{number:03}{suffix}", text, None
    for number, case in enumerate(CASES.values()):
        yield f"odd/files/{number:03}{Path(case.answer).suffix}", case.files[case.answer], case.grade


def _bank() -> Iterator[tuple[str, str, list[str] | None]]:
    from grader.authoring.bank import apply
    from grader.authoring.content import read_all

    for assignment in read_all(ROOT / "solutions"):
        yield f"bank/{assignment.name}/reference.py", assignment.source, None
        answers = [*assignment.mistakes(), *assignment.mutants(), *assignment.variants()]
        for answer in answers:
            for number, form in enumerate((answer, *answer.forms)):
                name = f"{answer.of}-{answer.kind}-{answer.id}-{number}"
                yield f"bank/{assignment.name}/{name}.py", apply(form, assignment.source), [answer.of]


def _attacks() -> Iterator[tuple[str, str, list[str] | None]]:
    from attacks.table import ATTACKS

    for attack in ATTACKS.values():
        if not attack.exhausts and not attack.data:
            text = attack.source.replace("@PORT@", "9").replace("@PARENT@", "999999")
            for mark in ("@FOLDER@", "@SECRET@", "@ROOT@"):
                text = text.replace(mark, "/nonexistent")
            yield f"attacks/{attack.id}.py", text, [attack.exercise]


def _sources(path: Path) -> Iterator[str]:
    """Yield the texts in a test that look like a submission."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and "\n" in text and ("def " in text or "class " in text):
            yield text


def write(folder: Path) -> None:
    """Write the files and their index."""
    index = {}
    for name, text, wanted in corpus():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8", "surrogatepass")
        index[name] = wanted
    (folder / "index.json").write_text(json.dumps(index, indent=0), "utf-8")


# ---- one side: grade a share of the files


def grade(folder: Path, only: str, share: int, of: int) -> None:
    """Print one line of JSON per file of a share: its results on public and on hidden cases. of: 0 records them only."""
    os.environ["HEADWAY_SEED_FILE"] = str(folder / "seed")
    from grader.authoring.hidden_cases import hidden_folder
    from grader.bundle.files import load_all
    from grader.engine.engine import Engine
    from grader.engine.grading import FOREIGN, HIDDEN, GradingOptions
    from grader.sandbox.choose import choose

    index = json.loads((folder / "index.json").read_text("utf-8"))
    public, hidden = load_all(ROOT / "assignments"), load_all(hidden_folder(ROOT / "solutions"))
    if not of:
        return
    launcher = choose("auto", warm="full")  # any true value; a commit may know levels instead
    engines = {
        "public": Engine(public, launcher, GradingOptions(quick=True, terms=FOREIGN)),
        "hidden": Engine(hidden, launcher, GradingOptions(quick=True, terms=HIDDEN)),
    }
    for name in [name for name in sorted(index) if name.startswith(only)][share::of]:
        found = {seed: _graded(engine, folder / name, index[name]) for seed, engine in engines.items()}
        print(json.dumps({"file": name, **found}), flush=True)
    for engine in engines.values():
        engine.close()
    launcher.close()


def _graded(engine: Any, path: Path, wanted: Sequence[str] | None) -> dict[str, Any]:
    """Return exercise → its parts, and under "" what the report says of the file."""
    from grader.intake.read import read_submission
    from grader.report.model import to_json

    try:
        record = to_json(engine.grade(read_submission(path), wanted))
    except Exception as error:
        return {"": {"outcome": f"{type(error).__name__}", "sentences": [str(error)]}}
    found = {one["name"]: _parts(one) for one in record["exercises"]}
    return {"": {"sentences": record["remarks"]}, **found}


def _parts(one: dict[str, Any]) -> dict[str, Any]:
    diagnosis, checks = one["diagnosis"], one["checks"]
    texts = [one["message"], diagnosis["says"], diagnosis["asks"], *one["remarks"], json.dumps(one["advice"])]
    return {
        "outcome": one["outcome"],
        "points": one["score"],
        "checks": {_key(c): c["outcome"] for c in checks},
        "names": [diagnosis["kind"], *diagnosis["alternatives"]],
        "lines": [diagnosis["lines"], *(c["where"] for c in checks)],
        "sentences": {"": texts} | {_key(c): c["message"] for c in checks},
    }


def _key(check: dict[str, Any]) -> str:
    return f"{check['id']} {check['facet']} {check['device']}"


# ---- the two sides


def run(tree: Path, *arguments: str) -> list[str]:
    """Return the command that runs this script for a tree, with the tree's own version of it if it has one."""
    own = tree / "scripts" / Path(__file__).name
    return [str(tree / ".venv" / "bin" / "python"), str(own if own.exists() else Path(__file__)), *arguments]


def side(tree: Path, folder: Path, only: str, jobs: int) -> dict[str, Any]:
    """Grade the files with a tree, in `jobs` processes. Return file → its results."""

    def graded(share: int, of: int) -> str:
        numbers = ("--share", str(share), "--of", str(of))
        words = run(tree, "--grade", str(folder), "--only", only, *numbers)
        variables = {**os.environ, "PYTHONPATH": str(tree)}
        done = subprocess.run(words, cwd=tree, env=variables, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            raise SystemExit(f"{tree}: grading ended with an error")
        return done.stdout

    graded(0, 0)  # the hidden cases are recorded once, for all shares
    with ThreadPoolExecutor(jobs) as pool:  # each thread reads the output of one process
        rows = [
            json.loads(row)
            for out in pool.map(graded, range(jobs), [jobs] * jobs)
            for row in out.splitlines()
        ]
    return {row.pop("file"): row for row in sorted(rows, key=lambda row: row["file"])}


def base_tree(commit: str, folder: Path) -> Path:
    """Return a worktree of the commit with its own environment; make it on first use."""
    tree = folder / "tree"
    if not (tree / ".venv" / ".ready").exists():
        subprocess.run(["git", "worktree", "prune"], cwd=ROOT, check=True)
        if not tree.exists():
            subprocess.run(
                ["git", "worktree", "add", "--detach", "--quiet", tree, commit], cwd=ROOT, check=True
            )
        subprocess.run(["make", "--silent", "install"], cwd=tree, check=True)
    return tree


def differences(old: dict[str, Any], new: dict[str, Any]) -> dict[tuple[str, ...], tuple[Any, Any]]:
    """Return (file, seed, exercise, part, check) → both values, where they differ."""
    a, b = dict(_values(old)), dict(_values(new))
    return {key: (a.get(key), b.get(key)) for key in a.keys() | b.keys() if a.get(key) != b.get(key)}


def _values(found: Any, *key: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each value of nested dictionaries with the five names that lead to it; a missing name is ""."""
    if not isinstance(found, dict):
        yield (*key, "")[:5], found
        return
    for name, inner in found.items():
        yield from _values(inner, *key, name)


def counts(results: dict[str, Any]) -> Counter[str]:
    """Return how many files, exercises and checks were graded."""
    graded = [one for row in results.values() for seed in row.values() for name, one in seed.items() if name]
    checks = sum(len(one["checks"]) for one in graded)
    return Counter(files=len(results), exercises=len(graded), checks=checks)


def main() -> int:
    """Compare, and return the exit status: 0 if nothing but sentences differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("base", nargs="?", help="the commit to compare with")
    parser.add_argument("--only", default="", help="files whose path begins with this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    for name in ("--write", "--grade"):
        parser.add_argument(name, type=Path, help=argparse.SUPPRESS)
    for name in ("--share", "--of"):
        parser.add_argument(name, type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.write:
        write(asked.write)
    elif asked.grade:
        grade(asked.grade, asked.only, asked.share, asked.of)
    elif asked.base:
        return compare(asked.base, asked.only, asked.jobs)
    else:
        parser.error("name a commit")
    return 0


def compare(base: str, only: str, jobs: int) -> int:
    """Grade what is not stored, and print the differences."""
    revision = ["git", "rev-parse", f"{base}^{{commit}}"]
    commit = subprocess.check_output(revision, cwd=ROOT, text=True).strip()
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    folder = cache / "headway-compare" / commit  # not in the folder of seeds, which attacks look for
    files = folder / "files"
    files.mkdir(parents=True, exist_ok=True)
    (files / "seed").write_text(SEED, "utf-8")
    tree = base_tree(commit, folder)
    if not (files / "index.json").exists():
        subprocess.run(run(tree, "--write", str(files)), cwd=tree, check=True)
    stored = folder / f"result{only.replace('/', '_')}.json"
    if not stored.exists():
        print("grading with the commit, twice …", file=sys.stderr)
        first, again = (side(tree, files, only, jobs) for _ in range(2))
        stored.write_text(json.dumps([first, again]), "utf-8")
    first, again = json.loads(stored.read_text("utf-8"))
    chance = differences(first, again)
    print("grading with this tree …", file=sys.stderr)
    now = side(ROOT, files, only, jobs)
    found = {key: pair for key, pair in differences(first, now).items() if key not in chance}
    for name, results in ((base, first), ("this tree", now)):
        print(f"{name}: " + ", ".join(f"{count} {what}" for what, count in sorted(counts(results).items())))
    if chance:
        print(f"\nleft out, because {base} differs from itself there:")
        for key in sorted(chance):
            print("  " + " · ".join(filter(None, key)))
    for part in PARTS:
        rows = sorted((key, pair) for key, pair in found.items() if key[3] == part)
        print(f"\n{part}: {len(rows)} differences")
        for (file, seed, exercise, _part, check), (old, new) in rows[:SHOWN]:
            print(
                f"  {file} · {seed} · {exercise or 'file'}{check and ' · '}{check}\n    - {old}\n    + {new}"
            )
    details = folder / "differences.json"
    details.write_text(json.dumps([[*key, *pair] for key, pair in sorted(found.items())], indent=0), "utf-8")
    print(f"\nall of them: {details}")
    return int(counts(first) != counts(now) or any(key[3] != "sentences" for key in found))


if __name__ == "__main__":
    sys.exit(main())
