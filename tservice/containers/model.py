"""Hosts of containers, and what a container is made with (protocol-containers).  Pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from enum import StrEnum

from attrs import field, frozen

from tservice.core.errors import invalid
from tservice.core.text import ascii_word

DEFAULT_HOST = "default"
"""The host of cases that name none."""
DEFAULT_IMAGE = "service/agent:base"
"""Built from the packaged C{Containerfile}."""
MOST_HOSTS = 100
"""Hosts; one more is refused."""
LABEL_LENGTH = 64
IMAGE_LENGTH = 255
WORDS_MAX = 64
WORD_LENGTH = 1024

MEMORY_LEAST, MEMORY_MOST = 32 << 20, 1 << 46
CPUS_LEAST, CPUS_MOST = 0.05, 1024.0
PIDS_LEAST, PIDS_MOST = 16, 1_000_000

_MEMORY = re.compile(r"([1-9][0-9]{0,14})([bkmg]?)", re.ASCII)
_UNITS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_NETWORK = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", re.ASCII)
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/@-]*", re.ASCII)
_CONTEXT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,63}", re.ASCII)


class Engine(StrEnum):
    """Whose command line is spoken."""

    DOCKER = "docker"
    PODMAN = "podman"


class Credentials(StrEnum):
    """How a container comes by the credentials of the CLIs."""

    MOUNTED = "mounted"
    """The service's own, read-only."""
    COPIED = "copied"
    """A copy of its own, taken when the container is made."""
    NONE = "none"


@frozen(kw_only=True)
class Resources:
    """What a container may use at most.

    @ivar memory: bytes, or with a unit: C{4g}; swap is none beyond it.
    @ivar cpus: processors.
    @ivar pids: processes and threads.
    """

    memory: str = "4g"
    cpus: float = 2.0
    pids: int = 512


@frozen(kw_only=True)
class ContainerHost:
    """An engine, and how containers are made by it.

    @ivar context: the engine's own name for where it runs: C{docker --context}.
    @ivar network: a network of the engine's, never the machine's own.
    @ivar hooks: hooks of agents may reach the service, where the bridge is open.
    @ivar create_args: further words of C{create}, judged by L{tservice.containers.fence}.
    @ivar exec_args: further words of C{exec}, judged alike.
    """

    id: str
    label: str
    engine: Engine
    image: str
    context: str | None = None
    network: str = "bridge"
    resources: Resources = field(factory=Resources)
    credentials: Credentials = Credentials.MOUNTED
    hooks: bool = True
    create_args: tuple[str, ...] = ()
    exec_args: tuple[str, ...] = ()


@frozen(kw_only=True)
class ContainerCase:
    """The container of a case.

    @ivar owner: empty where there are no accounts.
    @ivar container: its name.
    @ivar path: the workspace on this machine.
    @ivar own: made by its case with settings of its own; C{None}: by the host's.
    """

    owner: str
    name: str
    host_id: str
    container: str
    path: str
    image: str | None = None
    network: str | None = None
    memory: str | None = None
    cpus: float | None = None
    credentials: Credentials | None = None


def memory_bytes(text: str, named: str = "resources.memory") -> int:
    """How many bytes that is.

    @raise ServiceError: 400: it is none, or out of range.
    """
    found = _MEMORY.fullmatch(text)
    size = 0 if found is None else int(found[1]) * _UNITS[found[2]]
    if not MEMORY_LEAST <= size <= MEMORY_MOST:
        raise invalid(named, "a size such as 512m or 4g, 32m to 64t")
    return size


def check_resources(wish: Resources, named: str = "resources.") -> Resources:
    """@raise ServiceError: 400 naming the field."""
    memory_bytes(wish.memory, f"{named}memory")
    if not CPUS_LEAST <= wish.cpus <= CPUS_MOST:
        raise invalid(f"{named}cpus", f"must be {CPUS_LEAST:g} to {CPUS_MOST:g}")
    if not PIDS_LEAST <= wish.pids <= PIDS_MOST:
        raise invalid(f"{named}pids", f"must be {PIDS_LEAST} to {PIDS_MOST}")
    return wish


def check_network(name: str) -> str:
    """A network of the engine's by name.

    @raise ServiceError: 400: the machine's own, another container's, or no name.
    """
    if _NETWORK.fullmatch(name) is None or name.lower() == "host":
        raise invalid("network", "a network of the engine's by name, and not the machine's own")
    return name


def check_image(name: str) -> str:
    """@raise ServiceError: 400: it is no name of an image."""
    if len(name) > IMAGE_LENGTH or _IMAGE.fullmatch(name) is None:
        raise invalid("image", f"the name of an image, at most {IMAGE_LENGTH} characters")
    return name


def check_context(name: str | None) -> str | None:
    """@raise ServiceError: 400: it is no name of a context."""
    if name is not None and _CONTEXT.fullmatch(name) is None:
        raise invalid("context", "at most 64 letters, digits, and _ . + -")
    return name


def id_from(label: str, taken: Collection[str]) -> str:
    """An id made from the label that no other host has."""
    base = ascii_word(label)[:48].rstrip("-") or "host"
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    return name


def container_name(case: str, suffix: str = "") -> str:
    """What the container of a case is called; C{suffix} where somebody else has that name."""
    return f"service-case-{case}" + (f"-{suffix}" if suffix else "")
