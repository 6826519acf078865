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
    Credentials,
    Engine,
    Resources,
)
from tservice.containers.service import ContainerService
from tservice.containers.shown import (
    BuildLog,
    ContainerDetails,
    ContainerHostAnswer,
    ContainersAnswer,
    OneContainerHost,
    container_answer,
    host_answer,
)
from tservice.core.errors import ErrorCode
from tservice.core.event_payloads import EmptyPayload
from tservice.core.failfast import FAIL_FAST
from tservice.http.models import RequestBody
from tservice.http.operations import AccessRule, Handler, Operation, OperationCall, Scope

Word = Annotated[str, StringConstraints(max_length=WORD_LENGTH)]
Words = Annotated[list[Word], Field(max_length=WORDS_MAX), FAIL_FAST]

HOW = {True: Credentials.MOUNTED, "copy": Credentials.COPIED, False: Credentials.NONE}
"""Meaning of the values of C{mountCredentials}."""


class ResourcesBody(RequestBody):
    """What a container may use at most."""

    memory: Annotated[str, StringConstraints(max_length=20)] = "4g"
    cpus: float = 2.0
    pids: int = 512


class ContainerHostBody(RequestBody):
    """An engine, and how containers are made by it."""

    label: Annotated[str, StringConstraints(min_length=1, max_length=LABEL_LENGTH)]
    engine: Literal["docker", "podman"]
    image: Annotated[str, StringConstraints(min_length=1, max_length=IMAGE_LENGTH)]
    context: Annotated[str, StringConstraints(max_length=64)] | None = None
    network: Annotated[str, StringConstraints(max_length=64)] = "bridge"
    resources: ResourcesBody = Field(default_factory=ResourcesBody)
    mount_credentials: Literal["copy"] | bool = True
    hooks_enabled: bool = True
    extra_create_args: Words = Field(default_factory=list)
    extra_exec_args: Words = Field(default_factory=list)

    def record(self, host_id: str = "") -> ContainerHost:
        """Return the body as a record."""
        wanted = self.resources
        return ContainerHost(
            id=host_id,
            label=self.label,
            engine=Engine(self.engine),
            image=self.image,
            context=self.context,
            network=self.network,
            resources=Resources(memory=wanted.memory, cpus=wanted.cpus, pids=wanted.pids),
            credentials=HOW[self.mount_credentials],
            hooks=self.hooks_enabled,
            create_args=tuple(self.extra_create_args),
            exec_args=tuple(self.extra_exec_args),
        )


class ContainerRoutes:
    """Routes of container hosts and containers; the rules are in L{ContainerService}.

    @param multiuser: each case belongs to an account.
    """

    def __init__(self, service: ContainerService, multiuser: bool) -> None:
        self._service, self._multiuser = service, multiuser

    def operations(self) -> list[Operation]:
        """Return the operations."""
        hosts, one = "/api/container-hosts", "/api/container-hosts/{id}"
        box = "/api/cases/{name}/container"
        return [
            _operation("GET", hosts, self.list, "The container hosts; for others than admins none",
                       list[ContainerHostAnswer], access=AccessRule.USER),
            _operation("POST", hosts, self.add, "Add a container host", OneContainerHost,
                       body=ContainerHostBody),
            _operation("PUT", one, self.replace, "Replace all of a container host but its id",
                       OneContainerHost, body=ContainerHostBody),
            _operation("DELETE", one, self.remove, "Forget a container host that no case uses",
                       EmptyPayload),
            _operation("GET", f"{one}/containers", self.containers, "The containers of its cases",
                       ContainersAnswer),
            _operation("POST", f"{one}/build", self.build, "Build the packaged image anew",
                       EmptyPayload),
            _operation("POST", f"{one}/build/cancel", self.cancel, "End a build", EmptyPayload),
            _operation("GET", f"{one}/build/log", self.log, "What the last build printed",
                       BuildLog),
            _operation("GET", box, self.show, "The container of a case as it is now",
                       ContainerDetails, access=AccessRule.USER, scope=Scope.SESSIONS_READ),
            _operation("POST", f"{box}/recreate", self.recreate,
                       "Make the container of a case anew; its home folder stays",
                       ContainerDetails, errors=(ErrorCode.SESSION_BUSY,)),
        ]  # fmt: skip

    async def list(self, call: OperationCall) -> object:
        """List the container hosts."""
        found = self._service.hosts() if call.identity.admin else ()
        return [host_answer(host) for host in found]

    async def add(self, call: OperationCall) -> object:
        """Add a container host."""
        return OneContainerHost(host=host_answer(self._service.add_host(call.body.record())))

    async def replace(self, call: OperationCall) -> object:
        """Replace a container host."""
        host = self._service.replace_host(call.body.record(call.path["id"]))
        return OneContainerHost(host=host_answer(host))

    async def remove(self, call: OperationCall) -> object:
        """Remove a container host."""
        self._service.remove_host(call.path["id"])
        return EmptyPayload()

    async def containers(self, call: OperationCall) -> object:
        """List the containers of a host."""
        found = await self._service.containers(call.path["id"])
        return ContainersAnswer(containers=[container_answer(each) for each in found])

    async def build(self, call: OperationCall) -> object:
        """Build the packaged image; answers after the build."""
        await self._service.build(call.path["id"])
        return EmptyPayload()

    async def cancel(self, call: OperationCall) -> object:
        """Cancel a build."""
        self._service.cancel_build(call.path["id"])
        return EmptyPayload()

    async def log(self, call: OperationCall) -> object:
        """Return the last lines of the last build."""
        running, lines = self._service.build_log(call.path["id"])
        return BuildLog(running=running, lines=lines)

    async def show(self, call: OperationCall) -> object:
        """Show the container of a case."""
        owner = self._owner(call)
        shown = await self._service.show(owner, call.path["name"], call.identity)
        return container_answer(shown)

    async def recreate(self, call: OperationCall) -> object:
        """Create the container of a case again."""
        owner = self._owner(call)
        shown = await self._service.recreate(owner, call.path["name"], call.reauthorize)
        return container_answer(shown)

    def _owner(self, call: OperationCall) -> str:
        """Return the owner under which the caller's cases are stored."""
        return call.identity.username if self._multiuser else ""


def _operation(
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
