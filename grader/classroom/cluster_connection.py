"""Connect to the scheduler of a cluster, or start the workers of "local:4" on this machine."""

from __future__ import annotations

import logging
import tempfile
from contextlib import ExitStack
from pathlib import Path

import dask
from distributed import Client, LocalCluster
from distributed.security import Security

from grader.classroom.certificates import encrypted, options_of, require_trust
from grader.classroom.cluster_worker import DASK
from grader.support.errors import UsageError
from grader.support.i18n import _

LOCAL = "local:"


def connect(address: str, certificates: Path | None, opened: ExitStack) -> Client:
    """Return a client of the scheduler at `address`. The caller closes it.

    opened: gets the cluster of "local:4" and its folder, and closes them at the end.
    Raises UsageError for a wrong number of workers, an address without encryption, or missing certificates; and if
    one side rejects the other's certificate, or nothing answers.
    """
    if address.startswith(LOCAL):
        return _start_local(_number(address), opened)
    address = encrypted(address)
    if certificates is None:
        raise UsageError(
            _(
                "{address} needs --certificates FOLDER; make them with: grader cluster certificates FOLDER"
            ).format(address=address)
        )
    require_trust(address, certificates, "client")
    files = options_of(certificates, "client")
    security = Security(
        tls_ca_file=files["tls-ca-file"],
        tls_client_cert=files["tls-cert"],
        tls_client_key=files["tls-key"],
        require_encryption=True,
    )
    try:
        return Client(address, security=security, timeout=20)
    except OSError as error:
        raise UsageError(
            _("nothing answers at {address} ({reason}); is the scheduler running?").format(
                address=address, reason=type(error).__name__
            )
        ) from None


def _start_local(workers: int, opened: ExitStack) -> Client:
    opened.enter_context(dask.config.set(DASK))
    cluster = LocalCluster(
        local_directory=opened.enter_context(tempfile.TemporaryDirectory()),
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        memory_limit=0,  # none
        dashboard_address=None,
        protocol="tls://",
        security=Security.temporary(),
        silence_logs=logging.CRITICAL,
    )
    return Client(opened.enter_context(cluster))


def _number(address: str) -> int:
    text = address.removeprefix(LOCAL)
    if not text.isdigit() or not 1 <= int(text) <= 256:
        raise UsageError(
            _("--cluster local:N takes a number of workers, such as local:4; not {text}").format(text=text)
        )
    return int(text)
