"""Run a real JupyterLab in a course folder, with nbgrader's pages."""

from __future__ import annotations

import secrets
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

TIMEOUT = 240.0  # seconds until the server must answer


@contextmanager
def server(course: Path, environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Start JupyterLab in a course folder, yield its address and its token, and stop it."""
    port, token = _free_port(), secrets.token_hex(16)
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
        *("--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"),
    ]
    log = course.parent / "jupyter.log"
    with log.open("wb") as out:
        running = subprocess.Popen(
            command, cwd=course, env={**environment, "JUPYTER_TOKEN": token}, stdout=out, stderr=out
        )
    try:
        base = f"http://127.0.0.1:{port}"
        _wait(running, f"{base}/api/status?token={token}", log)
        yield base, token
    finally:
        running.terminate()
        try:
            running.wait(20)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(running: subprocess.Popen[bytes], url: str, log: Path) -> None:
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            assert running.poll() is None, log.read_text("utf-8", "replace")
            time.sleep(0.2)
    raise AssertionError(f"Jupyter does not answer: {log.read_text('utf-8', 'replace')}")
