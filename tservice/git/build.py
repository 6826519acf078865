"""Git at a glance, put together."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import TypeVar

from attrs import frozen

from tservice.cases.interfaces import ICases
from tservice.core.doors.programs import finder
from tservice.core.places.place import Place
from tservice.core.users.osuser import OsUser, environment_of
from tservice.git.case_routes import CaseGitRoutes
from tservice.git.changing.child import Children
from tservice.git.changing.clone import Cloner
from tservice.git.changing.unsaved import UnsavedWork
from tservice.git.changing.work import GitWork
from tservice.git.changing.worktrees import GitWorktrees
from tservice.git.inspect import Inspector
from tservice.git.interfaces import ContainerWorkspaces
from tservice.git.readers import GitReaders
from tservice.git.routes import GitRoutes
from tservice.git.runner import Actor, GitRunner
from tservice.git.service import GitService
from tservice.git.workspaces import CaseWorkspaces, SessionWorkspaces
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
        find=finder(ground.doors.files),
    )

    def forbidden() -> Iterable[str]:
        return {*workspaces.of_containers(), *containers()}

    service = GitReaders(_Readers(ground, runner, forbidden).of, ground.places)
    return Feature(
        name="git",
        service=service,
        operations=GitRoutes(service, workspaces.of).operations(),
        measures=[number("git_processes", "Git processes running.", lambda: runner.running)],
        close=runner.stop,
    )


def build_case_git(ground: Ground, *, git: GitReaders, cases: ICases) -> Feature[CaseWorkspaces]:
    """The status of cases; what runs for it ends with C{git}."""
    workspaces = CaseWorkspaces(cases)
    operations = CaseGitRoutes(git, workspaces.of).operations()
    return Feature(name="git of cases", service=workspaces, operations=operations)


def build_git_work(ground: Ground) -> Feature[GitWork]:
    """Clones and worktrees, by processes of their own; a stop ends those that run."""
    runner = GitRunner(
        clock=ground.reactor,
        processes=ground.reactor,
        environ=ground.environ,
        redactor=ground.redactor,
        find=finder(ground.doors.files),
    )
    children = Children(ground.reactor, ground.reactor, finder(ground.doors.files))
    cloner = Cloner(
        children=children,
        in_thread_as=partial(_in_thread_as, ground),
        environ=ground.environ,
        home=ground.home,
        redactor=ground.redactor,
    )
    in_thread_as, inspector_of = partial(_in_thread_as, ground), partial(_inspector, ground, runner)
    work = GitWork(
        cloner=cloner,
        unsaved=UnsavedWork(in_thread_as, inspector_of),
        worktrees=GitWorktrees(in_thread_as, inspector_of),
        children=children,
        runner=runner,
    )
    return Feature(
        name="git work",
        service=work,
        measures=[number("git_changing", "Git processes that change something.", work.running)],
        close=work.stop,
    )


def _in_thread_as(
    ground: Ground, user: OsUser | None, work: Callable[[], _T], at: str
) -> Awaitable[_T]:
    users = ground.os_users.users
    return ground.doors.files.run(lambda: users.act(user, work), at=at)


def _inspector(ground: Ground, runner: GitRunner, user: OsUser | None) -> Inspector:
    """Looks at files, and runs git, as C{user}; C{None}: as the service's own."""
    return Inspector(
        clock=ground.reactor,
        runner=runner,
        in_thread=partial(_in_thread_as, ground, user),
        environ=ground.environ if user is None else environment_of(user, ground.environ),
        home=ground.home if user is None else user.home,
        euid=os.geteuid() if user is None else user.uid,
        itself=Actor() if user is None else Actor(uid=user.uid, gid=user.gid),
    )


@frozen
class _Readers:
    """Makes a reader for each place: its looks at files, and git itself, have that one's rights."""

    ground: Ground
    runner: GitRunner
    forbidden: Callable[[], Iterable[str]]

    def of(self, place: Place) -> GitService:
        """The reader of C{place}."""
        ground, user = self.ground, place.user

        def in_thread_as(work: Callable[[], _T], at: str) -> Awaitable[_T]:
            return ground.doors.files.run(lambda: place.act(work), at=at)

        inspector = Inspector(
            clock=ground.reactor,
            runner=self.runner,
            in_thread=in_thread_as,
            environ=place.environment(),
            home=place.home,
            euid=user.uid,
            itself=Actor(uid=user.uid, gid=user.gid) if place.apart else Actor(),
        )
        return GitService(
            clock=ground.reactor,
            inspector=inspector,
            in_thread=in_thread_as,
            home=place.home,
            containers=self.forbidden,
        )
