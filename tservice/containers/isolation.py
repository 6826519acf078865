"""Options that isolate a container from the machine, and rules for additional engine options
(protocol-containers).

An additional option of C{create} could undo the isolation.  Only options in L{CREATE} are therefore
accepted.  An unknown option is refused, even if a later version of an engine defines it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import NoReturn

from tservice.containers.model import ResourceLimits
from tservice.core.kernel.errors import make_field_error

WORKSPACE = "/workspace"
"""Path of the workspace inside the container."""
HOME = "/home/agent"
"""Path of the home folder inside the container.

This is a mounted folder of this machine that only this container uses.
"""
SERVICE_FOLDER = "/run/tservice"
"""Path of the service's files inside the container.

They are the sockets of tmux servers and the programs that start these servers.
"""

LABEL = "tservice"
"""Prefix of the labels that the service sets."""

_OURS = tuple(map(PurePosixPath, (WORKSPACE, HOME, SERVICE_FOLDER, "/proc", "/sys", "/dev")))
_VOLUME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}", re.ASCII)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.ASCII | re.DOTALL)
_VOLUME_FLAGS = frozenset({"ro", "rw", "z", "Z", "nocopy"})
_MOUNT_SOURCES = frozenset({"source", "src"})
_MOUNT_TARGETS = frozenset({"target", "dst", "destination"})
_MOUNT_FLAGS = frozenset({"readonly", "ro"})

Judge = Callable[[str], str | None]
"""Check of an option's value.

It returns an error text; C{None} if the value is allowed.
"""


def isolation_arguments(resources: ResourceLimits, network: str, user: Sequence[str]) -> list[str]:
    """Return the arguments of C{create} that isolate a container.

    @param user: arguments that set the container's user.
    """
    return [
        "--init",
        *("--cap-drop", "ALL"),
        *("--security-opt", "no-new-privileges"),
        *("--memory", resources.memory),
        *("--memory-swap", resources.memory),
        *("--cpus", f"{resources.cpus:g}"),
        *("--pids-limit", str(resources.pids)),
        *("--network", network),
        *user,
    ]


def check_arguments(words: Sequence[str], known: Mapping[str, Judge | None], named: str) -> None:
    """Check additional arguments of an engine command.

    @param known: allowed options with the check of their value; C{None} for an option without a
        value.
    @param named: the field of the request, for the error.
    @raise ServiceError: 400 that quotes the first argument that is not allowed.
    """
    left = list(words)
    while left:
        word = left.pop(0)
        option, joined, value = word.partition("=")
        if "\0" in word or option not in known:
            _reject_option(
                named, option, "may not be added: it is not known to keep the isolation intact"
            )
        judge = known[option]
        if judge is None:
            if joined:
                _reject_option(named, option, "takes no value")
            continue
        if not joined:
            if not left:
                _reject_option(named, option, "needs a value")
            value = left.pop(0)
        fault = judge(value)
        if fault is not None:
            _reject_option(named, option, fault)


def _reject_option(named: str, option: str, rule: str) -> NoReturn:
    raise make_field_error(named, f"{option[:64]!r} {rule}")


def _check_value(value: str) -> str | None:
    if not value or value.startswith("-") or "\0" in value:
        return "needs a value that does not begin with a dash"
    return None


def _check_variable(value: str) -> str | None:
    # A name without a value would pass the engine's variable, which is the service's.
    if "\0" in value or _VARIABLE.fullmatch(value) is None:
        return "needs NAME=value"
    return None


def _check_label(value: str) -> str | None:
    if value.startswith(LABEL):
        return "is reserved for the service"
    return _check_value(value)


def _check_mount_point(path: str) -> str | None:
    """Return an error text if the path is not allowed as a mount point, otherwise C{None}."""
    # POSIX allows a different root after two leading slashes; engines treat them as one.
    plain = PurePosixPath("/" + path.lstrip("/")) if path.startswith("/") else PurePosixPath(path)
    if not plain.is_absolute() or ".." in plain.parts or plain == PurePosixPath("/"):
        return "needs an absolute path below /"
    if any(plain.is_relative_to(mine) or mine.is_relative_to(plain) for mine in _OURS):
        return f"may not cover {WORKSPACE}, {HOME}, {SERVICE_FOLDER}, /proc, /sys or /dev"
    return None


def _check_tmpfs(value: str) -> str | None:
    path, _, flags = value.partition(":")
    if {"suid", "dev"} & set(flags.split(",")):
        return "may have neither suid nor dev"
    return _check_mount_point(path)


def _check_volume(value: str) -> str | None:
    parts = value.split(":")
    if len(parts) not in (2, 3) or _VOLUME.fullmatch(parts[0]) is None:
        return "mounts named volumes only: name:/path"
    if not set("".join(parts[2:]).split(",")) <= {*_VOLUME_FLAGS, ""}:
        return f"takes only the flags {', '.join(sorted(_VOLUME_FLAGS))}"
    return _check_mount_point(parts[1])


def _check_mount(value: str) -> str | None:
    source = target = kind = ""
    for part in value.split(","):
        key, _, text = part.partition("=")
        if key == "type":
            kind = text
        elif key in _MOUNT_SOURCES:
            source = text
        elif key in _MOUNT_TARGETS:
            target = text
        elif key not in _MOUNT_FLAGS:
            # volume-opt could turn any folder of the machine into a volume.
            return f"does not take {key[:32]!r}"
    if kind != "volume" or _VOLUME.fullmatch(source) is None:
        return "mounts named volumes only: type=volume,source=name,target=/path"
    return _check_mount_point(target)


CREATE: Mapping[str, Judge | None] = {
    "--env": _check_variable,
    "-e": _check_variable,
    "--label": _check_label,
    "-l": _check_label,
    "--volume": _check_volume,
    "-v": _check_volume,
    "--mount": _check_mount,
    "--tmpfs": _check_tmpfs,
    **dict.fromkeys(
        (
            "--add-host",
            "--blkio-weight",
            "--cpu-shares",
            "--cpuset-cpus",
            "--dns",
            "--dns-option",
            "--dns-search",
            "--hostname",
            "-h",
            "--ip",
            "--ip6",
            "--mac-address",
            "--memory-reservation",
            "--network-alias",
            "--platform",
            "--publish",
            "-p",
            "--shm-size",
            "--stop-signal",
            "--stop-timeout",
            "--ulimit",
        ),
        _check_value,
    ),
    "--read-only": None,
}
"""Options that may be added to C{create}."""

EXEC: Mapping[str, Judge | None] = {"--env": _check_variable, "-e": _check_variable}
"""Options that may be added to C{exec}."""


def check_create_arguments(words: Sequence[str]) -> None:
    """Check additional arguments of C{create}.

    @raise ServiceError: 400 for the field C{extraCreateArgs}.
    """
    check_arguments(words, CREATE, "extraCreateArgs")


def check_exec_arguments(words: Sequence[str]) -> None:
    """Check additional arguments of C{exec}.

    @raise ServiceError: 400 for the field C{extraExecArgs}.
    """
    check_arguments(words, EXEC, "extraExecArgs")
