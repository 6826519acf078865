"""Construction of ssh command lines. They are run without a shell."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from tservice.hosts.model import RemoteHost

CONNECT_TIMEOUT = 10
ALIVE_EVERY, ALIVE_MISSED = 15, 3
"""Seconds between keepalive messages, and how many may fail: a dead connection is noticed within
50 s."""


@frozen(kw_only=True)
class SshCommand:
    """Paths of the ssh program and of the files that it uses.

    @ivar program: absolute path of ssh.
    @ivar configuration: file made by L{build_configuration}. The user's own ssh configuration is
        not read.
    @ivar sockets: folder of the control sockets.
    @ivar tie: command prefix of a master connection that makes ssh exit together with this process.
    """

    program: str
    configuration: Path
    sockets: Path
    tie: Sequence[str] = ()

    def get_control_socket(self, host: RemoteHost) -> Path:
        """Return the path of the control socket of a host's connection."""
        return self.sockets / f"{host.id}.s"

    def build_master_command(self, host: RemoteHost) -> list[str]:
        """Return the command that opens and holds the connection to a host."""
        return [
            *self.tie,
            *self._common_words(host),
            "-N",
            "-o", "ControlMaster=yes",
            "-o", "ControlPersist=no",
            *self._target_words(host),
        ]  # fmt: skip

    def build_shared_command(self, host: RemoteHost) -> list[str]:
        """Return the ssh command prefix that runs a remote command over the open connection."""
        return [
            *self._common_words(host),
            "-o", "ControlMaster=no",
            # Without a master, ssh would open a separate connection.
            "-o", "ProxyCommand=exit 1",
            "--",
            host.host,
        ]  # fmt: skip

    def build_key_scan_command(self, host: RemoteHost, known: Path) -> list[str]:
        """Return the command that only stores the host's key.

        @param known: an empty file, to which ssh writes the key.
        """
        return [
            self.program,
            "-F", str(self.configuration),
            "-T",
            "-o", "ControlPath=none",
            "-o", "StrictHostKeyChecking=accept-new",
            "-o", f"UserKnownHostsFile={quote_path(known)}",
            "-o", "PreferredAuthentications=none",
            *self._target_words(host),
            "exit",
        ]  # fmt: skip

    def _common_words(self, host: RemoteHost) -> list[str]:
        path = quote_path(self.get_control_socket(host))
        return [self.program, "-F", str(self.configuration), "-T", "-o", f"ControlPath={path}"]

    def _target_words(self, host: RemoteHost) -> list[str]:
        words = [f"-o{option}" for option in host.extra_ssh_options]
        if host.identity_file is not None:
            words += [
                "-o",
                f"IdentityFile={quote_path(host.identity_file)}",
                "-o",
                "IdentitiesOnly=yes",
            ]
        if host.jump_host is not None:
            words += ["-J", host.jump_host]
        return [*words, "-l", host.username, "-p", str(host.port), "--", host.host]


def build_configuration(known: Path) -> str:
    """Return the text of the ssh configuration for every connection, including those to jump hosts.

    @param known: file of trusted host keys.
    """
    lines = (
        "Host *",
        "BatchMode yes",
        f"ConnectTimeout {CONNECT_TIMEOUT}",
        f"ServerAliveInterval {ALIVE_EVERY}",
        f"ServerAliveCountMax {ALIVE_MISSED}",
        "StrictHostKeyChecking yes",
        f"UserKnownHostsFile {quote_path(known)}",
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


def quote_path(path: Path | str) -> str:
    """Return a path quoted for an ssh option. In an option ssh splits words and expands C{%} and
    C{$@{}}.

    @raise ValueError: ssh cannot represent the path.
    """
    text = str(path)
    if '"' in text or "\\" in text or "${" in text:
        raise ValueError(f"ssh cannot take the path {text!r}")
    return '"' + text.replace("%", "%%") + '"'
