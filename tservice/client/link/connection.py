"""Connection to a service by TCP, TLS or a unix socket. A certificate can be pinned."""

from __future__ import annotations

import hashlib
import http.client
import socket
import ssl

from tservice.client.errors import Unusable
from tservice.client.link.address import ServiceAddress

PATIENCE = 15.0
"""Seconds that opening a connection may take, including TLS."""
DEAD_AFTER = 20
"""Seconds after which the kernel closes a TCP connection whose peer does not respond."""


class HttpConnection(http.client.HTTPConnection):
    """HTTP connection to a L{ServiceAddress}.

    The peer's certificate is checked before anything is sent.
    """

    def __init__(self, address: ServiceAddress, timeout: float) -> None:
        super().__init__(address.host, address.port, timeout=timeout)
        self._address = address

    def connect(self) -> None:
        """Connect to the service within L{PATIENCE} seconds."""
        self.sock = open_socket(self._address)
        self.sock.settimeout(self.timeout)


def open_socket(address: ServiceAddress, patience: float = PATIENCE) -> socket.socket:
    """Connect to a service, and return the socket with a time-out of C{patience} seconds.

    @raise OSError: the service cannot be reached. C{ssl.SSLError} is a subclass.
    @raise Unusable: the certificate is not the pinned one.
    """
    plain = _open_plain_socket(address, patience)
    if not address.tls:
        return plain
    try:
        secure = _build_tls_context(address).wrap_socket(plain, server_hostname=address.host)
    except BaseException:
        plain.close()
        raise
    try:
        _check_pin(secure, address.fingerprint)
    except BaseException:
        secure.close()
        raise
    return secure


def explain_error(error: Exception, address: ServiceAddress) -> str:
    """Return one line that explains why a request failed."""
    if isinstance(error, ssl.SSLCertVerificationError):
        if error.verify_code in (62, 64):  # X509_V_ERR_HOSTNAME_MISMATCH, _IP_ADDRESS_MISMATCH
            return "the service's certificate is not for the name in TSCTL_URL"
        return (
            "the service's certificate is not trusted: set SSL_CERT_FILE to a copy of it, such as"
            " the certificate.pem of tsctl tls, or its fingerprint in TSCTL_FINGERPRINT"
        )
    if isinstance(error, TimeoutError):
        return f"{format_address(address)} does not answer in time"
    if isinstance(error, OSError) and error.strerror:
        return f"cannot reach {format_address(address)}: {error.strerror}"
    return f"{format_address(address)} does not speak HTTP: {error or type(error).__name__}"


def format_address(address: ServiceAddress) -> str:
    """Return the address as a URL."""
    if address.unix:
        return f"unix:{address.unix}"
    host = f"[{address.host}]" if ":" in address.host else address.host
    return f"http{'s' if address.tls else ''}://{host}:{address.port}{address.base}"


def _open_plain_socket(address: ServiceAddress, patience: float) -> socket.socket:
    if not address.unix:
        plain = socket.create_connection((address.host, address.port), patience)
        _set_keepalive(plain)
        return plain
    plain = socket.socket(socket.AF_UNIX)
    try:
        plain.settimeout(patience)
        plain.connect(address.unix)
    except BaseException:
        plain.close()
        raise
    return plain


def _set_keepalive(plain: socket.socket) -> None:
    """Make the kernel detect a peer that vanished without closing the connection."""
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, DEAD_AFTER // 2)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, DEAD_AFTER // 4)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 2)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, DEAD_AFTER * 1000)


def _build_tls_context(address: ServiceAddress) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if address.fingerprint:
        # The pinned certificate, compared below, replaces the check of the chain.
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _check_pin(secure: ssl.SSLSocket, fingerprint: bytes) -> None:
    if not fingerprint:
        return
    found = hashlib.sha256(secure.getpeercert(binary_form=True) or b"").digest()
    if found != fingerprint:
        raise Unusable(f"the service's certificate is not the pinned one: {found.hex(':').upper()}")
