"""Routes below C{/api/container-hosts}, and for the containers of cases (protocol-containers)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from tservice.containers.model import (
    IMAGE_LENGTH,
    LABEL_LENGTH,
    WORD_LENGTH,
    WORDS_MAX,
    ContainerHost,
    CredentialMode,
    EngineKind,
    ResourceLimits,
)
from tservice.containers.responses import (
    BuildLogResponse,
    ContainerHostEnvelope,
    ContainerHostResponse,
    ContainerListResponse,
    ContainerResponse,
    make_container_response,
    make_host_response,
)
from tservice.containers.service import ContainerService
from tservice.core.kernel.errors import ErrorCode
from tservice.core.kernel.event_payloads import EmptyPayload
from tservice.core.values.failfast import FAIL_FAST
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, OperationCall, Scope
from tservice.http.validation.models import RequestBody

Word = Annotated[str, StringConstraints(max_length=WORD_LENGTH)]
Words = Annotated[list[Word], Field(max_length=WORDS_MAX), FAIL_FAST]

CREDENTIAL_MODES = {
    True: CredentialMode.MOUNTED,
    "copy": CredentialMode.COPIED,
    False: CredentialMode.NONE,
}
"""Credential mode for each value of the request field C{mountCredentials}."""


class ContainerResourcesBody(RequestBody):
    """Resource limits of a container."""

    memory: Annotated[str, StringConstraints(max_length=20)] = "4g"
    cpus: float = 2.0
    pids: int = 512


class ContainerHostBody(RequestBody):
    """Container engine, and the settings of its containers."""

    label: Annotated[str, StringConstraints(min_length=1, max_length=LABEL_LENGTH)]
    engine: Literal["docker", "podman"]
    image: Annotated[str, StringConstraints(min_length=1, max_length=IMAGE_LENGTH)]
    context: Annotated[str, StringConstraints(max_length=64)] | None = None
    network: Annotated[str, StringConstraints(max_length=64)] = "bridge"
    resources: ContainerResourcesBody = Field(default_factory=ContainerResourcesBody)
    mount_credentials: Literal["copy"] | bool = True
    hooks_enabled: bool = True
    extra_create_args: Words = Field(default_factory=list)
    extra_exec_args: Words = Field(default_factory=list)

    def to_record(self, host_id: str = "") -> ContainerHost:
        """Return the body as the record of a host."""
        wanted = self.resources
        return ContainerHost(
            id=host_id,
            label=self.label,
            engine=EngineKind(self.engine),
            image=self.image,
            context=self.context,
            network=self.network,
            resources=ResourceLimits(memory=wanted.memory, cpus=wanted.cpus, pids=wanted.pids),
            credentials=CREDENTIAL_MODES[self.mount_credentials],
            hooks=self.hooks_enabled,
            create_args=tuple(self.extra_create_args),
            exec_args=tuple(self.extra_exec_args),
        )


_READS = OperationFields(
    tag="Containers",
    access=AccessRule.ADMIN,
    scope=Scope.ADMIN,
    scope_reason=(
        "Reads how containers are created, the list of containers, and the output of a build."
    ),
    errors=(ErrorCode.NOT_FOUND, ErrorCode.OPERATION_FAILED),
)
_CHANGES = OperationFields(
    tag="Containers",
    access=AccessRule.ADMIN,
    scope=Scope.ADMIN,
    scope_reason=(
        "Sets how containers are created, within fixed limits, and lets an engine "
        "build and fetch images."
    ),
    errors=(ErrorCode.NOT_FOUND, ErrorCode.OPERATION_FAILED),
)


class ContainerRoutes:
    """Routes of container hosts and containers; the rules are in L{ContainerService}.

    @param multiuser: true if each case belongs to an account.
    """

    def __init__(self, service: ContainerService, multiuser: bool) -> None:
        self._service, self._multiuser = service, multiuser

    @operation("GET", "/api/container-hosts", _READS, access=AccessRule.USER)
    async def list_hosts(self, call: OperationCall) -> list[ContainerHostResponse]:
        """List the container hosts; empty unless you are an admin."""
        found = self._service.list_hosts() if call.caller.admin else ()
        return [make_host_response(host) for host in found]

    @operation("POST", "/api/container-hosts", _CHANGES)
    async def add_host(self, call: OperationCall, body: ContainerHostBody) -> ContainerHostEnvelope:
        """Add a container host."""
        return ContainerHostEnvelope(
            host=make_host_response(self._service.add_host(body.to_record()))
        )

    @operation("PUT", "/api/container-hosts/{id}", _CHANGES)
    async def replace_host(
        self, call: OperationCall, body: ContainerHostBody
    ) -> ContainerHostEnvelope:
        """Replace a container host, except its id."""
        host = self._service.replace_host(body.to_record(call.path["id"]))
        return ContainerHostEnvelope(host=make_host_response(host))

    @operation("DELETE", "/api/container-hosts/{id}", _CHANGES)
    async def remove_host(self, call: OperationCall) -> EmptyPayload:
        """Remove a container host that no case uses."""
        self._service.remove_host(call.path["id"])
        return EmptyPayload()

    @operation("GET", "/api/container-hosts/{id}/containers", _READS)
    async def list_containers(self, call: OperationCall) -> ContainerListResponse:
        """List the containers of the host's cases."""
        found = await self._service.list_containers(call.path["id"])
        return ContainerListResponse(containers=[make_container_response(each) for each in found])

    @operation("POST", "/api/container-hosts/{id}/build", _CHANGES)
    async def build_image(self, call: OperationCall) -> EmptyPayload:
        """Rebuild the packaged image."""
        await self._service.build_image(call.path["id"])
        return EmptyPayload()

    @operation("POST", "/api/container-hosts/{id}/build/cancel", _CHANGES)
    async def cancel_build(self, call: OperationCall) -> EmptyPayload:
        """Cancel a build."""
        self._service.cancel_build(call.path["id"])
        return EmptyPayload()

    @operation("GET", "/api/container-hosts/{id}/build/log", _READS)
    async def get_build_log(self, call: OperationCall) -> BuildLogResponse:
        """Get the output of the last build."""
        running, lines = self._service.get_build_log(call.path["id"])
        return BuildLogResponse(running=running, lines=lines)

    @operation(
        "GET",
        "/api/cases/{name}/container",
        _READS,
        access=AccessRule.USER,
        scope=Scope.SESSIONS_READ,
        scope_reason="Reads the settings and the resource use of a case's container.",
    )
    async def get_container(self, call: OperationCall) -> ContainerResponse:
        """Get the current state of a case's container."""
        owner = self._case_owner(call)
        shown = await self._service.get_container(owner, call.path["name"], call.caller)
        return make_container_response(shown)

    @operation(
        "POST", "/api/cases/{name}/container/recreate", _CHANGES, errors=(ErrorCode.SESSION_BUSY,)
    )
    async def recreate_container(self, call: OperationCall) -> ContainerResponse:
        """Recreate the container of a case; its home folder stays."""
        owner = self._case_owner(call)
        shown = await self._service.recreate_container(owner, call.path["name"], call.caller)
        return make_container_response(shown)

    def _case_owner(self, call: OperationCall) -> str:
        """Return the owner under which the caller's cases are stored."""
        return call.caller.username if self._multiuser else ""
