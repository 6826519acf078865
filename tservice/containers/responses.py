"""Wire form of container hosts and containers (protocol-containers)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tservice.containers.model import ContainerHost, CredentialMode, ResourceLimits, parse_memory
from tservice.containers.service import ContainerView
from tservice.core.values.payload import Payload, omit_if_none

_CREDENTIAL_VALUES: dict[CredentialMode, bool | Literal["copy"]] = {
    CredentialMode.MOUNTED: True,
    CredentialMode.COPIED: "copy",
    CredentialMode.NONE: False,
}


class ContainerResourcesResponse(Payload):
    """Resource limits of a container."""

    memory: str
    cpus: float
    pids: int


class ContainerHostResponse(Payload):
    """Container engine, and the settings of its containers."""

    id: str
    label: str
    engine: Literal["docker", "podman"]
    image: str
    context: str | None = omit_if_none()
    network: str
    resources: ContainerResourcesResponse
    mount_credentials: bool | Literal["copy"] = Field(
        description=(
            "Credentials of the CLIs: mounted read-only, copied when a container is created, or"
            " neither"
        )
    )
    hooks_enabled: bool
    extra_create_args: list[str]
    extra_exec_args: list[str]


class ContainerHostEnvelope(Payload):
    """Response with a container host."""

    host: ContainerHostResponse


class ContainerLimitsResponse(Payload):
    """Effective limits: bytes, processors, processes."""

    memory: int
    cpus: float
    pids: int


class ContainerUsageResponse(Payload):
    """Current use: bytes, percent of one processor, processes."""

    memory: int | None
    cpu: float | None
    pids: int | None


class ContainerResponse(Payload):
    """Current state of a container. C{missing}: the next start of a session creates it."""

    name: str
    case_name: str
    host_id: str
    state: Literal["created", "running", "paused", "restarting", "exited", "missing"]
    image: str
    network: str
    created: int | None = Field(description="Unix milliseconds")
    exit_code: int | None = omit_if_none(description="Only of a container that ended")
    oom_killed: bool | None = omit_if_none(description="Only of a container that ended")
    limits: ContainerLimitsResponse
    usage: ContainerUsageResponse | None = omit_if_none()
    warnings: list[str] | None = omit_if_none(description="Differences from the requested settings")


class ContainerListResponse(Payload):
    """Containers of a host's cases."""

    containers: list[ContainerResponse]


class BuildLogResponse(Payload):
    """Output of a build: its last 1,000 lines, kept until the service ends."""

    running: bool
    lines: list[str]


def make_host_response(host: ContainerHost) -> ContainerHostResponse:
    """Return the wire form of a host."""
    return ContainerHostResponse(
        id=host.id,
        label=host.label,
        engine=host.engine.value,
        image=host.image,
        context=host.context,
        network=host.network,
        resources=_make_resources_response(host.resources),
        mount_credentials=_CREDENTIAL_VALUES[host.credentials],
        hooks_enabled=host.hooks,
        extra_create_args=list(host.create_args),
        extra_exec_args=list(host.exec_args),
    )


def make_container_response(shown: ContainerView) -> ContainerResponse:
    """Return the wire form of a container."""
    seen, usage = shown.seen, shown.usage
    over = None if seen is None or shown.state.value != "exited" else seen
    limits = shown.resources
    return ContainerResponse(
        name=shown.case.container,
        case_name=shown.case.name,
        host_id=shown.case.host_id,
        state=shown.state.value,
        image=shown.image,
        network=shown.network,
        created=None if seen is None else seen.created,
        exit_code=None if over is None else over.exit_code,
        oom_killed=None if over is None else over.oom,
        limits=ContainerLimitsResponse(
            memory=parse_memory(limits.memory), cpus=limits.cpus, pids=limits.pids
        ),
        usage=None
        if usage is None
        else ContainerUsageResponse(memory=usage.memory, cpu=usage.cpu, pids=usage.pids),
        warnings=list(shown.warnings) or None,
    )


def _make_resources_response(resources: ResourceLimits) -> ContainerResourcesResponse:
    return ContainerResourcesResponse(
        memory=resources.memory, cpus=resources.cpus, pids=resources.pids
    )
