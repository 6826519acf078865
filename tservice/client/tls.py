"""C{tsctl tls}: create a key and a self-signed certificate."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from tservice.core.disk.files import write_private_file

KEY, CERTIFICATE = "key.pem", "certificate.pem"
LONGEST_DAYS = 825
"""Maximum validity of a certificate in days that browsers accept."""

_LABEL = r"(?!-)[a-z0-9-]{1,63}(?<!-)"
# A name whose last label has only digits is an invalid address.
_NAME = re.compile(rf"(?=.{{1,253}}\Z)(\*\.)?({_LABEL}\.)*(?![0-9]+\Z){_LABEL}", re.IGNORECASE)


def make_certificate(folder: Path, names: Sequence[str], days: int, now: float) -> str:
    """Create a key and a self-signed certificate, and write L{KEY} (mode 0600) and L{CERTIFICATE}
    into C{folder}.

    @param names: host names and IP addresses of the certificate.
    @param days: validity in days.
    @param now: Unix seconds.
    @return: the SHA-256 fingerprint, for comparison with the one in the browser.
    @raise FileExistsError: one of the files exists already.
    @raise ValueError: there is no name, or one is neither a DNS name nor an address.
    """
    for name in (KEY, CERTIFICATE):
        if os.path.lexists(folder / name):
            raise FileExistsError(f"{folder / name} exists")
    if not names:
        raise ValueError("at least one name is needed")
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = _sign_certificate(key, names, days, datetime.fromtimestamp(now, UTC))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    try:
        write_private_file(folder / KEY, private)
        write_private_file(
            folder / CERTIFICATE, certificate.public_bytes(serialization.Encoding.PEM)
        )
    except OSError:
        for name in (KEY, CERTIFICATE):  # a single file would prevent another try
            (folder / name).unlink(missing_ok=True)
        raise
    return certificate.fingerprint(hashes.SHA256()).hex(":").upper()


def _sign_certificate(
    key: ec.EllipticCurvePrivateKey, names: Sequence[str], days: int, now: datetime
) -> x509.Certificate:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0][:64])])
    alternatives = x509.SubjectAlternativeName([_build_alternative_name(name) for name in names])
    usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=days))
        .add_extension(alternatives, critical=False)
        .add_extension(usage, critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )


def _build_alternative_name(name: str) -> x509.GeneralName:
    """Return a name as subject alternative name. A DNS name may begin with C{*.}."""
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is neither a DNS name nor an IP address") from None
        return x509.DNSName(name)
