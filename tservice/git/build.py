"""Putting the feature together."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorProcess, IReactorTime

from tservice.core.logs.redact import Redactor
from tservice.core.users.osuser import OsUser, OsUsers, environment_of
from tservice.git.inspect import Inspector
from tservice.git.interfaces import ContainerWorkspaces, InThread
from tservice.git.readers import GitReaders
from tservice.git.routes import GitRoutes
from tservice.git.runner import Actor, GitRunner
from tservice.git.service import GitService
from tservice.git.workspaces import SessionWorkspaces
from tservice.sessions.interfaces import ISessions

if TYPE_CHECKING:
    from tservice.http.operations import Operation

_T = TypeVar("_T")


@frozen(kw_only=True)
class Git:
    """The parts that others use; L{stop} belongs to the end of the program."""

    service: GitReaders
    routes: GitRoutes
    runner: GitRunner

    def operations(self) -> list[Operation]:
        """The routes, for the table."""
        return self.routes.operations()

    def stop(self) -> Deferred[None]:
        """End every git process that still runs; fires once they are gone."""
        return self.runner.stop()


def build_git(
    *,
    clock: IReactorTime,
    processes: IReactorProcess,
    in_thread: InThread,
    environ: Mapping[str, str],
    home: Path,
    euid: int,
    sessions: ISessions,
    redactor: Redactor,
    containers: ContainerWorkspaces = tuple,
    os_users: OsUsers | None = None,
) -> Git:
    """Make the feature; it needs no start.

    @param environ: what the service was started with; C{PATH} says where git is.
    @param euid: as whom this process works.
    @param os_users: whose workspaces are read with their own rights.
    @param containers: folders of container cases, beside those of sessions in containers.
    """
    workspaces = SessionWorkspaces(sessions)
    runner = GitRunner(clock=clock, processes=processes, environ=environ, redactor=redactor)
    users = os_users or OsUsers()

    def forbidden() -> Iterable[str]:
        return {*workspaces.of_containers(), *containers()}

    def service_of(user: OsUser | None) -> GitService:
        """Reads as C{user}: every look at a file, and git itself."""

        def in_thread_as(work: Callable[[], _T]) -> Awaitable[_T]:
            return in_thread(lambda: users.act(user, work))

        folder = home if user is None else user.home
        inspector = Inspector(
            clock=clock,
            runner=runner,
            in_thread=in_thread_as,
            environ=environ if user is None else environment_of(user, environ),
            home=folder,
            euid=euid if user is None else user.uid,
            itself=Actor() if user is None else Actor(uid=user.uid, gid=user.gid),
        )
        return GitService(
            clock=clock,
            inspector=inspector,
            in_thread=in_thread_as,
            home=folder,
            containers=forbidden,
        )

    service = GitReaders(service_of, users)
    return Git(service=service, routes=GitRoutes(service, workspaces.of), runner=runner)
