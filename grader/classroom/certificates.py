"""Make the certificates of a cluster, and check an address and the certificates before connecting.

An authority signs three certificates, and its key is not stored.
"""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from grader.support.errors import UsageError
from grader.support.i18n import _

ROLES = ("scheduler", "worker", "client")
AUTHORITY = "ca.pem"
SECONDS = 10.0  # to connect


def write_certificates(folder: Path, days: int) -> None:
    """Write ca.pem and, for each role, a file with its certificate and key.

    Raises UsageError if the folder is not empty. The authority's key is written nowhere, so no other
    certificate can be signed later. days: how long the certificates are valid.
    """
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    if folder.exists() and any(folder.iterdir()):
        raise UsageError(_("{path} is not empty; name a new folder").format(path=folder))
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    now = datetime.now(UTC)
    authority = ec.generate_private_key(ec.SECP256R1())
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "headway cluster")])

    def signed(name: str, key: ec.EllipticCurvePrivateKey, is_authority: bool) -> bytes:
        usage = {"key_cert_sign": is_authority, "crl_sign": is_authority, "digital_signature": True}
        others = ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement")
        extensions: list[tuple[x509.ExtensionType, bool]] = [  # each with whether it is critical
            (x509.BasicConstraints(ca=is_authority, path_length=0 if is_authority else None), True),
            (
                x509.KeyUsage(**usage, **dict.fromkeys((*others, "encipher_only", "decipher_only"), False)),
                True,
            ),
            (x509.SubjectAlternativeName([x509.DNSName(name)]), False),
            (x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False),
            (x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key()), False),
        ]
        subject = issuer if is_authority else x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        builder = (
            x509.CertificateBuilder(issuer, subject, key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))  # clocks differ
            .not_valid_after(now + timedelta(days=days))
        )
        for extension, critical in extensions:
            builder = builder.add_extension(extension, critical)
        return builder.sign(authority, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    _write(folder / AUTHORITY, signed("authority", authority, is_authority=True))
    for role in ROLES:
        key = ec.generate_private_key(ec.SECP256R1())
        secret = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        _write(folder / f"{role}.pem", secret + signed(role, key, is_authority=False))


def _write(path: Path, data: bytes) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)


def encrypted(address: str) -> str:
    """Return the address as tls://host:port.

    Raises UsageError for another protocol, even if the address is this machine, and for an address without a port.
    """
    protocol, _mark, place = address.rpartition("://")
    host = place.rpartition(":")[0]
    if protocol not in ("", "tls") or not host:
        raise UsageError(
            _(
                "{address} is not an encrypted address with a port, and workers run the code that they receive; use for example tls://host:8786 with --certificates"
            ).format(address=address)
        )
    return f"tls://{place}"


def options_of(folder: Path, role: str) -> Mapping[str, str]:
    """Return the paths for Dask's options tls-ca-file, tls-cert and tls-key. Raises UsageError if a file is missing."""
    authority, own = folder / AUTHORITY, folder / f"{role}.pem"
    for path in (authority, own):
        if not path.is_file():
            raise UsageError(
                _("{path} does not exist; make it with: grader cluster certificates FOLDER").format(path=path)
            )
    return {"tls-ca-file": str(authority), "tls-cert": str(own), "tls-key": str(own)}


def require_trust(address: str, folder: Path, role: str) -> None:
    """Connect once with the certificates in `folder`.

    Raises UsageError if the address is malformed, nothing answers, or a side rejects the other's certificate.
    """
    files = options_of(folder, role)
    host, _colon, port = address.removeprefix("tls://").rpartition(":")
    try:
        context = ssl.create_default_context(cafile=files["tls-ca-file"])
        context.check_hostname = False  # the authority signs for this cluster alone
        context.load_cert_chain(files["tls-cert"])
        with (
            socket.create_connection((host.strip("[]"), int(port)), SECONDS) as plain,
            context.wrap_socket(plain) as connection,
        ):
            connection.recv(1)  # a refusal of our certificate arrives after the handshake
    except ssl.SSLError as error:
        raise UsageError(
            _(
                "{address} and this side do not trust each other's certificates ({reason}); use files of one `grader cluster certificates` on all machines"
            ).format(address=address, reason=error.reason or type(error).__name__)
        ) from None
    except ValueError:
        raise UsageError(
            _("{address} is not an address such as tls://host:8786").format(address=address)
        ) from None
    except OSError as error:
        raise UsageError(
            _("nothing answers at {address} ({reason}); is the scheduler running?").format(
                address=address, reason=error.strerror or type(error).__name__
            )
        ) from None
