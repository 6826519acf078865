"""Containers: what a program may ask, send and get.  Written by C{make docs}."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from tservice.client.calling import Calling, quoted


class BuildLog(TypedDict):
    """What a build printed: its last 1,000 lines, until the service ends."""

    running: bool
    lines: list[str]


class ContainerDetails(TypedDict):
    """A container as it is now; C{missing}: it is made with the next start of a session."""

    name: str
    caseName: str
    hostId: str
    state: Literal["created", "running", "paused", "restarting", "exited", "missing"]
    image: str
    network: str
    created: int | None
    exitCode: NotRequired[int]
    oomKilled: NotRequired[bool]
    limits: LimitsAnswer
    usage: NotRequired[UsageAnswer]
    warnings: NotRequired[list[str]]


class ContainerHostAnswer(TypedDict):
    """An engine, and how containers are made by it."""

    id: str
    label: str
    engine: Literal["docker", "podman"]
    image: str
    context: NotRequired[str]
    network: str
    resources: ResourcesAnswer
    mountCredentials: bool | Literal["copy"]
    hooksEnabled: bool
    extraCreateArgs: list[str]
    extraExecArgs: list[str]


class ContainerHostBody(TypedDict):
    """An engine, and how containers are made by it."""

    label: str
    engine: Literal["docker", "podman"]
    image: str
    context: NotRequired[str | None]
    network: NotRequired[str]
    resources: NotRequired[ResourcesBody]
    mountCredentials: NotRequired[Literal["copy"] | bool]
    hooksEnabled: NotRequired[bool]
    extraCreateArgs: NotRequired[list[str]]
    extraExecArgs: NotRequired[list[str]]


class ContainersAnswer(TypedDict):
    """The containers of a host's cases."""

    containers: list[ContainerDetails]


class LimitsAnswer(TypedDict):
    """The limits that hold: bytes, processors, processes."""

    memory: int
    cpus: float
    pids: int


class OneContainerHost(TypedDict):
    """A host that was kept."""

    host: ContainerHostAnswer


class ResourcesAnswer(TypedDict):
    """What a container may use at most."""

    memory: str
    cpus: float
    pids: int


class ResourcesBody(TypedDict):
    """What a container may use at most."""

    memory: NotRequired[str]
    cpus: NotRequired[float]
    pids: NotRequired[int]


class UsageAnswer(TypedDict):
    """What is in use: bytes, percent of one processor, processes."""

    memory: int | None
    cpu: float | None
    pids: int | None


class Containers(Calling):
    """Containers."""

    async def get_container_hosts(self) -> list[ContainerHostAnswer]:
        """The container hosts; for others than admins none."""
        found: list[ContainerHostAnswer] = await self.call("GET", "/container-hosts")
        return found

    async def post_container_hosts(self, body: ContainerHostBody) -> OneContainerHost:
        """Add a container host."""
        found: OneContainerHost = await self.call("POST", "/container-hosts", body=body)
        return found

    async def put_container_hosts_id(self, id: str, body: ContainerHostBody) -> OneContainerHost:
        """Replace all of a container host but its id."""
        found: OneContainerHost = await self.call(
            "PUT", f"/container-hosts/{quoted(id)}", body=body
        )
        return found

    async def delete_container_hosts_id(self, id: str) -> dict[str, Any]:
        """Forget a container host that no case uses."""
        found: dict[str, Any] = await self.call("DELETE", f"/container-hosts/{quoted(id)}")
        return found

    async def get_container_hosts_id_containers(self, id: str) -> ContainersAnswer:
        """The containers of its cases."""
        found: ContainersAnswer = await self.call(
            "GET", f"/container-hosts/{quoted(id)}/containers"
        )
        return found

    async def post_container_hosts_id_build(self, id: str) -> dict[str, Any]:
        """Build the packaged image anew."""
        found: dict[str, Any] = await self.call("POST", f"/container-hosts/{quoted(id)}/build")
        return found

    async def post_container_hosts_id_build_cancel(self, id: str) -> dict[str, Any]:
        """End a build."""
        found: dict[str, Any] = await self.call(
            "POST", f"/container-hosts/{quoted(id)}/build/cancel"
        )
        return found

    async def get_container_hosts_id_build_log(self, id: str) -> BuildLog:
        """What the last build printed."""
        found: BuildLog = await self.call("GET", f"/container-hosts/{quoted(id)}/build/log")
        return found

    async def get_cases_name_container(self, name: str) -> ContainerDetails:
        """The container of a case as it is now."""
        found: ContainerDetails = await self.call("GET", f"/cases/{quoted(name)}/container")
        return found

    async def post_cases_name_container_recreate(self, name: str) -> ContainerDetails:
        """Make the container of a case anew; its home folder stays."""
        found: ContainerDetails = await self.call(
            "POST", f"/cases/{quoted(name)}/container/recreate"
        )
        return found
