"""Git at a glance, put together."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from attrs import frozen

from tservice.core.users.osuser import OsUser, environment_of
from tservice.git.inspect import Inspector
from tservice.git.interfaces import ContainerWorkspaces
from tservice.git.readers import GitReaders
from tservice.git.routes import GitRoutes
from tservice.git.runner import Actor, GitRunner
from tservice.git.service import GitService
from tservice.git.workspaces import SessionWorkspaces
from tservice.ground.feature import Feature
from tservice.ground.ground import Ground
from tservice.http.metrics import number
from tservice.sessions.interfaces import ISessions

_T = TypeVar("_T")


def build_git(
    ground: Ground, *, sessions: ISessions, containers: ContainerWorkspaces = tuple
) -> Feature[GitReaders]:
    """Status and diffs; it needs no start, and a stop ends every git process that runs.

    @param containers: folders of container cases, beside those of sessions in containers.
    """
    workspaces = SessionWorkspaces(sessions)
    runner = GitRunner(
        clock=ground.reactor,
        processes=ground.reactor,
        environ=ground.environ,
        redactor=ground.redactor,
    )

    def forbidden() -> Iterable[str]:
        return {*workspaces.of_containers(), *containers()}

    service = GitReaders(_Readers(ground, runner, forbidden).of, ground.os_users.users)
    return Feature(
        name="git",
        service=service,
        operations=GitRoutes(service, workspaces.of).operations(),
        measures=[number("git_processes", "Git processes running.", lambda: runner.running)],
        close=runner.stop,
    )


@frozen
class _Readers:
    """Makes a reader for each OS user: its looks at files, and git itself, are that user's."""

    ground: Ground
    runner: GitRunner
    forbidden: Callable[[], Iterable[str]]

    def of(self, user: OsUser | None) -> GitService:
        """The reader of C{user}; C{None}: of the service's own."""
        ground, users = self.ground, self.ground.os_users.users

        def in_thread_as(work: Callable[[], _T]) -> Awaitable[_T]:
            return ground.doors.files.run(lambda: users.act(user, work), "git")

        home = ground.home if user is None else user.home
        inspector = Inspector(
            clock=ground.reactor,
            runner=self.runner,
            in_thread=in_thread_as,
            environ=ground.environ if user is None else environment_of(user, ground.environ),
            home=home,
            euid=os.geteuid() if user is None else user.uid,
            itself=Actor() if user is None else Actor(uid=user.uid, gid=user.gid),
        )
        return GitService(
            clock=ground.reactor,
            inspector=inspector,
            in_thread=in_thread_as,
            home=home,
            containers=self.forbidden,
        )
