"""What keeps a container from the machine, and what may be added to it (protocol-containers).

Whoever may add words to C{create} could otherwise undo the fence.  So a word counts only where it
stands in L{CREATE}: what is not known here is refused, whatever an engine makes of it one day.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import NoReturn

from tservice.containers.model import Resources
from tservice.core.errors import invalid

WORKSPACE = "/workspace"
"""Where the workspace is inside."""
HOME = "/home/agent"
"""The home folder inside; a folder of the container's own outside."""
INNER = "/run/tservice"
"""Where the service's own files are inside: the servers' sockets, and what starts them."""

LABEL = "tservice"
"""What labels of ours begin with."""

_OURS = tuple(map(PurePosixPath, (WORKSPACE, HOME, INNER, "/proc", "/sys", "/dev")))
_VOLUME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}", re.ASCII)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.ASCII | re.DOTALL)
_VOLUME_FLAGS = frozenset({"ro", "rw", "z", "Z", "nocopy"})
_MOUNT_SOURCES = frozenset({"source", "src"})
_MOUNT_TARGETS = frozenset({"target", "dst", "destination"})
_MOUNT_FLAGS = frozenset({"readonly", "ro"})

Judge = Callable[[str], str | None]
"""Says what is wrong with a value; C{None}: nothing."""


def fence(resources: Resources, network: str, user: Sequence[str]) -> list[str]:
    """The words of C{create} that make the fence.

    @param user: those that say as whom everything runs inside.
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


def check_words(words: Sequence[str], known: Mapping[str, Judge | None], named: str) -> None:
    """Judge what is added to a command of the engine's.

    @param known: options by name; with C{None} they take no value.
    @raise ServiceError: 400 naming the first word that is not allowed.
    """
    left = list(words)
    while left:
        word = left.pop(0)
        option, joined, value = word.partition("=")
        if "\0" in word or option not in known:
            _refuse(named, option, "may not be added: it is not known to leave the fence whole")
        judge = known[option]
        if judge is None:
            if joined:
                _refuse(named, option, "takes no value")
            continue
        if not joined:
            if not left:
                _refuse(named, option, "needs a value")
            value = left.pop(0)
        fault = judge(value)
        if fault is not None:
            _refuse(named, option, fault)


def _refuse(named: str, option: str, rule: str) -> NoReturn:
    raise invalid(named, f"{option[:64]!r} {rule}")


def _anything(value: str) -> str | None:
    if not value or value.startswith("-") or "\0" in value:
        return "needs a value that begins with no dash"
    return None


def _variable(value: str) -> str | None:
    # A name alone stands for the engine's own variable: the service's.
    if "\0" in value or _VARIABLE.fullmatch(value) is None:
        return "needs NAME=value"
    return None


def _label(value: str) -> str | None:
    if value.startswith(LABEL):
        return "is the service's own"
    return _anything(value)


def _target(path: str) -> str | None:
    """What is wrong with a place to mount something at."""
    # Two slashes in front are another root to posix, and the same to every engine.
    plain = PurePosixPath("/" + path.lstrip("/")) if path.startswith("/") else PurePosixPath(path)
    if not plain.is_absolute() or ".." in plain.parts or plain == PurePosixPath("/"):
        return "needs an absolute path below /"
    if any(plain.is_relative_to(mine) or mine.is_relative_to(plain) for mine in _OURS):
        return f"may not cover {WORKSPACE}, {HOME}, {INNER}, /proc, /sys or /dev"
    return None


def _tmpfs(value: str) -> str | None:
    path, _, flags = value.partition(":")
    if {"suid", "dev"} & set(flags.split(",")):
        return "may have neither suid nor dev"
    return _target(path)


def _volume(value: str) -> str | None:
    parts = value.split(":")
    if len(parts) not in (2, 3) or _VOLUME.fullmatch(parts[0]) is None:
        return "mounts named volumes only: name:/path"
    if not set("".join(parts[2:]).split(",")) <= {*_VOLUME_FLAGS, ""}:
        return f"knows {', '.join(sorted(_VOLUME_FLAGS))}"
    return _target(parts[1])


def _mount(value: str) -> str | None:
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
            # volume-opt could make a volume of any folder of the machine.
            return f"knows no {key[:32]!r}"
    if kind != "volume" or _VOLUME.fullmatch(source) is None:
        return "mounts named volumes only: type=volume,source=name,target=/path"
    return _target(target)


CREATE: Mapping[str, Judge | None] = {
    "--env": _variable,
    "-e": _variable,
    "--label": _label,
    "-l": _label,
    "--volume": _volume,
    "-v": _volume,
    "--mount": _mount,
    "--tmpfs": _tmpfs,
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
        _anything,
    ),
    "--read-only": None,
}
"""What may be added to C{create}."""

EXEC: Mapping[str, Judge | None] = {"--env": _variable, "-e": _variable}
"""What may be added to C{exec}."""


def check_create(words: Sequence[str]) -> None:
    """@raise ServiceError: 400 naming C{extraCreateArgs}."""
    check_words(words, CREATE, "extraCreateArgs")


def check_exec(words: Sequence[str]) -> None:
    """@raise ServiceError: 400 naming C{extraExecArgs}."""
    check_words(words, EXEC, "extraExecArgs")
