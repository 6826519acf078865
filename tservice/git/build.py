"""Putting the feature together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen
from twisted.internet.interfaces import IReactorProcess, IReactorTime

from tservice.core.redact import Redactor
from tservice.git.inspect import Inspector
from tservice.git.interfaces import ContainerWorkspaces, InThread
from tservice.git.routes import GitRoutes
from tservice.git.runner import GitRunner
from tservice.git.service import GitService
from tservice.git.workspaces import SessionWorkspaces
from tservice.sessions.interfaces import ISessions

if TYPE_CHECKING:
    from tservice.http.operations import Operation


@frozen(kw_only=True)
class Git:
    """The parts that others use; L{stop} belongs to the end of the program."""

    service: GitService
    routes: GitRoutes
    runner: GitRunner

    def operations(self) -> list[Operation]:
        """The routes, for the table."""
        return self.routes.operations()

    def stop(self) -> None:
        """End every git process that still runs."""
        self.runner.stop()


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
) -> Git:
    """Make the feature; it needs no start.

    @param environ: what the service was started with; C{PATH} says where git is.
    @param euid: as whom this process works.
    @param containers: folders of container cases, beside those of sessions in containers.
    """
    workspaces = SessionWorkspaces(sessions)
    runner = GitRunner(clock=clock, processes=processes, environ=environ, redactor=redactor)
    inspector = Inspector(
        clock=clock, runner=runner, in_thread=in_thread, environ=environ, home=home, euid=euid
    )

    def forbidden() -> Iterable[str]:
        return {*workspaces.of_containers(), *containers()}

    service = GitService(
        clock=clock, inspector=inspector, in_thread=in_thread, home=home, containers=forbidden
    )
    return Git(service=service, routes=GitRoutes(service, workspaces.of), runner=runner)
