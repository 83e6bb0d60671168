"""The file system of the strict tier: a small read-only root with the paths of a layout (see visible_paths.py)."""

from __future__ import annotations

import os

from grader.sandbox import kernel
from grader.sandbox.base import SandboxError
from grader.sandbox.visible_paths import DEVICES, Layout, steps

SCRATCH = "/scratch"
# Folders that most systems have; see `find_stage`.
_STAGES = ("/mnt", "/media", "/srv", "/opt", "/home", "/var", "/run", "/tmp")
_SIZE = "size=1m,nr_inodes=4k,mode=755"  # folders and mount points only
_QUIET = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
_PEOPLE = "root:x:0:0::/:\nstudent:x:1000:1000::/scratch:\n"


def build_and_enter(layout: Layout) -> None:
    """Replace the root of this process's mount namespace. Raises SandboxError.

    The new root has only cpuinfo of /proc. Open everything else that you need of /proc before the call.
    """
    stage = find_stage(layout)
    kernel.make_mounts_private()
    kernel.mount("make an empty root", "headway", stage, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, _SIZE)
    for act, path in steps(layout):
        _show(stage, path) if act == "show" else _hide(stage, path)
    for device in DEVICES:
        _show(stage, device, read_only=False)
    os.mkdir(stage + SCRATCH)
    os.makedirs(stage + "/etc", exist_ok=True)
    with open(
        stage + "/etc/passwd", "w", encoding="ascii"
    ) as file:  # so that a program finds its user and home
        file.write(_PEOPLE)
    if not os.path.lexists(stage + "/tmp"):  # the layout may show a path below it
        os.symlink(SCRATCH, stage + "/tmp")
    for path in layout.hidden:  # only now: mount points for the shown paths were made in the hidden folders
        kernel.make_read_only(stage + path, below=False)
    kernel.swap_root(stage)
    kernel.make_read_only("/", below=False)  # not the devices: they must be opened for writing


def mount_scratch(bytes_: int, entries: int) -> None:
    """Mount an empty folder in memory, for at most `bytes_` bytes and `entries` files, in this mount namespace only."""
    options = f"size={bytes_},nr_inodes={entries},mode=700"
    kernel.mount("make the scratch folder", "scratch", SCRATCH, "tmpfs", _QUIET, options)


def find_stage(layout: Layout) -> str:
    """Return a folder to mount the new root on. The mount hides its contents, so no path of the layout may be in it."""
    for stage in _STAGES:
        if os.path.isdir(stage) and not any(
            (path + "/").startswith(stage + "/") for _, path in steps(layout)
        ):
            return stage
    raise SandboxError(f"find a folder to build the root on: none of {', '.join(_STAGES)} is free")


def _show(stage: str, path: str, read_only: bool = True) -> None:
    target = stage + path
    _make_mount_point(stage, target, folder=os.path.isdir(path))
    kernel.bind(path, target)
    if read_only:
        kernel.make_read_only(target)


def _hide(stage: str, path: str) -> None:
    target = stage + path
    if os.path.isdir(target):
        kernel.mount(f"hide {path}", "hidden", target, "tmpfs", _QUIET, "size=64k,nr_inodes=64,mode=755")
    else:
        kernel.bind("/dev/null", target)


def _make_mount_point(stage: str, target: str, folder: bool) -> None:
    if os.path.exists(target):
        return
    try:
        os.makedirs(target if folder else os.path.dirname(target), exist_ok=True)
        if not folder:
            with open(target, "x"):
                pass
    except OSError as error:
        raise SandboxError(f"make a place for {target.removeprefix(stage)}: {error.strerror}") from None
