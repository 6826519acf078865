"""Registry of the containers of cases, which creates, starts, inspects and removes them
(protocol-containers).
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from attrs import evolve, frozen
from twisted.internet.defer import DeferredLock
from twisted.internet.interfaces import IReactorTime

from tservice.containers.command_lines import BindMount, ContainerSpec
from tservice.containers.engine import EngineClient, EngineError, is_running, to_service_error
from tservice.containers.engine_output import ContainerSnapshot, ContainerState
from tservice.containers.explanations import (
    explain_changed_owner,
    explain_changed_workspace,
    explain_missing_output,
    explain_process_shortage,
    require_usable_owner,
)
from tservice.containers.folders import (
    ContainerFolders,
    credential_mounts,
    is_mountable,
    open_folder,
    read_credentials,
    write_credentials,
    write_hook_secret,
)
from tservice.containers.host_registry import ContainerHostRegistry
from tservice.containers.image_probe import SCRIPT, ContainerContents, parse_contents
from tservice.containers.images import ImageBuilder
from tservice.containers.isolation import WORKSPACE
from tservice.containers.model import (
    ContainerCase,
    ContainerHost,
    CredentialMode,
    effective_limits,
    make_container_name,
)
from tservice.containers.procfs import find_process_uid, has_ended, stat_path_in_container
from tservice.containers.start_checks import inspect_settled, inspect_started
from tservice.containers.store import ContainerStore
from tservice.core.kernel.errors import make_failure_error
from tservice.core.workers.worker_pool import IThreads

CACHE_SECONDS = 30.0
"""Seconds for which the result of examining a container's contents is cached."""

Act = Callable[[tuple[int, int], Callable[[], object]], object]
"""Calls a function with the file permissions of a user id and group id."""


@frozen(kw_only=True)
class LastContainerState:
    """Last known state of a container.

    @ivar inside: programs and settings found in the container; C{None} if it was not examined since
        its start.
    @ivar until: time, in seconds of the reactor's clock, after which the contents are examined
        again.
    """

    seen: ContainerSnapshot
    owner: tuple[int, int]
    inside: ContainerContents | None = None
    until: float = 0.0


class ContainerRegistry:
    """Containers of cases.  Operations on the same container run one after another.

    @param files: worker pool for work on users' folders.
    @param act: calls a function as another user; see L{Act}.
    @param library: files that start a tmux server.
    @param home: home folder of the service's user, whose CLI credentials containers get.
    @param suffix: returns six characters that make a name unique.
    """

    def __init__(
        self,
        *,
        clock: IReactorTime,
        store: ContainerStore,
        hosts: ContainerHostRegistry,
        images: ImageBuilder,
        folders: ContainerFolders,
        files: IThreads,
        act: Act,
        library: Sequence[Path],
        home: Path,
        suffix: Callable[[], str],
    ) -> None:
        self._clock, self._store, self._hosts = clock, store, hosts
        self._images, self._folders, self._files = images, folders, files
        self._act, self._library, self._home = act, tuple(library), home
        self._suffix = suffix
        self._found: dict[str, LastContainerState] = {}
        self._locks: dict[str, DeferredLock] = {}

    # -- asked

    def find_case(self, container: str) -> ContainerCase | None:
        """Return the case to which a container belongs."""
        return self._store.find_by_container(container)

    def get_host(self, case: ContainerCase) -> ContainerHost:
        """Return the container host of a case.

        @raise ServiceError: 404: the host does not exist.
        """
        return self._hosts.get(case.host_id)

    def build_exec_command(self, case: ContainerCase, argv: Sequence[str]) -> list[str]:
        """Return the command of the engine that runs a program in the container of a case.

        @raise ServiceError: 404: the host does not exist; 422: the engine is not installed.
        """
        host = self._hosts.get(case.host_id)
        dialect = self._hosts.get_engine(host).dialect
        return dialect.exec_command(case.container, argv, extra=host.exec_args)

    def find_last_state(self, container: str) -> LastContainerState | None:
        """Return the last known state of a container."""
        return self._found.get(container)

    def get_warnings(self, container: str) -> tuple[str, ...]:
        """Return known differences between a container and its requested configuration, as
        sentences.
        """
        found = self._found.get(container)
        return () if found is None or found.inside is None else found.inside.warnings

    def has_own_usage(self, container: str) -> bool:
        """Return true if the engine measures the usage of this container alone.

        Without resource limits the reported usage includes other processes.
        """
        found = self._found.get(container)
        return found is None or found.inside is None or "memory" not in found.inside.unlimited

    def find_start_obstacle(self, container: str) -> str | None:
        """Return the reason why no more processes can be started in the container; C{None} if none
        is known.
        """
        return explain_process_shortage(container, self.get_main_pid(container))

    def get_main_pid(self, container: str) -> int:
        """Return the process id of the container's main process on this machine; 0 if it is
        unknown.
        """
        found = self._found.get(container)
        return 0 if found is None else found.seen.pid

    async def inspect_container(self, case: ContainerCase) -> ContainerSnapshot | None:
        """Return the current state of a case's container.

        C{None} means that the container does not exist, or was created by another service.

        @raise ServiceError: 422: the engine is not installed, or does not respond.
        """
        mine = (await self.inspect_containers([case])).get(case.container)
        await self._remember_state(case, mine)
        return mine

    async def inspect_containers(
        self, cases: Sequence[ContainerCase]
    ) -> dict[str, ContainerSnapshot]:
        """Return the current state of several containers of one host, by name.

        Containers that are missing, or were created by another service, are left out.

        @raise ServiceError: as for L{inspect_container}.
        """
        if not cases:
            return {}
        engine = self._hosts.get_engine(self._hosts.get(cases[0].host_id))
        try:
            seen = await engine.inspect_containers([case.container for case in cases])
        except EngineError as error:
            raise to_service_error(error, "the container cannot be inspected") from error
        asked = ((case, seen.get(case.container)) for case in cases)
        found = {
            it.container: each for it, each in asked if each and self._is_own_container(each, it)
        }
        for case in cases:
            # Their workspace's owner is known.
            if case.container in self._found:
                await self._remember_state(case, found.get(case.container))
        return found

    async def probe_contents(self, case: ContainerCase) -> None:
        """Examine the contents of a running container, unless they are already known."""
        async with self._get_lock(case.container):
            found = self._found.get(case.container)
            if found is None or found.inside is not None:
                return
            host = self._hosts.get(case.host_id)
            works = await self._hosts.get_health(host)
            told = await self._hosts.get_engine(host).run_inside(
                case.container, ["sh", "-c", SCRIPT]
            )
            if told.is_success:
                inside = evolve(parse_contents(told.output), unlimited=works.unlimited)
                self._found[case.container] = evolve(found, inside=inside)

    # -- moved

    async def ensure_running(self, case: ContainerCase) -> LastContainerState:
        """Make sure that the container of a case runs and has everything that a session needs.

        A missing container is created.

        @raise ServiceError: 422: the container cannot be created or started, or its image lacks a
            program.
        """
        async with self._get_lock(case.container):
            found = self._found.get(case.container)
            # It may have ended meanwhile, which the kernel knows first.
            if (
                found is not None
                and found.until > self._clock.seconds()
                and not has_ended(found.seen.pid)
            ):
                return found
            return await self._start_container(case)

    async def recreate_container(
        self, case: ContainerCase, check: Callable[[], object]
    ) -> LastContainerState:
        """Remove the container and create it again.  Its home folder is kept.

        @param check: called first, and again just before the old container is removed; raises an
            error to prevent that.
        @raise ServiceError: as for L{ensure_running}.
        """
        async with self._get_lock(case.container):
            check()
            with _translate_errors(case):
                # If it cannot be created, the existing one stays.
                await self._specify_container(case, _owner_ids(await self._stat_workspace(case)))
            check()
            await self._remove_engine_container(case)
            return await self._start_container(case)

    async def remove_container(self, case: ContainerCase) -> None:
        """Remove the container and its home folder.

        @raise ServiceError: 422: the container may still exist.
        """
        async with self._get_lock(case.container):
            await self._remove_engine_container(case)
            await self._files.run(partial(self._folders.remove_container, case.container))
        self._locks.pop(case.container, None)

    async def choose_free_name(self, host: ContainerHost, case: str) -> str:
        """Return a name for a new container, with a suffix if the plain name is taken.

        @raise ServiceError: 422: the engine does not respond.
        """
        plain = make_container_name(case)
        engine = self._hosts.get_engine(host)
        try:
            there = await engine.inspect_containers([plain])
        except EngineError as error:
            raise to_service_error(error, "the containers cannot be inspected") from error
        taken = plain in there or self._store.find_by_container(plain) is not None
        return make_container_name(case, self._suffix()) if taken else plain

    def write_hook_secret(self, container: str, secret: str) -> None:
        """Write the secret for a container's hooks into the container's home folder.

        @raise OSError: the file cannot be written.
        """
        found = self._found.get(container)
        if found is None:
            raise OSError("the container was not inspected yet")
        with open_folder(self._folders.home_folder(container)) as home:
            self._act(found.owner, partial(write_hook_secret, home, secret))

    # -- inside

    def _get_lock(self, container: str) -> DeferredLock:
        return self._locks.setdefault(container, DeferredLock())

    async def _start_container(self, case: ContainerCase) -> LastContainerState:
        engine = self._hosts.get_engine(self._hosts.get(case.host_id))
        folder = await self._stat_workspace(case)
        owner = _owner_ids(folder)
        with _translate_errors(case):
            seen = await inspect_settled(case, engine)
            made = seen is None
            if seen is None:
                await engine.create_container(await self._specify_container(case, owner))
            elif not self._is_own_container(seen, case):
                raise make_failure_error(
                    f"the container {case.container} was not created by this service"
                )
            elif seen.state is ContainerState.PAUSED:
                raise make_failure_error(f"the container {case.container} is paused")
            await self._files.run(partial(self._folders.write_library_files, self._library))
            stood = not is_running(seen)
            if stood:
                await engine.start_container(case.container)
            seen = await inspect_started(case, engine)
            try:
                is_mounted = await self._is_mounted(case, seen, folder)
            except OSError:
                await inspect_started(case, engine)
                raise
            if not is_mounted:
                # The engine resolved the path again, and the folder there was exchanged.
                if stood:
                    await engine.stop_container(case.container)
                raise make_failure_error(explain_changed_workspace(case))
            user = find_process_uid(seen.pid)
            if user not in (None, owner[0]):
                if stood:
                    await engine.stop_container(case.container)
                raise make_failure_error(explain_changed_owner(case, owner[0], user, made=made))
            inside = await self._check_contents(case, engine, seen.pid)
        found = LastContainerState(
            seen=seen,
            owner=owner,
            inside=inside,
            until=self._clock.seconds() + CACHE_SECONDS,
        )
        self._found[case.container] = found
        return found

    async def _check_contents(
        self, case: ContainerCase, engine: EngineClient, first: int
    ) -> ContainerContents:
        told = await engine.run_inside(case.container, ["sh", "-c", SCRIPT])
        if not told.is_success:
            await inspect_started(case, engine)
            raise make_failure_error(explain_missing_output(case.container, first, told))
        works = await self._hosts.get_health(self._hosts.get(case.host_id))
        inside = evolve(parse_contents(told.output), unlimited=works.unlimited)
        if inside.unusable_reason is not None:
            raise make_failure_error(inside.unusable_reason)
        return inside

    async def _specify_container(self, case: ContainerCase, user: tuple[int, int]) -> ContainerSpec:
        """Return the specification of a case's container, and prepare its image and folders.

        @param user: user id and group id of the workspace's owner.
        @raise OSError: the folders cannot be created.
        @raise EngineError: the image is not available.
        """
        require_usable_owner(case, user[0])
        host = self._hosts.get(case.host_id)
        engine = self._hosts.get_engine(host)
        works = await self._hosts.get_health(host)
        image = case.image or host.image
        await self._images.ensure_image(host, engine, image)
        uid, gid = user
        how = case.credentials or host.credentials
        prepare = partial(self._prepare_folders, case.container, user, how)
        mounts = [
            *self._folders.list_mounts(case.container, case.path),
            *await self._files.run(prepare),
        ]
        if not all(is_mountable(mount.source) for mount in mounts):
            raise make_failure_error(
                "engines cannot mount paths that hold a comma, a quote or a line break"
            )
        box = ContainerSpec(
            name=case.container,
            image=image,
            resources=effective_limits(case, host),
            network=case.network or host.network,
            user=engine.dialect.user_arguments(uid, gid, rootless=works.rootless),
            mounts=mounts,
            labels={},
            extra=host.create_args,
        )
        labels = {
            "service": self._store.service_id(),
            "owner": case.owner,
            "case": case.name,
            "made": _hash_arguments(engine.dialect.create_command(box)),
        }
        return evolve(box, labels=labels)

    def _prepare_folders(
        self, container: str, owner: tuple[int, int], how: CredentialMode
    ) -> Sequence[BindMount]:
        """Create the container's folders.  Blocks; call it in a thread.

        @param owner: user id and group id.
        @return: the mounts of credential files.
        """
        self._folders.write_library_files(self._library)
        self._folders.create_container_folders(container, owner)
        found = {} if how is CredentialMode.NONE else read_credentials(self._home)
        mounted = how is CredentialMode.MOUNTED
        # A mount point has to exist as a file, in folders of the user.
        put = dict.fromkeys(found, b"") if mounted else found
        with open_folder(self._folders.home_folder(container)) as home:
            self._act(owner, partial(write_credentials, home, put, mounted=mounted))
        return credential_mounts(self._home, found) if mounted else ()

    async def _remove_engine_container(self, case: ContainerCase) -> None:
        engine = self._hosts.get_engine(self._hosts.get(case.host_id))
        try:
            seen = (await engine.inspect_containers([case.container])).get(case.container)
            if seen is not None and self._is_own_container(seen, case):
                await engine.remove_container(case.container)
        except EngineError as error:
            raise to_service_error(error, "the container cannot be removed") from error
        self._found.pop(case.container, None)

    async def _remember_state(self, case: ContainerCase, seen: ContainerSnapshot | None) -> None:
        before = self._found.get(case.container)
        if seen is None:
            self._found.pop(case.container, None)
        elif before is not None and before.seen.pid == seen.pid:
            self._found[case.container] = evolve(before, seen=seen)
        else:
            owner = (
                before.owner if before is not None else _owner_ids(await self._stat_workspace(case))
            )
            self._found[case.container] = LastContainerState(seen=seen, owner=owner)

    async def _is_mounted(
        self, case: ContainerCase, seen: ContainerSnapshot, folder: os.stat_result
    ) -> bool:
        """Return true if the workspace mounted in a running container is the folder C{folder}.

        @raise OSError: this cannot be determined.
        """
        look = partial(stat_path_in_container, seen.pid, WORKSPACE)
        try:
            inside = await self._files.run(look, at=case.path, owner=case.owner)
        except PermissionError:
            if os.geteuid() == 0:
                raise
            # Its group is not the service's; every process there belongs to the service's user.
            return True
        return os.path.samestat(folder, inside)

    async def _stat_workspace(self, case: ContainerCase) -> os.stat_result:
        """Return the file status of the workspace folder, whose owner becomes the container's user.

        A symbolic link is refused, because an engine would mount its target.

        @raise ServiceError: 422: the workspace is not a folder.
        """
        look = partial(os.lstat, case.path)
        try:
            found: os.stat_result = await self._files.run(look, at=case.path, owner=case.owner)
        except OSError as error:
            raise make_failure_error(
                f"the workspace {case.path}: {error.strerror or error}"
            ) from error
        if not stat.S_ISDIR(found.st_mode):
            raise make_failure_error(f"the workspace {case.path} is no longer a folder")
        return found

    def _is_own_container(self, seen: ContainerSnapshot, case: ContainerCase) -> bool:
        labels = seen.labels
        # Not by its owner: a removed account's containers belong to nobody.
        return (labels.get("service"), labels.get("case")) == (self._store.service_id(), case.name)


@contextmanager
def _translate_errors(case: ContainerCase) -> Iterator[None]:
    """Convert errors of the engine and of the file system to a 422 for clients."""
    try:
        yield
    except EngineError as error:
        raise to_service_error(error, f"the container {case.container}") from error
    except OSError as error:
        raise make_failure_error(f"the container's folders: {error.strerror or error}") from error


def _owner_ids(folder: os.stat_result) -> tuple[int, int]:
    return folder.st_uid, folder.st_gid


def _hash_arguments(argv: Sequence[str]) -> str:
    return hashlib.sha256(json.dumps(list(argv)).encode()).hexdigest()
