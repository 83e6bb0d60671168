"""The landlock tier, for machines that refuse user namespaces: the same worker without namespaces.

It cannot hide the names of files and processes. Its scratch folders are on the machine's disk and have a
quota. The server removes a worker's folder after the worker's exit; the supervisor removes the rest.
"""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import replace

from grader.sandbox import disk_quota, identity, kernel, landlock, lockdown, resources
from grader.sandbox.base import Limits, SandboxError
from grader.sandbox.remove_tree import remove_tree
from grader.sandbox.visible_paths import DEVICES, Layout, readable_entries

if sys.platform != "linux":
    raise ImportError("this module needs Linux")


class LandlockTier:
    """Server side of the tier; see `tiers.Tier`."""

    def __init__(self, layout: Layout, temporary: str) -> None:
        self.layout = layout
        self._temporary = temporary
        self.leaves = ""
        self.quota: disk_quota.DiskQuota | None = None
        self._rules: landlock.Ruleset | None = None
        self._server = 0
        self._uid_map = identity.uid_map()
        # Whether a user that owns nothing can read all that a worker needs.
        self._as_nobody = all(
            map(identity.others_can_read, [os.__file__, temporary, *layout.path, *layout.code])
        )

    def separate(self) -> None:
        """Make a folder for the workers' folders."""
        try:
            self.leaves = tempfile.mkdtemp(prefix="headway-", dir=self._temporary)
            os.chmod(self.leaves, 0o711)  # other users can open their own folder in it, but not list it
        except OSError as error:
            raise SandboxError(f"make a folder in {self._temporary}: {error.strerror}") from None
        self.quota = disk_quota.DiskQuota(self.leaves)

    def enclose(self) -> None:
        """Collect the many grants that all workers share, once."""
        self._server = os.getpid()
        os.environ["TMPDIR"] = self.leaves  # some parts of torch need a temporary folder at import
        read, listed = readable_entries(self.layout)
        self._rules = landlock.Ruleset()
        self._rules.allow([*read, *DEVICES], landlock.READ)
        self._rules.allow(listed, landlock.LIST)
        self._rules.allow(["/dev/null"], landlock.READ_WRITE)
        self._rules.allow_all([self.leaves])

    def fork(self, number: int) -> int:
        scratch = self._scratch(number)
        try:
            os.mkdir(scratch, 0o700)
            ids = self._ids(number)
            if ids is not None and self._as_nobody:
                os.chown(scratch, *ids)
        except OSError as error:
            raise SandboxError(f"make the scratch folder: {error.strerror}") from None
        return os.fork()

    def kept_descriptors(self) -> list[int]:
        assert self._rules is not None and self.quota is not None
        return [self._rules.descriptor, self.quota.workers_end]

    def confine(self, number: int, limits: Limits, kept: list[int]) -> None:
        assert self._rules is not None
        self._rules.descriptor, supervisor = kept
        ids, scratch = self._ids(number), self._scratch(number)
        if ids is not None:
            change_user = identity.become if self._as_nobody else identity.count_as
            change_user(ids)
        lockdown.clean_the_process(scratch)
        # Without ids, the worker has the grader's user, whose threads count.
        others = resources.tasks_of(os.geteuid()) if ids is None else 0
        bounded = replace(limits, file_bytes=disk_quota.file_bytes(limits))
        resources.apply(bounded, tasks_of_others=others)
        lockdown.give_up_privileges()
        self._restrict_files(scratch)
        disk_quota.enforce(number, limits, supervisor)
        kernel.die_with_parent(self._server)

    def clean_up(self, number: int) -> None:
        remove_tree(self._scratch(number))

    def leave(self) -> None:
        remove_tree(self.leaves)

    def _restrict_files(self, scratch: str) -> None:
        """Apply the shared rules, for the folders of all workers, and this worker's: both must grant an access."""
        assert self._rules is not None
        own = landlock.Ruleset()
        own.allow([*self.layout.shown, *self.layout.code, *DEVICES], landlock.READ)
        own.allow(["/dev/null"], landlock.READ_WRITE)
        own.allow_all([scratch])
        for rules in (self._rules, own):
            rules.restrict()
            rules.close()

    def _ids(self, number: int) -> tuple[int, int] | None:
        return identity.worker_ids(number, self._uid_map)

    def _scratch(self, number: int) -> str:
        return os.path.join(self.leaves, str(number))
