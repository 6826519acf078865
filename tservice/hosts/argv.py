"""The words of ssh.  Pure: every word is one of a list, and no shell reads them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from tservice.hosts.model import RemoteHost

CONNECT_TIMEOUT = 10
ALIVE_EVERY, ALIVE_MISSED = 15, 3
"""Seconds between two signs of life, and how many may fail: a dead connection is noticed within
50 s."""


@frozen(kw_only=True)
class Ssh:
    """Where the program and its files are.

    @ivar program: absolute path.
    @ivar configuration: the file of L{configuration}; the user's own is not read.
    @ivar sockets: the folder of the connections.
    @ivar tie: the words before what holds a connection, which ends with this process by them.
    """

    program: str
    configuration: Path
    sockets: Path
    tie: Sequence[str] = ()

    def socket(self, host: RemoteHost) -> Path:
        """Where the connection to a host is shared."""
        return self.sockets / f"{host.id}.s"

    def master(self, host: RemoteHost) -> list[str]:
        """What holds the connection."""
        return [
            *self.tie,
            *self._begin(host),
            "-N",
            "-o", "ControlMaster=yes",
            "-o", "ControlPersist=no",
            *self._target(host),
        ]  # fmt: skip

    def shared(self, host: RemoteHost) -> list[str]:
        """The words before what is run over the connection, which must be there."""
        return [
            *self._begin(host),
            "-o", "ControlMaster=no",
            # Where there is none it would make one of its own.
            "-o", "ProxyCommand=exit 1",
            "--",
            host.host,
        ]  # fmt: skip

    def knock(self, host: RemoteHost, known: Path) -> list[str]:
        """What has the host's key noted in C{known}, an empty file, and does no more."""
        return [
            self.program,
            "-F", str(self.configuration),
            "-T",
            "-o", "ControlPath=none",
            "-o", "StrictHostKeyChecking=accept-new",
            "-o", f"UserKnownHostsFile={quoted(known)}",
            "-o", "PreferredAuthentications=none",
            *self._target(host),
            "exit",
        ]  # fmt: skip

    def _begin(self, host: RemoteHost) -> list[str]:
        path = quoted(self.socket(host))
        return [self.program, "-F", str(self.configuration), "-T", "-o", f"ControlPath={path}"]

    def _target(self, host: RemoteHost) -> list[str]:
        words = [f"-o{option}" for option in host.extra_ssh_options]
        if host.identity_file is not None:
            words += [
                "-o",
                f"IdentityFile={quoted(host.identity_file)}",
                "-o",
                "IdentitiesOnly=yes",
            ]
        if host.jump_host is not None:
            words += ["-J", host.jump_host]
        return [*words, "-l", host.username, "-p", str(host.port), "--", host.host]


def configuration(known: Path) -> str:
    """What holds for every connection, those to jump hosts too.

    @param known: the file of the host keys that people trust.
    """
    lines = (
        "Host *",
        "BatchMode yes",
        f"ConnectTimeout {CONNECT_TIMEOUT}",
        f"ServerAliveInterval {ALIVE_EVERY}",
        f"ServerAliveCountMax {ALIVE_MISSED}",
        "StrictHostKeyChecking yes",
        f"UserKnownHostsFile {quoted(known)}",
        "GlobalKnownHostsFile none",
        "UpdateHostKeys no",
        "HashKnownHosts no",
        "CheckHostIP no",
        "VerifyHostKeyDNS no",
        "ForwardAgent no",
        "ForwardX11 no",
        "ClearAllForwardings yes",
        "PermitLocalCommand no",
        "EscapeChar none",
        "LogLevel ERROR",
    )
    return "\n".join(lines) + "\n"


def quoted(path: Path | str) -> str:
    """A path as a value of ssh's, which divides words and fills in C{%} and C{$@{}}.

    @raise ValueError: ssh has no way to write it.
    """
    text = str(path)
    if '"' in text or "\\" in text or "${" in text:
        raise ValueError(f"ssh cannot take the path {text!r}")
    return '"' + text.replace("%", "%%") + '"'
