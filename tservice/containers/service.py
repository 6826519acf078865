"""Containers of cases, for other features and the routes (protocol-containers)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from attrs import frozen
from twisted.internet.defer import Deferred, gatherResults

from tservice.cases.interfaces import CaseContainer, ContainerSettings
from tservice.containers.answers import Seen, State, Usage
from tservice.containers.boxes import Boxes, resources_of
from tservice.containers.child import Runner
from tservice.containers.engine import EngineError, refused
from tservice.containers.fence import WORKSPACE, check_create, check_exec
from tservice.containers.folders import is_mountable
from tservice.containers.hosts import Hosts
from tservice.containers.images import Images
from tservice.containers.model import (
    ContainerCase,
    ContainerHost,
    Credentials,
    Resources,
    check_context,
    check_image,
    check_network,
    check_resources,
    memory_bytes,
)
from tservice.containers.place import place_of
from tservice.containers.store import ContainerStore
from tservice.core.errors import ErrorCode, ServiceError, invalid_field, not_found
from tservice.core.identity import Identity
from tservice.sessions.interfaces import ISessions


@frozen(kw_only=True)
class Shown:
    """Container with its current state.

    @ivar seen: C{None}: there is none.
    @ivar usage: C{None}: it does not run, or the engine does not report it.
    @ivar warnings: differences from the requested configuration, as sentences.
    """

    case: ContainerCase
    image: str
    network: str
    resources: Resources
    seen: Seen | None
    usage: Usage | None
    warnings: tuple[str, ...] = ()

    @property
    def state(self) -> State:
        """State of the container."""
        return State.MISSING if self.seen is None else self.seen.state


class ContainerService:
    """Implementation of L{tservice.cases.interfaces.CaseContainers}, with further methods for the
    routes.

    @param sessions: not called before the first request.
    """

    def __init__(
        self,
        *,
        store: ContainerStore,
        hosts: Hosts,
        images: Images,
        boxes: Boxes,
        runner: Runner,
        sessions: Callable[[], ISessions],
    ) -> None:
        self._store, self._hosts, self._images = store, hosts, images
        self._boxes, self._runner, self._sessions = boxes, runner, sessions

    def stop(self) -> Deferred[list[None]]:
        """End the engines' commands; containers keep running."""
        over = gatherResults(self._images.stop())
        self._runner.stop()
        return over

    # -- IContainers

    def find_container(self, owner: str, name: str) -> CaseContainer | None:
        case = self._store.case(owner, name)
        host = None if case is None else self._store.host(case.host_id)
        if case is None or host is None:
            return None
        return CaseContainer(
            host_id=host.id,
            engine=host.engine.value,
            name=case.container,
            workdir=WORKSPACE,
            warnings=self._boxes.warnings(case.container),
        )

    def list_folders(self) -> Iterable[str]:
        return [case.path for case in self._store.cases()]

    def check_settings(self, wish: ContainerSettings) -> None:
        self._host(wish)
        if wish.image is not None:
            check_image(wish.image)
        if wish.network is not None:
            check_network(wish.network)
        if wish.memory is not None:
            memory_bytes(wish.memory, "memory")
        if wish.cpus is not None:
            check_resources(Resources(cpus=wish.cpus), "")

    async def create_container(
        self, owner: str, name: str, path: str, wish: ContainerSettings, again: Callable[[], None]
    ) -> None:
        if not is_mountable(path):
            raise invalid_field(
                "path", "must not hold a comma, quote or line break for a container"
            )
        host = self._host(wish)
        case = ContainerCase(
            owner=owner,
            name=name,
            host_id=host.id,
            container=await self._boxes.free_name(host, name),
            path=path,
            image=wish.image,
            network=wish.network,
            memory=wish.memory,
            cpus=wish.cpus,
            credentials=None if wish.credentials is None else Credentials(wish.credentials),
        )
        self._store.save_case(case)
        try:
            await self._boxes.ready(case)
            again()
        except Exception:
            await self._drop(case)
            raise

    async def remove_container(self, owner: str, name: str) -> None:
        case = self._store.case(owner, name)
        if case is not None:
            await self._drop(case)

    async def _drop(self, case: ContainerCase) -> None:
        await self._boxes.remove(case)
        self._store.forget_case(case.container)

    def _host(self, wish: ContainerSettings) -> ContainerHost:
        if wish.host_id is None:
            return self._hosts.default()
        return self._hosts.get(wish.host_id)

    # -- hosts

    def hosts(self) -> Sequence[ContainerHost]:
        """Return all container hosts."""
        return self._hosts.every()

    def add_host(self, host: ContainerHost) -> ContainerHost:
        """Check and add a host.

        @raise ServiceError: 400, 422.
        """
        return self._hosts.add(check_host(host))

    def replace_host(self, host: ContainerHost) -> ContainerHost:
        """Check and replace a host.

        @raise ServiceError: 400, 404; 422: cases use it, and its engine would change.
        """
        before = self._hosts.get(host.id)
        if (before.engine, before.context) != (host.engine, host.context):
            self._hosts.refuse_used(host.id)
        return self._hosts.replace(check_host(host))

    def remove_host(self, host_id: str) -> None:
        """Remove a host.

        @raise ServiceError: 404; 422: a case uses it.
        """
        self._hosts.remove(host_id)
        self._images.forget(host_id)

    async def containers(self, host_id: str) -> list[Shown]:
        """Return the containers of a host's cases.

        @raise ServiceError: 404, 422.
        """
        host = self._hosts.get(host_id)
        cases = [case for case in self._store.cases() if case.host_id == host.id]
        return [await self._shown(case, host) for case in cases]

    async def build(self, host_id: str) -> None:
        """Build the packaged image, even if it exists.

        @raise ServiceError: 404, 422.
        """
        host = self._hosts.get(host_id)
        try:
            await self._images.build(host, self._hosts.engine(host))
        except EngineError as error:
            raise refused(error, "the image was not built") from error

    def cancel_build(self, host_id: str) -> None:
        """Cancel the build of a host's image.

        @raise ServiceError: 404: there is no such host, or no build.
        """
        self._images.cancel(self._hosts.get(host_id).id)

    def build_log(self, host_id: str) -> tuple[bool, list[str]]:
        """Return whether a build runs, and the output of the last one.

        @raise ServiceError: 404.
        """
        return self._images.log(self._hosts.get(host_id).id)

    # -- containers of cases

    async def show(self, owner: str, name: str, caller: Identity) -> Shown:
        """Return the container of a case with its current state.

        @raise ServiceError: 404, also for a token that is limited to sessions elsewhere; 422: the
            engine does not answer.
        """
        case = self._case(owner, name)
        if caller.sessions is not None:
            places = [each.location_id for each in self._sessions().list(caller)]
            if place_of(case) not in places:
                raise not_found(f"The container of {name}")
        return await self._now(case)

    async def _now(self, case: ContainerCase) -> Shown:
        host = self._hosts.get(case.host_id)
        shown = await self._shown(case, host)
        if shown.state is not State.RUNNING:
            return shown
        await self._boxes.look_inside(case)
        usage = None
        if self._boxes.is_measured(case.container):
            usage = await self._hosts.engine(host).usage(case.container)
        return self._with(case, host, shown.seen, usage)

    async def recreate(self, owner: str, name: str, again: Callable[[], object]) -> Shown:
        """Create the container of a case again.

        @param again: authorizes the caller again, after other operations on the container are done.
        @raise ServiceError: 404; 409: a session is in it; 422.
        """
        case = self._case(owner, name)
        place = place_of(case)

        def check() -> None:
            again()
            if any(
                it.location_id == place and it.pid is not None for it in self._sessions().list()
            ):
                text = f"a session runs in the container of {case.name}; end it first"
                raise ServiceError(ErrorCode.SESSION_BUSY, text)

        await self._boxes.recreate(case, check)
        return await self._now(case)

    def _case(self, owner: str, name: str) -> ContainerCase:
        found = self._store.case(owner, name)
        if found is None:
            raise not_found(f"The container of {name}")
        return found

    async def _shown(self, case: ContainerCase, host: ContainerHost) -> Shown:
        return self._with(case, host, await self._boxes.look(case), None)

    def _with(
        self, case: ContainerCase, host: ContainerHost, seen: Seen | None, usage: Usage | None
    ) -> Shown:
        return Shown(
            case=case,
            image=case.image or host.image,
            network=case.network or host.network,
            resources=resources_of(case, host),
            seen=seen,
            usage=usage,
            warnings=self._boxes.warnings(case.container),
        )


def check_host(host: ContainerHost) -> ContainerHost:
    """Return the host if its settings are valid.

    @raise ServiceError: 400 naming the field.
    """
    if not host.label.strip() or not host.label.isprintable():
        raise invalid_field("label", "needs printable characters")
    check_image(host.image)
    check_context(host.context)
    check_network(host.network)
    check_resources(host.resources)
    check_create(host.create_args)
    check_exec(host.exec_args)
    return host
