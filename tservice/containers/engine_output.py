"""Parsers of the output of container engines.

The tests contain recorded output of docker and podman.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from attrs import frozen

from tservice.containers.isolation import LABEL
from tservice.containers.model import EngineKind

_UNITS = {
    "b": 1,
    **{f"{unit}b": 1000**power for power, unit in enumerate("kmgt", 1)},
    **{f"{unit}ib": 1024**power for power, unit in enumerate("kmgt", 1)},
}
_SIZE = re.compile(r"\s*([0-9.]+)\s*([A-Za-z]+)", re.ASCII)
_START = re.compile(r"\s*")
_ADDRESS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}")
_FRACTION = re.compile(r"(\.\d{1,6})\d*")


_LIMITS = {"memory": "MemoryLimit", "cpus": "CpuCfsQuota", "pids": "PidsLimit"}

TERMINATED = (0, 143)
"""Exit codes of a container that was stopped: its main process handled SIGTERM, or was killed by
it.
"""


class ContainerState(StrEnum):
    """State of a container."""

    CREATED = "created"
    RUNNING = "running"
    PAUSED = "paused"
    RESTARTING = "restarting"
    EXITED = "exited"
    MISSING = "missing"


_STATES = {
    "configured": ContainerState.CREATED,
    "initialized": ContainerState.CREATED,
    "created": ContainerState.CREATED,
    "running": ContainerState.RUNNING,
    "paused": ContainerState.PAUSED,
    "restarting": ContainerState.RESTARTING,
    "removing": ContainerState.EXITED,
    "stopping": ContainerState.EXITED,
    "stopped": ContainerState.EXITED,
    "exited": ContainerState.EXITED,
    "dead": ContainerState.EXITED,
}


@frozen(kw_only=True)
class ContainerSnapshot:
    """State of a container, as its engine reports it.

    @ivar pid: process id of the container's main process on this machine; 0 if it does not run.
    @ivar created: time of creation, Unix milliseconds; C{None} if not reported.
    @ivar oom: true if the memory limit killed a process since the container's start, and the
        container was not stopped after that.
    @ivar labels: labels set by the service, without their prefix.
    @ivar finished: time of the last end, Unix milliseconds; C{None} if not reported.
    @ivar gateway: this machine's address on the container's network; C{None} if there is none, or
        the container does not run.
    """

    id: str
    name: str
    state: ContainerState
    pid: int
    image: str
    created: int | None
    exit_code: int
    oom: bool
    labels: Mapping[str, str]
    gateway: str | None = None
    finished: int | None = None


@frozen(kw_only=True)
class ContainerUsage:
    """Resource usage of a container: bytes of memory, and percent of one processor."""

    memory: int | None
    cpu: float | None
    pids: int | None


@frozen(kw_only=True)
class ContainerEvent:
    """Event of a container, as its engine reports it.

    @ivar action: docker's name of the event: C{die}, C{oom}, C{pause}, C{unpause}, C{start} or
        C{destroy}.
    """

    name: str
    action: str


def iter_json_objects(text: str) -> Iterator[Mapping[str, Any]]:
    """Yield the JSON objects in an engine's output.

    There may be one on each line, one spread over several lines, or lists of them.
    """
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        at = _START.search(text, at).end()  # type: ignore[union-attr]  # it matches nothing, too
        try:
            found, at = decoder.raw_decode(text, at)
        except ValueError:
            # A warning between the objects.
            at = (text.find("\n", at) + 1) or len(text)
            continue
        for each in found if isinstance(found, list) else [found]:
            if isinstance(each, dict):
                yield each


def parse_version(engine: EngineKind, text: str) -> str | None:
    """Return the engine's version; C{None} if the engine does not work.

    Docker's client prints its version even without a server.  podman has only a client if it runs
    containers itself.
    """
    for found in iter_json_objects(text):
        part = found.get("Server") or (found.get("Client") if engine is EngineKind.PODMAN else None)
        if isinstance(part, dict):
            version = part.get("Version")
            return version if isinstance(version, str) and version else None
    return None


def parse_rootless(text: str) -> bool:
    """Return true if the output of C{info} says that the engine runs without root."""
    for found in iter_json_objects(text):
        host = found.get("host")
        if isinstance(host, dict):
            security = host.get("security")
            return isinstance(security, dict) and security.get("rootless") is True
        options = found.get("SecurityOptions") or []
        return any("name=rootless" in str(option).split(",") for option in options)
    return False


def parse_unenforced_limits(text: str) -> tuple[str, ...]:
    """Return the names of resource limits that docker does not enforce, from its C{info}.

    podman has none: it refuses to create such a container.
    """
    for found in iter_json_objects(text):
        return tuple(name for name, told in _LIMITS.items() if found.get(told) is False)
    return ()


def parse_containers(text: str) -> list[ContainerSnapshot]:
    """Parse the output of C{container inspect}, which may describe several containers."""
    return [
        _parse_container(found)
        for found in iter_json_objects(text)
        if isinstance(found.get("State"), dict)
    ]


def parse_image(text: str) -> tuple[str, Mapping[str, str]] | None:
    """Parse the output of C{image inspect}.

    @return: the image's id and the labels set by the service; C{None} if there is no image.
    """
    for found in iter_json_objects(text):
        config = found.get("Config")
        labels = config.get("Labels") if isinstance(config, dict) else None
        return str(found.get("Id", "")), _select_own_labels(labels)
    return None


def parse_usage(text: str) -> ContainerUsage | None:
    """Parse the output of C{stats}.

    The field names of podman differ between versions.
    """
    for found in iter_json_objects(text):
        told = str(found.get("MemUsage") or found.get("mem_usage") or "")
        return ContainerUsage(
            memory=_parse_size(told.partition("/")[0]),
            cpu=_parse_percent(
                found.get("CPUPerc") or found.get("cpu_percent") or found.get("CPU")
            ),
            pids=_parse_int(found.get("PIDs") or found.get("pids")),
        )
    return None


def parse_event(line: str) -> ContainerEvent | None:
    """Parse a line of C{events}; C{None} if it is no event of a container."""
    for found in iter_json_objects(line):
        actor = found.get("Actor")
        attributes = actor.get("Attributes") if isinstance(actor, dict) else None
        named = attributes.get("name") if isinstance(attributes, dict) else found.get("Name")
        action = str(found.get("status") or found.get("Action") or found.get("Status") or "")
        if not isinstance(named, str) or not named:
            return None
        said = {"died": "die", "remove": "destroy", "removed": "destroy"}
        return ContainerEvent(name=named, action=said.get(action, action.partition(":")[0]))
    return None


def _parse_container(found: Mapping[str, Any]) -> ContainerSnapshot:
    told, config = found["State"], found.get("Config") or {}
    state = _STATES.get(str(told.get("Status", "")).lower(), ContainerState.EXITED)
    exit_code = _parse_int(told.get("ExitCode")) or 0
    stopped = state is ContainerState.EXITED and exit_code in TERMINATED
    return ContainerSnapshot(
        id=str(found.get("Id", "")),
        name=str(found.get("Name", "")).removeprefix("/"),
        state=state,
        pid=_parse_int(told.get("Pid")) or 0,
        image=str(config.get("Image") or found.get("ImageName") or ""),
        created=_parse_time(found.get("Created")),
        exit_code=exit_code,
        oom=told.get("OOMKilled") is True and not stopped,
        labels=_select_own_labels(config.get("Labels")),
        gateway=_find_gateway(found.get("NetworkSettings")),
        finished=_parse_time(told.get("FinishedAt")),
    )


def _find_gateway(settings: object) -> str | None:
    # Inspecting the network shows no gateway while its bridge is new.
    networks = settings.get("Networks") if isinstance(settings, dict) else None
    for network in networks.values() if isinstance(networks, dict) else ():
        told = network.get("Gateway") if isinstance(network, dict) else None
        if isinstance(told, str) and _ADDRESS.fullmatch(told):
            return told
    return None


def _select_own_labels(labels: object) -> Mapping[str, str]:
    if not isinstance(labels, dict):
        return {}
    prefix = f"{LABEL}."
    return {
        str(name).removeprefix(prefix): str(value)
        for name, value in labels.items()
        if str(name).startswith(prefix)
    }


def _parse_time(told: object) -> int | None:
    # Nanoseconds do not fit a datetime, and older Pythons do not parse Z.
    text = _FRACTION.sub(r"\1", str(told)).replace("Z", "+00:00")
    try:
        return int(datetime.fromisoformat(text).timestamp() * 1000)
    except ValueError:
        return None


def _parse_size(text: str) -> int | None:
    found = _SIZE.match(text)
    unit = None if found is None else _UNITS.get(found[2].lower())
    if found is None or unit is None:
        return None
    try:
        return int(float(found[1]) * unit)
    except ValueError:
        return None


def _parse_percent(told: object) -> float | None:
    try:
        return float(str(told).rstrip("%"))
    except ValueError:
        return None


def _parse_int(told: object) -> int | None:
    try:
        return int(str(told))
    except ValueError:
        return None
