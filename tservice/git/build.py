"""Git at a glance, put together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from attrs import frozen

from tservice.cases.interfaces import ICases
from tservice.core.doors.inthread import in_place
from tservice.core.doors.programs import finder
from tservice.core.places.place import Place
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
from tservice.git.runner import GitRunner, actor_of
from tservice.git.service import GitService
from tservice.git.workspaces import CaseWorkspaces, SessionWorkspaces
from tservice.ground.feature import Feature
from tservice.ground.ground import Ground
from tservice.http.metrics import number
from tservice.sessions.interfaces import ISessions


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
    inside, inspector_of = in_place(ground.doors.files), partial(_inspector, ground, runner)
    work = GitWork(
        cloner=Cloner(children=children, in_place=inside, redactor=ground.redactor),
        unsaved=UnsavedWork(inside, inspector_of),
        worktrees=GitWorktrees(inside, inspector_of),
        children=children,
        runner=runner,
    )
    return Feature(
        name="git work",
        service=work,
        measures=[number("git_changing", "Git processes that change something.", work.running)],
        close=work.stop,
    )


def _inspector(ground: Ground, runner: GitRunner, place: Place) -> Inspector:
    """Its looks at files, and git itself, have the rights of C{place}."""
    return Inspector(
        clock=ground.reactor,
        runner=runner,
        in_thread=partial(in_place(ground.doors.files), place),
        environ=place.environment(),
        home=place.home,
        euid=place.user.uid,
        itself=actor_of(place),
    )


@frozen
class _Readers:
    """Makes a reader for each place."""

    ground: Ground
    runner: GitRunner
    forbidden: Callable[[], Iterable[str]]

    def of(self, place: Place) -> GitService:
        """The reader of C{place}."""
        return GitService(
            clock=self.ground.reactor,
            inspector=_inspector(self.ground, self.runner, place),
            in_thread=partial(in_place(self.ground.doors.files), place),
            home=place.home,
            containers=self.forbidden,
        )
