"""Service for container hosts and the containers of cases (protocol-containers)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from attrs import frozen
from twisted.internet.defer import Deferred, gatherResults

from tservice.cases.interfaces import CaseContainer, ContainerSettings
from tservice.containers.command_runner import EngineProcessRunner
from tservice.containers.engine import EngineError, to_service_error
from tservice.containers.engine_output import ContainerSnapshot, ContainerState, ContainerUsage
from tservice.containers.folders import is_mountable
from tservice.containers.host_registry import ContainerHostRegistry
from tservice.containers.images import ImageBuilder
from tservice.containers.isolation import WORKSPACE, check_create_arguments, check_exec_arguments
from tservice.containers.location import get_case_location
from tservice.containers.model import (
    ContainerCase,
    ContainerHost,
    CredentialMode,
    ResourceLimits,
    check_context,
    check_image,
    check_network,
    check_resources,
    effective_limits,
    parse_memory,
)
from tservice.containers.registry import ContainerRegistry
from tservice.containers.store import ContainerStore
from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_field_error,
    make_not_found_error,
)
from tservice.sessions.interfaces import ISessions


@frozen(kw_only=True)
class ContainerView:
    """Container of a case with its current state.

    @ivar seen: state reported by the engine; C{None} if the container does not exist.
    @ivar usage: resource usage; C{None} if the container does not run, or the engine reports none.
    @ivar warnings: differences from the requested configuration, as sentences.
    """

    case: ContainerCase
    image: str
    network: str
    resources: ResourceLimits
    seen: ContainerSnapshot | None
    usage: ContainerUsage | None
    warnings: tuple[str, ...] = ()

    @property
    def state(self) -> ContainerState:
        """State of the container."""
        return ContainerState.MISSING if self.seen is None else self.seen.state


class ContainerService:
    """Implementation of L{tservice.cases.interfaces.CaseContainers}, with further methods for the
    routes.

    @param sessions: returns the sessions.  It is not called before the first request.
    """

    def __init__(
        self,
        *,
        store: ContainerStore,
        hosts: ContainerHostRegistry,
        images: ImageBuilder,
        boxes: ContainerRegistry,
        runner: EngineProcessRunner,
        sessions: Callable[[], ISessions],
    ) -> None:
        self._store, self._hosts, self._images = store, hosts, images
        self._boxes, self._runner, self._sessions = boxes, runner, sessions

    def stop(self) -> Deferred[list[None]]:
        """Kill the running engine commands.  Containers keep running."""
        return gatherResults([*self._images.stop(), self._runner.stop()])

    # -- IContainers

    def find_container(self, owner: str, name: str) -> CaseContainer | None:
        case = self._store.find_case(owner, name)
        host = None if case is None else self._store.find_host(case.host_id)
        if case is None or host is None:
            return None
        return CaseContainer(
            host_id=host.id,
            engine=host.engine.value,
            name=case.container,
            workdir=WORKSPACE,
            warnings=self._boxes.get_warnings(case.container),
        )

    def list_folders(self) -> Iterable[str]:
        return [case.path for case in self._store.list_cases()]

    def check_settings(self, wish: ContainerSettings) -> None:
        self._get_host(wish)
        if wish.image is not None:
            check_image(wish.image)
        if wish.network is not None:
            check_network(wish.network)
        if wish.memory is not None:
            parse_memory(wish.memory, "memory")
        if wish.cpus is not None:
            check_resources(ResourceLimits(cpus=wish.cpus), "")

    async def create_container(
        self, owner: str, name: str, path: str, wish: ContainerSettings, caller: Caller
    ) -> None:
        if not is_mountable(path):
            raise make_field_error(
                "path", "must not hold a comma, quote or line break for a container"
            )
        host = self._get_host(wish)
        case = ContainerCase(
            owner=owner,
            name=name,
            host_id=host.id,
            container=await self._boxes.choose_free_name(host, name),
            path=path,
            image=wish.image,
            network=wish.network,
            memory=wish.memory,
            cpus=wish.cpus,
            credentials=None if wish.credentials is None else CredentialMode(wish.credentials),
        )
        self._store.save_case(case)
        try:
            await self._boxes.ensure_running(case)
            caller.reauthorize()
        except Exception:
            await self._remove_container(case)
            raise

    async def remove_container(self, owner: str, name: str) -> None:
        case = self._store.find_case(owner, name)
        if case is not None:
            await self._remove_container(case)

    async def _remove_container(self, case: ContainerCase) -> None:
        await self._boxes.remove_container(case)
        self._store.delete_case(case.container)

    def _get_host(self, wish: ContainerSettings) -> ContainerHost:
        if wish.host_id is None:
            return self._hosts.get_default()
        return self._hosts.get(wish.host_id)

    # -- hosts

    def list_hosts(self) -> Sequence[ContainerHost]:
        """Return all container hosts."""
        return self._hosts.list_hosts()

    def add_host(self, host: ContainerHost) -> ContainerHost:
        """Check and add a host.

        @raise ServiceError: 400: a setting is not valid; 422: there are too many hosts.
        """
        return self._hosts.add(check_host(host))

    def replace_host(self, host: ContainerHost) -> ContainerHost:
        """Check and replace the record of a host.

        @raise ServiceError: 400: a setting is not valid; 404: there is no such host; 422: the
            engine would change although cases use the host.
        """
        before = self._hosts.get(host.id)
        if (before.engine, before.context) != (host.engine, host.context):
            self._hosts.refuse_if_host_has_cases(host.id)
        return self._hosts.replace_host(check_host(host))

    def remove_host(self, host_id: str) -> None:
        """Remove a host.

        @raise ServiceError: 404: there is no such host; 422: a case uses it.
        """
        self._hosts.remove(host_id)
        self._images.forget_host(host_id)

    async def list_containers(self, host_id: str) -> list[ContainerView]:
        """Return the containers of a host's cases.

        @raise ServiceError: 404: there is no such host; 422: the engine does not respond.
        """
        host = self._hosts.get(host_id)
        cases = [case for case in self._store.list_cases() if case.host_id == host.id]
        return [await self._inspect_case(case, host) for case in cases]

    async def build_image(self, host_id: str) -> None:
        """Build the packaged image, even if it already exists.

        @raise ServiceError: 404: there is no such host; 422: the build failed.
        """
        host = self._hosts.get(host_id)
        try:
            await self._images.build_image(host, self._hosts.get_engine(host))
        except EngineError as error:
            raise to_service_error(error, "the image was not built") from error

    def cancel_build(self, host_id: str) -> None:
        """Cancel the running build of a host.

        @raise ServiceError: 404: there is no such host, or no running build.
        """
        self._images.cancel_build(self._hosts.get(host_id).id)

    def get_build_log(self, host_id: str) -> tuple[bool, list[str]]:
        """Return true if a build is running, and the output of the latest build.

        @raise ServiceError: 404: there is no such host.
        """
        return self._images.get_log(self._hosts.get(host_id).id)

    # -- containers of cases

    async def get_container(self, owner: str, name: str, caller: Identity) -> ContainerView:
        """Return the container of a case with its current state.

        @raise ServiceError: 404: the case has no container, or the caller's token is limited to
            sessions outside of it; 422: the engine does not respond.
        """
        case = self._get_case(owner, name)
        if caller.sessions is not None:
            places = [each.location_id for each in self._sessions().list(caller)]
            if get_case_location(case) not in places:
                raise make_not_found_error(f"The container of {name}")
        return await self._get_current(case)

    async def _get_current(self, case: ContainerCase) -> ContainerView:
        host = self._hosts.get(case.host_id)
        shown = await self._inspect_case(case, host)
        if shown.state is not ContainerState.RUNNING:
            return shown
        await self._boxes.probe_contents(case)
        usage = None
        if self._boxes.has_own_usage(case.container):
            usage = await self._hosts.get_engine(host).get_usage(case.container)
        return self._make_view(case, host, shown.seen, usage)

    async def recreate_container(self, owner: str, name: str, caller: Caller) -> ContainerView:
        """Remove the container of a case and create it again.

        @param caller: authorized again after waiting for other operations on
            the container.
        @raise ServiceError: 404: the case has no container; 409: a session runs in it; 422: the
            engine failed.
        """
        case = self._get_case(owner, name)
        place = get_case_location(case)

        def check_unused() -> None:
            caller.reauthorize()
            if any(
                it.location_id == place and it.pid is not None for it in self._sessions().list()
            ):
                text = f"a session runs in the container of {case.name}; end it first"
                raise ServiceError(ErrorCode.SESSION_BUSY, text)

        await self._boxes.recreate_container(case, check_unused)
        return await self._get_current(case)

    def _get_case(self, owner: str, name: str) -> ContainerCase:
        found = self._store.find_case(owner, name)
        if found is None:
            raise make_not_found_error(f"The container of {name}")
        return found

    async def _inspect_case(self, case: ContainerCase, host: ContainerHost) -> ContainerView:
        return self._make_view(case, host, await self._boxes.inspect_container(case), None)

    def _make_view(
        self,
        case: ContainerCase,
        host: ContainerHost,
        seen: ContainerSnapshot | None,
        usage: ContainerUsage | None,
    ) -> ContainerView:
        return ContainerView(
            case=case,
            image=case.image or host.image,
            network=case.network or host.network,
            resources=effective_limits(case, host),
            seen=seen,
            usage=usage,
            warnings=self._boxes.get_warnings(case.container),
        )


def check_host(host: ContainerHost) -> ContainerHost:
    """Return the host unchanged if its settings are valid.

    @raise ServiceError: 400 for the field that is not valid.
    """
    if not host.label.strip() or not host.label.isprintable():
        raise make_field_error("label", "needs printable characters")
    check_image(host.image)
    check_context(host.context)
    check_network(host.network)
    check_resources(host.resources)
    check_create_arguments(host.create_args)
    check_exec_arguments(host.exec_args)
    return host
