"""Grade a class on two hosts that lose workers, and compare the store with that of a local run, row by row.

The hosts are network namespaces with their own file systems. Needs root. A worker is killed every few seconds. When
half of the class is graded, a whole host is killed. Exit status 0: the stores are equal, and `grader grade` exited
with 1, because some submissions are wrong.

    python scripts/cluster_hosts.py --submissions 2000 --kill-every 10
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[1]
GRADER = Path(sys.executable).with_name("grader")
RIGHT = (
    "import torch\n"
    "def transpose_qkv(X, num_heads):\n"
    "    B, T, D = X.shape\n"
    "    return X.reshape(B, T, num_heads, -1).transpose(1, 2).reshape(B * num_heads, T, -1)\n"
)
TEXTS = (
    RIGHT,
    RIGHT.replace(".transpose(1, 2)", ""),
    RIGHT.replace("return ", "return 1.37 * "),
    "def transpose_qkv(:\n",
    "from layers import transpose_qkv\n",  # imports a module beside the file
)
ADDRESS, HOSTS = "10.77.0.1", {"a": "10.77.0.2", "b": "10.77.0.3"}
PROGRESS = 30.0  # seconds between lines of progress
STARTED = 8.0  # seconds after which a worker has registered
QUIET = ("--format", "csv", "--output", "marks.csv")  # instead of printing marks


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--submissions", type=int, default=30)
    options.add_argument("--kill-every", type=float, default=5.0, help="seconds; 0: kill nothing")
    options.add_argument("--workers", type=int, default=2, help="per host")
    wanted = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="hosts-") as name, ExitStack() as opened:
        school = make_school(Path(name), wanted.submissions)
        started = time.monotonic()
        subprocess.run(
            [GRADER, "grade", "class", "--store", "local.sqlite", *QUIET], **of(school), check=False
        )
        print(
            f"local: {time.monotonic() - started:.1f} s, {len(rows(school / 'local.sqlite'))} rows",
            flush=True,
        )
        subprocess.run([GRADER, "cluster", "certificates", "keys"], **of(school), check=True)
        net = opened.enter_context(network())
        serve = [GRADER, "cluster", "scheduler", "--certificates", "keys"]
        opened.enter_context(running([*inside(net, "s"), *serve], school))
        for host in HOSTS:
            opened.enter_context(running(host_command(net, host, school, wanted.workers), school))
        started = time.monotonic()
        cluster = ["--cluster", f"tls://{ADDRESS}:8786", "--certificates", "keys"]
        call = [*inside(net, "s"), GRADER, "grade", "class", "--store", "cluster.sqlite", *cluster, *QUIET]
        client = subprocess.Popen(call, **of(school))
        opened.callback(client.kill)
        killed = disturb(client, net, school / "cluster.sqlite", wanted)
        took = time.monotonic() - started
        local, shared = rows(school / "local.sqlite"), rows(school / "cluster.sqlite")
        print(f"cluster: {took:.1f} s, {len(shared)} rows, status {client.returncode}; {killed}", flush=True)
        for row in sorted(set(local) ^ set(shared)):
            print("local" if row in local else "cluster", *row)
        print("equal" if local == shared else f"DIFFERENT: {len(set(local) ^ set(shared))} rows")
        return 0 if local == shared and client.returncode == 1 else 1


def make_school(root: Path, submissions: int) -> Path:
    for top in ("assignments", "solutions"):
        shutil.copytree(ROOT / top / "04_heads", root / top / "04_heads")
    shutil.copy(ROOT / "assignments" / "headway.toml", root / "assignments")
    (root / "seed").write_text("a seed that only this script knows", "utf-8")
    for number in range(submissions):
        folder = root / "class" / f"student{number:05}"
        folder.mkdir(parents=True)
        (folder / "heads.py").write_text(f"# {number}\n{TEXTS[number % len(TEXTS)]}", "utf-8")
        if "layers" in TEXTS[number % len(TEXTS)]:
            (folder / "layers.py").write_text(RIGHT, "utf-8")
    return root


def of(school: Path) -> dict[str, object]:
    """Return the options of `subprocess` for a command of the instructor."""
    variables = {"HEADWAY_SEED_FILE": str(school / "seed"), "XDG_CACHE_HOME": str(school / "cache")}
    return {"cwd": school, "env": {**os.environ, **variables}}


def rows(store: Path) -> list[tuple[object, ...]]:
    """Return every row without its date, its duration, and the signature of the row."""
    with closing(sqlite3.connect(store)) as database:
        found = database.execute(
            "SELECT content, exercise, cases, grader, sandbox, times, result FROM results ORDER BY 1, 2"
        )
        return [
            (*row, json.dumps({**json.loads(zlib.decompress(result)), "seconds": 0}))
            for *row, result in found
        ]


def graded(store: Path) -> int:
    """Return the number of submissions in the store."""
    with suppress(sqlite3.OperationalError), closing(sqlite3.connect(store)) as database:  # no table yet
        return database.execute("SELECT COUNT(DISTINCT content) FROM results").fetchone()[0]
    return 0


# ---- hosts


@contextmanager
def network() -> Iterator[str]:
    """Make three namespaces on one bridge: for the scheduler ("s") and two hosts. Yield the prefix of their names."""
    prefix = f"hw{os.getpid()}"
    with ExitStack() as opened:
        for host, address in {"s": ADDRESS, **HOSTS}.items():
            name = f"{prefix}{host}"
            ip(f"netns add {name}")
            opened.callback(ip, f"netns del {name}")
            ip(f"-n {name} link set lo up")
            if host == "s":
                ip(f"-n {name} link add net0 type bridge")
            else:
                ip(f"-n {name} link add net0 type veth peer name to-{host} netns {prefix}s")
                ip(f"-n {prefix}s link set to-{host} master net0 up")
            ip(f"-n {name} addr add {address}/24 dev net0")
            ip(f"-n {name} link set net0 up")
        yield prefix


def ip(words: str) -> None:
    subprocess.run(["ip", *words.split()], check=True)


def inside(net: str, host: str) -> list[str]:
    return ["ip", "netns", "exec", f"{net}{host}"]


def host_command(net: str, host: str, school: Path, workers: int) -> list[str]:
    """Return a command that starts the workers of a host, with their own /tmp and /mnt.

    The workers see neither the instructor's folder (`ls` checks this) nor the files of the other host.
    """
    disk = school / f"disk-{host}"
    (disk / "keys").mkdir(parents=True)
    for name in ("ca.pem", "worker.pem"):
        shutil.copy(school / "keys" / name, disk / "keys")
    # The new /tmp hides a checkout below it, so the script mounts the checkout there again, from its working folder.
    remount = ""
    if ROOT.is_relative_to("/tmp"):
        remount = f"mkdir -p {ROOT} && mount --no-canonicalize --bind . {ROOT} && "
    script = (
        f"mount --bind {disk} /mnt && cd {ROOT} && mount -t tmpfs tmpfs /tmp && {remount}cd /mnt && ! ls {school} 2>/dev/null && "
        f"exec env -u HEADWAY_SEED_FILE HOME=/mnt TMPDIR=/tmp XDG_CACHE_HOME=/mnt/cache {GRADER} cluster worker tls://{ADDRESS}:8786 "
        f"--certificates keys --workers {workers}"
    )
    return [*inside(net, host), "unshare", "--mount", "--propagation", "private", "bash", "-c", script]


@contextmanager
def running(command: list[object], school: Path) -> Iterator[None]:
    """Run a command in the background, and kill it with its children at the end."""
    log = (school / "log").open("ab")
    process = subprocess.Popen(
        list(map(str, command)), **of(school), stdout=log, stderr=log, start_new_session=True
    )
    time.sleep(3)  # until a command that cannot start has exited
    if process.poll() is not None:
        sys.exit(f"{command} ended:\n" + (school / "log").read_text("utf-8"))
    try:
        yield
    finally:
        for running_process in [*psutil.Process(process.pid).children(recursive=True), process]:
            running_process.kill()
        process.wait()


def disturb(client: subprocess.Popen[bytes], net: str, store: Path, wanted: argparse.Namespace) -> str:
    """Kill a worker every few seconds, and host b when half of the class is graded. Return what was killed."""
    random.seed(0)
    workers, host_is_up = 0, True
    next_kill, next_line = time.monotonic() + wanted.kill_every, time.monotonic() + PROGRESS
    while client.poll() is None:
        time.sleep(0.2)
        if time.monotonic() > next_line:
            done = f"{graded(store)} of {wanted.submissions} submissions"
            print(
                f"  {done}; {workers} workers killed, host b {'up' if host_is_up else 'killed'}", flush=True
            )
            next_line = time.monotonic() + PROGRESS
        if wanted.kill_every and time.monotonic() > next_kill:
            alive = [found for host in HOSTS for found in processes(net, host) if is_worker(found)]
            if alive:
                random.choice(alive).send_signal(signal.SIGKILL)
                workers += 1
            next_kill = time.monotonic() + wanted.kill_every
        if host_is_up and wanted.kill_every and graded(store) > wanted.submissions // 2:
            for process in processes(net, "b"):
                process.kill()
            ip(f"-n {net}s link set to-b down")
            host_is_up = False
    return f"{workers} workers killed, host b {'up' if host_is_up else 'killed'}"


def processes(net: str, host: str) -> list[psutil.Process]:
    pids = subprocess.run(["ip", "netns", "pids", f"{net}{host}"], capture_output=True, text=True).stdout
    return [psutil.Process(int(pid)) for pid in pids.split() if psutil.pid_exists(int(pid))]


def is_worker(process: psutil.Process) -> bool:
    """Whether this is a worker that has started. Dask does not restart a worker that is killed earlier."""
    try:
        parent = " ".join(process.parent().cmdline())
        is_old = time.time() - process.create_time() > STARTED
        return is_old and "dask_worker" in parent and "spawn_main" in " ".join(process.cmdline())
    except (psutil.NoSuchProcess, AttributeError):
        return False


if __name__ == "__main__":
    sys.exit(main())
