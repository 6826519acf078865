"""Records of remote hosts, and the rules for their fields (protocol-remote)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from attrs import field, frozen

from tservice.core.kernel.errors import make_field_error
from tservice.core.values.text import make_ascii_slug

LABEL_LENGTH = 100
NAME_LENGTH = 255
PATH_LENGTH = 1024
OPTION_LENGTH = 512
COMMAND_LENGTH = 1024
MOST_HOSTS = 100
MOST_OPTIONS = 32
MOST_COMMANDS = 16
MOST_MACS = 4
MAC_LENGTH = 128

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_HOST = re.compile(r"[A-Za-z0-9_.:%\[\]-]{1,255}")
_USER = re.compile(r"[A-Za-z0-9_.@\\+$-]{1,255}")
_JUMP = re.compile(
    # ssh puts the name after its own options, where a dash would begin another option.
    r"(?:[A-Za-z0-9_.+$-]+@)?(?:[A-Za-z0-9_.][A-Za-z0-9_.-]*|\[[0-9A-Fa-f:]+\])(?::[0-9]{1,5})?"
)
_UNQUOTABLE = re.compile(r'["\\]|\$\{')
_MAC = re.compile(r"[0-9A-Fa-f]{2}([:-])(?:[0-9A-Fa-f]{2}\1){4}[0-9A-Fa-f]{2}")

OPTIONS = frozenset(
    name.casefold()
    for name in (
        "AddressFamily", "BindAddress", "BindInterface", "CASignatureAlgorithms",
        "CertificateFile", "Ciphers", "Compression", "ConnectionAttempts",
        "GSSAPIAuthentication", "HostbasedAcceptedAlgorithms", "HostKeyAlgorithms",
        "IdentitiesOnly", "IdentityAgent", "IPQoS", "KexAlgorithms", "MACs",
        "PreferredAuthentications", "PubkeyAcceptedAlgorithms", "PubkeyAcceptedKeyTypes",
        "PubkeyAuthentication", "RekeyLimit", "RequiredRSASize", "TCPKeepAlive",
    )
)  # fmt: skip
"""Names of ssh options that users may set in addition to the fields.

None of them runs a program, forwards anything, reads another configuration, or weakens the check of
a host key.
"""


@frozen(kw_only=True)
class RemoteHost:
    """Remote host, as an administrator configured it.

    @ivar commands: programs by session mode. Each replaces the program that the CLI of that mode
        would run.
    @ivar extra_ssh_options: options of ssh in the form C{KEY=VALUE}.
    """

    id: str
    label: str
    host: str
    username: str
    port: int = 22
    identity_file: str | None = None
    jump_host: str | None = None
    extra_ssh_options: tuple[str, ...] = ()
    commands: Mapping[str, str] = field(factory=dict)
    wake_mac: str | None = None
    wake_command: str | None = None

    @property
    def macs(self) -> tuple[str, ...]:
        """MAC addresses of the host's network cards, for waking it."""
        return tuple(part.strip() for part in (self.wake_mac or "").split(",") if part.strip())

    @property
    def wake_method(self) -> Literal["mac", "command", "none"]:
        """Method used to wake the host. A configured command takes precedence over MAC
        addresses.
        """
        if self.wake_command is not None:
            return "command"
        return "mac" if self.macs else "none"


def check_host(host: RemoteHost) -> RemoteHost:
    """Validate every field of C{host}, and return it.

    @raise ServiceError: 400 naming the field and the rule.
    """
    _check_text("label", host.label, LABEL_LENGTH)
    _check_text("host", host.host, NAME_LENGTH)
    if not _HOST.fullmatch(host.host):
        raise make_field_error("host", "must be a name or an address")
    _check_text("username", host.username, NAME_LENGTH)
    if not _USER.fullmatch(host.username):
        raise make_field_error("username", "must be the name of a user")
    if not 1 <= host.port <= 65535:
        raise make_field_error("port", "must be 1 to 65535")
    if host.identity_file is not None:
        _check_path("identityFile", host.identity_file, home=True)
        if _UNQUOTABLE.search(host.identity_file):
            raise make_field_error(
                "identityFile", 'must not contain ", \\ or ${, which ssh does not support'
            )
    if host.jump_host is not None:
        _check_jumps(host.jump_host)
    _check_options(host.extra_ssh_options)
    if len(host.commands) > MOST_COMMANDS:
        raise make_field_error("commands", f"must have at most {MOST_COMMANDS} entries")
    for command in host.commands.values():
        _check_text("commands", command, COMMAND_LENGTH)
    _check_wake(host)
    return host


def make_host_id(label: str, taken: Mapping[str, Any]) -> str:
    """Return a new host id that is derived from the label.

    @param taken: existing hosts by id. The result is not among them.
    """
    base = make_ascii_slug(label)[:40].rstrip("-") or "host"
    found, number = base, 1
    while found in taken:
        number += 1
        found = f"{base}-{number}"
    return found


def check_remote_path(name: str, text: str) -> str:
    """Validate a remote folder path, and return it. The path is absolute or below the home folder.

    @param name: name of the field, for the error.
    @raise ServiceError: 400 naming C{name}.
    """
    _check_path(name, text, home=True)
    if ".." in text.split("/"):
        raise make_field_error(name, "must not contain ..")
    return text


def _check_text(name: str, text: str, longest: int) -> None:
    if not text or len(text) > longest:
        raise make_field_error(name, f"must have 1 to {longest} characters")
    if text.startswith("-"):
        raise make_field_error(name, "must not start with -")
    if _CONTROL.search(text):
        raise make_field_error(name, "must not contain control characters")


def _check_path(name: str, text: str, *, home: bool) -> None:
    _check_text(name, text, PATH_LENGTH)
    if not text.startswith("/") and not (home and text.startswith("~/")):
        raise make_field_error(
            name, "must be an absolute path" + (", or begin with ~/" if home else "")
        )


def _check_jumps(text: str) -> None:
    _check_text("jumpHost", text, NAME_LENGTH)
    for jump in text.split(","):
        if not _JUMP.fullmatch(jump) or jump.startswith("-"):
            raise make_field_error("jumpHost", "must be user@host:port, several joined by commas")


def _check_options(options: tuple[str, ...]) -> None:
    if len(options) > MOST_OPTIONS:
        raise make_field_error("extraSshOptions", f"must have at most {MOST_OPTIONS} entries")
    for option in options:
        _check_text("extraSshOptions", option, OPTION_LENGTH)
        name, equals, value = option.partition("=")
        if not equals or not value.strip():
            raise make_field_error("extraSshOptions", "each must be KEY=VALUE")
        # ssh accepts blanks and quotes around a name.
        if name.casefold() not in OPTIONS:
            raise make_field_error("extraSshOptions", f"{name} may not be set")


def _check_wake(host: RemoteHost) -> None:
    if host.wake_mac is not None:
        if len(host.wake_mac) > MAC_LENGTH:
            raise make_field_error("wakeMac", f"must have at most {MAC_LENGTH} characters")
        if not 1 <= len(host.macs) <= MOST_MACS or not all(map(_MAC.fullmatch, host.macs)):
            raise make_field_error(
                "wakeMac", f"must be 1 to {MOST_MACS} addresses joined by commas"
            )
    if host.wake_command is not None:
        _check_path("wakeCommand", host.wake_command, home=False)
        if re.search(r"\s", host.wake_command):
            raise make_field_error("wakeCommand", "must be one program, without arguments")
