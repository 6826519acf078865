"""Containers as places (architecture-place)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TypeVar

from attrs import frozen

from tservice.containers.boxes import Boxes
from tservice.containers.bridge import HookBridge
from tservice.containers.fence import HOME, WORKSPACE
from tservice.containers.folders import SECRET_FILE
from tservice.containers.model import ContainerCase
from tservice.core.errors import failed
from tservice.core.places.place import HookAccess, Place, PlaceId, PlaceKind
from tservice.core.users.osuser import OsUser, OsUsers

_T = TypeVar("_T")

NOWHERE = Path("/nonexistent")
"""The home folder as seen from outside: what is in a container's is the agent's own, links and
all, and nothing of the service's looks into it."""

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def place_of(case: ContainerCase) -> PlaceId:
    """The place that a case's sessions live in."""
    return PlaceId(kind=PlaceKind.CONTAINER, name=case.host_id, part=case.container)


@frozen(kw_only=True)
class ContainerEffects:
    """In a container; its workspace is worked on from outside, as whose it is.

    @ivar user: whose the workspace is; C{None}: the service's own user.
    """

    boxes: Boxes
    container: str
    users: OsUsers
    user: OsUser | None

    def act(self, work: Callable[[], _T], /) -> _T:
        return self.users.act(self.user, work)

    def find(self, names: Sequence[str], /) -> Path | None:
        known = self.boxes.known(self.container)
        inside = None if known is None else known.inside
        if inside is None:
            return None
        for name in names:
            found = name if name in inside.paths else inside.programs.get(name)
            if found is not None:
                return Path(found)
        return None

    def command(self, argv: Sequence[str], /) -> list[str]:
        raise OSError("nothing but sessions runs in a container")

    def environment(self, named: Sequence[str] = (), /) -> Mapping[str, str]:
        known = self.boxes.known(self.container)
        inside = None if known is None else known.inside
        return {
            "PATH": _PATH if inside is None or not inside.path else inside.path,
            "HOME": HOME,
            "USER": "agent",
            "LOGNAME": "agent",
            "LANG": "C.UTF-8",
            # What is fenced in may do what it likes there.
            "IS_SANDBOX": "1",
        }

    def search_path(self) -> str:
        return self.environment().get("PATH", "")


@frozen(kw_only=True)
class ContainerPlaces:
    """See L{tservice.core.places.places.PlaceProvider}.

    @ivar own: user and group of this process.
    @ivar bridge: where hooks reach the service.
    @ivar secret: what those in a container of that name show there.
    """

    boxes: Boxes
    users: OsUsers
    own: tuple[int, int]
    bridge: HookBridge
    secret: Callable[[str], str]

    async def ask(self, known: PlaceId) -> None:
        """Everything but what runs there is at hand."""

    async def meet(self, known: PlaceId) -> None:
        """What runs there is reached without the engine."""

    async def ready(self, known: PlaceId) -> None:
        case = self.boxes.case(known.part)
        if case is not None:
            found = await self.boxes.ready(case)
            host = self.boxes.host(case)
            self.bridge.look(host, case.network or host.network, found.seen.gateway)

    def find(self, known: PlaceId) -> Place | None:
        case = self.boxes.case(known.part)
        return None if case is None or case.host_id != known.name else self._of(known, case)

    def recall(self, known: PlaceId) -> Place:
        return self._of(known, self.boxes.case(known.part))

    def judge(self, known: PlaceId, os_user: str | None) -> Place:
        if os_user is not None:
            raise failed("osUser: sessions of this account run as that user, not in containers")
        found = self.find(known)
        if found is None:
            raise failed(f"the container {known.part} is no case's any more")
        return found

    def _hooks(self, case: ContainerCase) -> HookAccess | None:
        host = self.boxes.host(case)
        url = self.bridge.url(host, case.network or host.network)
        if url is None:
            return None
        found, name = url, case.container
        return HookAccess(
            secret_file=Path(HOME) / SECRET_FILE,
            put=lambda: self.boxes.put_secret(name, self.secret(name)),
            url=lambda: found,
        )

    def _of(self, known: PlaceId, case: ContainerCase | None) -> Place:
        seen = self.boxes.known(known.part)
        uid, gid = self.own if seen is None else seen.owner
        user = OsUser(name="agent", uid=uid, gid=gid, groups=(gid,), home=NOWHERE, shell="")
        effects = ContainerEffects(
            boxes=self.boxes,
            container=known.part,
            users=self.users,
            user=None if uid == self.own[0] else user,
        )
        return Place(
            id=known,
            title=f"the container {known.part}",
            home=NOWHERE,
            user=user,
            closed="docker",
            hooks=None if case is None else self._hooks(case),
            inside=lambda folder: inner(folder, None if case is None else case.path),
            effects=effects,
        )


def inner(folder: str, workspace: str | None) -> str:
    """By which path a folder of the workspace is known inside."""
    if workspace is None or not PurePosixPath(folder).is_relative_to(workspace):
        return WORKSPACE
    return str(PurePosixPath(WORKSPACE) / PurePosixPath(folder).relative_to(workspace))
