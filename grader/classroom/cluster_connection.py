"""Connect to a cluster with its certificate, make this certificate, or start the workers of "local:4" here.

One certificate, which trusts itself alone, is that of the scheduler, the workers and the client.
"""

from __future__ import annotations

import gc
import logging
import os
import tempfile
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dask
from distributed import Client, LocalCluster
from distributed.security import Security

from grader.support.errors import UsageError
from grader.support.i18n import _

# Kubernetes asks for /health. The other web pages of Dask would show names of files.
ROUTES = "['distributed.http.health']"
# Dask's settings for the scheduler, the workers and the client, as environment variables.
DASK = {
    "DASK_DISTRIBUTED__COMM__DEFAULT_SCHEME": "tls",
    "DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "True",
    "DASK_DISTRIBUTED__WORKER__DAEMON": "False",  # a worker starts processes
    "DASK_DISTRIBUTED__SCHEDULER__HTTP__ROUTES": ROUTES,
    "DASK_DISTRIBUTED__WORKER__HTTP__ROUTES": ROUTES,
}


def connect(address: str, certificate: Path | None, opened: ExitStack) -> Client:
    """Return a client of the scheduler at `address`, or of the new workers of "local:4".

    opened: closes at the end what this function opens, except the client.
    Raises UsageError for an address without encryption, if nothing answers, or if one side does not trust the other.
    """
    # Key by key: a thread of an earlier client may change the whole configuration while it is copied.
    # DASK_DISTRIBUTED__COMM__DEFAULT_SCHEME is the key distributed.comm.default-scheme.
    keys = {name.removeprefix("DASK_").lower().replace("__", ".").replace("_", "-"): name for name in DASK}
    settings = {key: dask.config.interpret_value(DASK[name]) for key, name in keys.items()}
    opened.enter_context(dask.config.set(settings))
    try:
        if not address.startswith("local:"):
            file = str(certificate or "")
            security = Security(tls_ca_file=file, tls_client_cert=file, tls_client_key=file)
            return Client(address, security=security, timeout=10.0)
        folder = opened.enter_context(tempfile.TemporaryDirectory())
        opened.enter_context(dask.config.set({"temporary-directory": folder}))
        cluster = LocalCluster(
            n_workers=int(address.removeprefix("local:")),
            threads_per_worker=1,
            processes=True,
            memory_limit=0,  # none
            dashboard_address=None,
            protocol="tls://",
            security=Security.temporary(),
            silence_logs=logging.CRITICAL,
        )
        return Client(opened.enter_context(cluster))
    except Exception as error:  # Dask raises a dozen types
        reason = str(error)
    # A client that failed ends its thread when it is collected. If another client starts in that moment, both wait for ever.
    gc.collect()
    says = _(
        "no connection to {address} ({reason}); it takes local:4, or the encrypted address of a running scheduler, such as tls://host:8786, and --certificate with the scheduler's certificate"
    )
    raise UsageError(says.format(address=address, reason=reason))


def write_certificate(path: Path) -> None:
    """Write a certificate with its key. Raises UsageError if the file exists, or cannot be written."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "headway cluster")])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))  # clocks differ
        .not_valid_after(now + timedelta(days=365))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secret + certificate.public_bytes(pem))
    except OSError as error:
        says = _("{path} cannot be written: {reason}")
        raise UsageError(says.format(path=path, reason=error.strerror)) from None
