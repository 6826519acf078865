"""Locations that are containers (architecture-place)."""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TypeVar

from attrs import frozen

from tservice.containers.folders import SECRET_FILE
from tservice.containers.hook_bridge import HookBridge
from tservice.containers.isolation import HOME, WORKSPACE
from tservice.containers.model import ContainerCase
from tservice.containers.registry import ContainerRegistry
from tservice.core.kernel.errors import ServiceError, make_failure_error
from tservice.core.locations.location import (
    HookAccess,
    Location,
    LocationId,
    LocationKind,
    LocationShell,
)
from tservice.core.users.os_users import OsUser, OsUsers
from tservice.mux.remote.shell_quoting import HEARING

_T = TypeVar("_T")

NO_HOME = Path("/nonexistent")
"""Home folder of a container as seen from outside, which does not exist.

The agent controls the real home folder and its symbolic links, so the service never reads it.
"""

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def get_case_location(case: ContainerCase) -> LocationId:
    """Return the location of a case's sessions."""
    return LocationId(kind=LocationKind.CONTAINER, name=case.host_id, part=case.container)


@frozen(kw_only=True)
class ContainerOperations:
    """Operations in a container.

    Its workspace is accessed from outside, as the workspace's owner.

    @ivar user: owner of the workspace; C{None} if that is the service's own user.
    """

    boxes: ContainerRegistry
    container: str
    users: OsUsers
    user: OsUser | None

    def run_file_work(self, work: Callable[[], _T], /) -> _T:
        return self.users.act_as_user(self.user, work)

    def find_program(self, names: Sequence[str], /) -> Path | None:
        known = self.boxes.find_last_state(self.container)
        inside = None if known is None else known.inside
        if inside is None:
            return None
        for name in names:
            found = name if name in inside.paths else inside.programs.get(name)
            if found is not None:
                return Path(found)
        return None

    def build_command(self, argv: Sequence[str], /) -> list[str]:
        raise OSError("only sessions can run in a container")

    def build_environment(self, named: Sequence[str] = (), /) -> Mapping[str, str]:
        known = self.boxes.find_last_state(self.container)
        inside = None if known is None else known.inside
        return {
            "PATH": _PATH if inside is None or not inside.path else inside.path,
            "HOME": HOME,
            "USER": "agent",
            "LOGNAME": "agent",
            "LANG": "C.UTF-8",
            # The container is the sandbox.
            "IS_SANDBOX": "1",
        }

    def get_search_path(self) -> str:
        return self.build_environment().get("PATH", "")


@frozen(kw_only=True)
class ContainerLocationProvider:
    """Provider of containers as locations.

    See L{tservice.core.locations.location_registry.LocationProvider}.

    @ivar own: user id and group id of this process.
    @ivar bridge: listeners by which hooks reach the service.
    @ivar secret: returns the hook secret of the container with a given name.
    @ivar environ: environment of the engine commands.
    """

    boxes: ContainerRegistry
    users: OsUsers
    own: tuple[int, int]
    bridge: HookBridge
    secret: Callable[[str], str]
    environ: Mapping[str, str]

    async def refresh_location(self, known: LocationId) -> None:
        """Do nothing: a container is started only when a process has to run in it."""

    async def refresh_if_reachable(self, known: LocationId) -> None:
        """Do nothing: running processes are reached without the engine."""

    async def prepare_location(self, known: LocationId) -> None:
        case = self.boxes.find_case(known.part)
        if case is not None:
            found = await self.boxes.ensure_running(case)
            host = self.boxes.get_host(case)
            self.bridge.ensure_listener(host, case.network or host.network, found.seen.gateway)

    def find_location(self, known: LocationId) -> Location | None:
        case = self.boxes.find_case(known.part)
        return (
            None
            if case is None or case.host_id != known.name
            else self._build_location(known, case)
        )

    def find_earlier_location(self, known: LocationId) -> Location:
        return self._build_location(known, self.boxes.find_case(known.part))

    def get_usable_location(self, known: LocationId, os_user: str | None) -> Location:
        if os_user is not None:
            raise make_failure_error(
                "osUser: sessions of this account run as that user, not in containers"
            )
        found = self.find_location(known)
        if found is None:
            raise make_failure_error(f"the container {known.part} no longer belongs to a case")
        return found

    def _find_hook_access(self, case: ContainerCase) -> HookAccess | None:
        host = self.boxes.get_host(case)
        url = self.bridge.find_url(host, case.network or host.network)
        if url is None:
            return None
        found, name = url, case.container
        return HookAccess(
            secret_file=Path(HOME) / SECRET_FILE,
            put=lambda: self.boxes.write_hook_secret(name, self.secret(name)),
            url=lambda: found,
        )

    def _build_location(self, known: LocationId, case: ContainerCase | None) -> Location:
        seen = self.boxes.find_last_state(known.part)
        uid, gid = self.own if seen is None else seen.owner
        user = OsUser(name="agent", uid=uid, gid=gid, groups=(gid,), home=NO_HOME, shell="")
        effects = ContainerOperations(
            boxes=self.boxes,
            container=known.part,
            users=self.users,
            user=None if uid == self.own[0] else user,
        )
        return Location(
            id=known,
            title=f"the container {known.part}",
            home=NO_HOME,
            user=user,
            unreadable_reason="docker",
            hooks=None if case is None else self._find_hook_access(case),
            path_inside=lambda folder: map_workspace_path(
                folder, None if case is None else case.path
            ),
            find_shell=None if case is None else partial(self._find_shell, case),
            operations=effects,
        )

    def _find_shell(self, case: ContainerCase) -> LocationShell:
        try:
            argv = self.boxes.build_exec_command(case, HEARING)
        except ServiceError as error:
            raise OSError(errno.ENOENT, error.message) from None
        return LocationShell(argv=argv, env=self.environ)


def map_workspace_path(folder: str, workspace: str | None) -> str:
    """Return the path inside the container of a folder in the workspace."""
    if workspace is None or not PurePosixPath(folder).is_relative_to(workspace):
        return WORKSPACE
    return str(PurePosixPath(WORKSPACE) / PurePosixPath(folder).relative_to(workspace))
