"""Routes below C{/api/container-hosts}, and for the containers of cases (protocol-containers)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

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
from tservice.core.errors import ErrorCode
from tservice.core.event_payloads import EmptyPayload
from tservice.core.failfast import FAIL_FAST
from tservice.http.models import RequestBody
from tservice.http.operations import AccessRule, Handler, Operation, OperationCall, Scope

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


class ContainerRoutes:
    """Routes of container hosts and containers; the rules are in L{ContainerService}.

    @param multiuser: true if each case belongs to an account.
    """

    def __init__(self, service: ContainerService, multiuser: bool) -> None:
        self._service, self._multiuser = service, multiuser

    def operations(self) -> list[Operation]:
        """Return the HTTP operations that this class handles."""
        hosts, one = "/api/container-hosts", "/api/container-hosts/{id}"
        box = "/api/cases/{name}/container"
        return [
            _make_operation("GET", hosts, self.list_hosts,
                "List the container hosts; empty unless you are an admin",
                       list[ContainerHostResponse], access=AccessRule.USER),
            _make_operation("POST", hosts, self.add_host, "Add a container host",
                            ContainerHostEnvelope,
                       body=ContainerHostBody),
            _make_operation("PUT", one, self.replace_host,
                            "Replace a container host, except its id",
                       ContainerHostEnvelope, body=ContainerHostBody),
            _make_operation("DELETE", one, self.remove_host,
                            "Remove a container host that no case uses",
                       EmptyPayload),
            _make_operation("GET", f"{one}/containers", self.list_containers,
                "List the containers of the host's cases",
                       ContainerListResponse),
            _make_operation("POST", f"{one}/build", self.build_image, "Rebuild the packaged image",
                       EmptyPayload),
            _make_operation("POST", f"{one}/build/cancel", self.cancel_build, "Cancel a build",
                            EmptyPayload),
            _make_operation("GET", f"{one}/build/log", self.get_build_log,
                            "Get the output of the last build",
                       BuildLogResponse),
            _make_operation("GET", box, self.get_container,
                            "Get the current state of a case's container",
                       ContainerResponse, access=AccessRule.USER, scope=Scope.SESSIONS_READ),
            _make_operation("POST", f"{box}/recreate", self.recreate_container,
                       "Recreate the container of a case; its home folder stays",
                       ContainerResponse, errors=(ErrorCode.SESSION_BUSY,)),
        ]  # fmt: skip

    async def list_hosts(self, call: OperationCall) -> object:
        """List the container hosts."""
        found = self._service.list_hosts() if call.identity.admin else ()
        return [make_host_response(host) for host in found]

    async def add_host(self, call: OperationCall) -> object:
        """Add a container host."""
        return ContainerHostEnvelope(
            host=make_host_response(self._service.add_host(call.body.to_record()))
        )

    async def replace_host(self, call: OperationCall) -> object:
        """Replace a container host."""
        host = self._service.replace_host(call.body.to_record(call.path["id"]))
        return ContainerHostEnvelope(host=make_host_response(host))

    async def remove_host(self, call: OperationCall) -> object:
        """Remove a container host."""
        self._service.remove_host(call.path["id"])
        return EmptyPayload()

    async def list_containers(self, call: OperationCall) -> object:
        """List the containers of a host."""
        found = await self._service.list_containers(call.path["id"])
        return ContainerListResponse(containers=[make_container_response(each) for each in found])

    async def build_image(self, call: OperationCall) -> object:
        """Build the packaged image; answers after the build."""
        await self._service.build_image(call.path["id"])
        return EmptyPayload()

    async def cancel_build(self, call: OperationCall) -> object:
        """Cancel a build."""
        self._service.cancel_build(call.path["id"])
        return EmptyPayload()

    async def get_build_log(self, call: OperationCall) -> object:
        """Return the last lines of the last build."""
        running, lines = self._service.get_build_log(call.path["id"])
        return BuildLogResponse(running=running, lines=lines)

    async def get_container(self, call: OperationCall) -> object:
        """Show the container of a case."""
        owner = self._case_owner(call)
        shown = await self._service.get_container(owner, call.path["name"], call.identity)
        return make_container_response(shown)

    async def recreate_container(self, call: OperationCall) -> object:
        """Create the container of a case again."""
        owner = self._case_owner(call)
        shown = await self._service.recreate_container(owner, call.path["name"], call.reauthorize)
        return make_container_response(shown)

    def _case_owner(self, call: OperationCall) -> str:
        """Return the owner under which the caller's cases are stored."""
        return call.identity.username if self._multiuser else ""


def _make_operation(
    method: str,
    path: str,
    handler: Handler,
    summary: str,
    answer: Any,
    *,
    access: AccessRule = AccessRule.ADMIN,
    scope: Scope = Scope.ADMIN,
    body: type[RequestBody] | None = None,
    errors: tuple[ErrorCode, ...] = (),
) -> Operation:
    return Operation(
        method=method,
        path=path,
        access=access,
        scope=scope,
        handler=handler,
        summary=summary,
        tag="Containers",
        body=body,
        response_model=answer,
        errors=(ErrorCode.NOT_FOUND, ErrorCode.OPERATION_FAILED, *errors),
    )
