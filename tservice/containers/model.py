"""Records of container hosts and of the containers of cases, and checks of their settings
(protocol-containers).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from enum import StrEnum

from attrs import evolve, field, frozen

from tservice.core.kernel.errors import make_field_error
from tservice.core.values.text import make_ascii_slug

DEFAULT_HOST = "default"
"""Id of the host of cases that do not specify one."""
DEFAULT_IMAGE = "service/agent:base"
"""Name of the image that is built from the packaged C{Containerfile}."""
MAX_HOSTS = 100
"""Maximum number of container hosts."""
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


class EngineKind(StrEnum):
    """Kind of container engine."""

    DOCKER = "docker"
    PODMAN = "podman"


class CredentialMode(StrEnum):
    """Way in which a container gets the credentials of the CLIs."""

    MOUNTED = "mounted"
    """The service's own, read-only."""
    COPIED = "copied"
    """A copy, made when the container is created."""
    NONE = "none"


@frozen(kw_only=True)
class ResourceLimits:
    """Resource limits of a container.

    @ivar memory: bytes, or a number with a unit such as C{4g}.  There is no swap in addition.
    @ivar cpus: number of processors, possibly a fraction.
    @ivar pids: number of processes and threads.
    """

    memory: str = "4g"
    cpus: float = 2.0
    pids: int = 512


@frozen(kw_only=True)
class ContainerHost:
    """Container engine, and the settings of its containers.

    @ivar context: the engine's name for its endpoint, as for C{docker --context}.
    @ivar network: name of a network of the engine; never the machine's own network.
    @ivar hooks: true if agents' hooks may reach the service, provided the listener is enabled.
    @ivar create_args: additional arguments of C{create}, checked by
        L{tservice.containers.isolation}.
    @ivar exec_args: additional arguments of C{exec}, checked likewise.
    """

    id: str
    label: str
    engine: EngineKind
    image: str
    context: str | None = None
    network: str = "bridge"
    resources: ResourceLimits = field(factory=ResourceLimits)
    credentials: CredentialMode = CredentialMode.MOUNTED
    hooks: bool = True
    create_args: tuple[str, ...] = ()
    exec_args: tuple[str, ...] = ()


@frozen(kw_only=True)
class ContainerCase:
    """Container of a case.

    @ivar owner: account that owns the case; empty in single-user mode.
    @ivar container: name of the container.
    @ivar path: path of the workspace on this machine.
    @ivar image: the case's own image.  For this field and those after it, C{None} means that the
        host's setting applies.
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
    credentials: CredentialMode | None = None


def effective_limits(case: ContainerCase, host: ContainerHost) -> ResourceLimits:
    """Return the limits of a case's container.

    The case's own settings override those of its host.
    """
    whole = host.resources
    return evolve(
        whole,
        memory=whole.memory if case.memory is None else case.memory,
        cpus=whole.cpus if case.cpus is None else case.cpus,
    )


def parse_memory(text: str, named: str = "resources.memory") -> int:
    """Parse a memory size and return it in bytes.

    @param named: the field of the request, for the error.
    @raise ServiceError: 400: the text is no size, or the size is out of range.
    """
    found = _MEMORY.fullmatch(text)
    size = 0 if found is None else int(found[1]) * _UNITS[found[2]]
    if not MEMORY_LEAST <= size <= MEMORY_MOST:
        raise make_field_error(named, "must be a size such as 512m or 4g, from 32m to 64t")
    return size


def check_resources(wish: ResourceLimits, named: str = "resources.") -> ResourceLimits:
    """Return C{wish} unchanged if every limit is in range.

    @param named: prefix of the field names, for the error.
    @raise ServiceError: 400 for the field that is out of range.
    """
    parse_memory(wish.memory, f"{named}memory")
    if not CPUS_LEAST <= wish.cpus <= CPUS_MOST:
        raise make_field_error(f"{named}cpus", f"must be {CPUS_LEAST:g} to {CPUS_MOST:g}")
    if not PIDS_LEAST <= wish.pids <= PIDS_MOST:
        raise make_field_error(f"{named}pids", f"must be {PIDS_LEAST} to {PIDS_MOST}")
    return wish


def check_network(name: str) -> str:
    """Return the name unchanged if it is valid as the name of a network of the engine.

    @raise ServiceError: 400: the name is not valid, or means the network of the machine or of
        another container.
    """
    if _NETWORK.fullmatch(name) is None or name.lower() == "host":
        raise make_field_error(
            "network", "must name a network of the engine, not the machine's own"
        )
    return name


def check_image(name: str) -> str:
    """Return the name unchanged if it is valid as the name of an image.

    @raise ServiceError: 400: the name is not valid.
    """
    if len(name) > IMAGE_LENGTH or _IMAGE.fullmatch(name) is None:
        raise make_field_error(
            "image", f"must name an image, with at most {IMAGE_LENGTH} characters"
        )
    return name


def check_context(name: str | None) -> str | None:
    """Return the name unchanged if it is valid as the name of an engine context.

    @raise ServiceError: 400: the name is not valid.
    """
    if name is not None and _CONTEXT.fullmatch(name) is None:
        raise make_field_error("context", "at most 64 letters, digits, and _ . + -")
    return name


def make_host_id(label: str, taken: Collection[str]) -> str:
    """Return a new host id, made from C{label} and different from the ids in C{taken}."""
    base = make_ascii_slug(label)[:48].rstrip("-") or "host"
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    return name


def make_container_name(case: str, suffix: str = "") -> str:
    """Return the name of a case's container.

    @param suffix: appended if another container has the plain name.
    """
    return f"service-case-{case}" + (f"-{suffix}" if suffix else "")
