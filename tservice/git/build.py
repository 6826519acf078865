"""Assembly of the git features."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import TypeVar

from attrs import frozen
from twisted.internet.defer import gatherResults

from tservice.cases.interfaces import ICases
from tservice.core.locations.location import Location
from tservice.core.workers.program_lookup import make_program_finder
from tservice.core.workers.thread_runners import RunInThread, make_location_runner
from tservice.git.case_routes import CaseGitRoutes
from tservice.git.changing.child_processes import GitChildRunner
from tservice.git.changing.clone import RepositoryCloner
from tservice.git.changing.git_work import GitWork
from tservice.git.changing.missing_parts import MissingPartsFinder
from tservice.git.changing.unsaved_work import UnsavedWorkFinder
from tservice.git.changing.user_git import UserGit
from tservice.git.changing.worktrees import WorktreeManager
from tservice.git.interfaces import IUserGit, IWorkingCopies
from tservice.git.location_shell.location_copy import LocationCopies
from tservice.git.location_shell.shell_runner import LocationShellRunner
from tservice.git.model import ContainerWorkspaces
from tservice.git.process.runner import GitRunner, get_actor
from tservice.git.readers import GitReaderRegistry
from tservice.git.routes import GitRoutes
from tservice.git.service import GitService
from tservice.git.status.inspector import RepositoryInspector
from tservice.git.workspaces import CaseWorkspaces, SessionWorkingCopies, SessionWorkspaces
from tservice.http.metrics import make_gauge
from tservice.http.operation_decorator import collect_operations
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime
from tservice.sessions.interfaces import ISessions

_T = TypeVar("_T")


@frozen(kw_only=True)
class GitFeature:
    """Parts of this feature that other features use.

    @ivar copies: the working trees of sessions.
    @ivar user_git: the user's own git in the workspaces of sessions.
    """

    readers: GitReaderRegistry
    copies: IWorkingCopies
    user_git: IUserGit


def build_git(
    ground: Runtime, *, sessions: ISessions, containers: ContainerWorkspaces = tuple
) -> FeatureRegistration[GitFeature]:
    """Build the feature for git status and diffs.

    The feature needs no start.  Stopping it kills its git processes.

    @param containers: returns the workspaces of container cases, which are excluded in addition to
        those of sessions in containers.
    """
    workspaces = SessionWorkspaces(sessions, ground.workspace_bounds)
    runner = GitRunner(
        children=ground.make_child_runner(),
        threads=ground.worker_pools.files,
        environ=ground.environ,
        redactor=ground.redactor,
    )

    def container_folders() -> Iterable[str]:
        return {*workspaces.list_container_folders(), *containers()}

    shells = LocationShellRunner(ground.make_child_runner())
    service = GitReaderRegistry(
        _GitServiceFactory(ground, runner, container_folders).make_git_service,
        ground.locations,
        LocationCopies(shells=shells, threads=ground.worker_pools.files),
    )
    user_git = UserGit(
        shells=shells,
        children=ground.make_child_runner(),
        places=ground.locations,
        in_place=make_location_runner(ground.worker_pools.files),
        workspace_of=workspaces.get_workspace,
        redactor=ground.redactor,
    )
    return FeatureRegistration(
        name="git",
        service=GitFeature(
            readers=service,
            copies=SessionWorkingCopies(workspaces, service),
            user_git=user_git,
        ),
        operations=collect_operations(GitRoutes(service, workspaces.get_workspace)),
        measures=[
            make_gauge(
                "git_processes", "Running git processes.", lambda: runner.running + shells.running
            )
        ],
        close=lambda: gatherResults(
            [runner.stop(), shells.stop(), user_git.stop()], consumeErrors=True
        ),
    )


def build_case_git(
    ground: Runtime, *, git: GitReaderRegistry, cases: ICases
) -> FeatureRegistration[CaseWorkspaces]:
    """Build the feature for the git status of cases.

    Its git processes belong to the feature C{git}.  Stopping that feature kills them.
    """
    workspaces = CaseWorkspaces(cases, ground.workspace_bounds, ground.locations)
    operations = collect_operations(CaseGitRoutes(git, workspaces.get_workspace))
    return FeatureRegistration(name="git of cases", service=workspaces, operations=operations)


def build_git_work(
    ground: Runtime, containers: ContainerWorkspaces = tuple
) -> FeatureRegistration[GitWork]:
    """Build the feature for clones and worktrees.

    Stopping it kills its git processes.

    @param containers: returns the workspaces of container cases, in which git is never run.
    """
    runner = GitRunner(
        children=ground.make_child_runner(),
        threads=ground.worker_pools.files,
        environ=ground.environ,
        redactor=ground.redactor,
    )
    children = GitChildRunner(
        ground.make_child_runner(), make_program_finder(ground.worker_pools.files)
    )
    inside = make_location_runner(ground.worker_pools.files)
    inspector_of = partial(_make_inspector, ground, runner, containers=containers)
    incomplete = MissingPartsFinder(inside, inspector_of)
    work = GitWork(
        cloner=RepositoryCloner(
            children=children,
            in_place=inside,
            redactor=ground.redactor,
            incomplete=incomplete.find_missing_parts,
        ),
        incomplete=incomplete,
        unsaved=UnsavedWorkFinder(inside, inspector_of),
        worktrees=WorktreeManager(inside, inspector_of),
        children=children,
        runner=runner,
    )
    return FeatureRegistration(
        name="git work",
        service=work,
        measures=[
            make_gauge(
                "git_changing", "Running git processes that change files.", work.count_processes
            )
        ],
        close=work.stop,
    )


def _make_thread_runner(ground: Runtime, place: Location, owner: str | None) -> RunInThread:
    """Return a function that runs a callable in the worker threads of C{place}.

    The callable has the file permissions of that location's user, and counts toward the thread
    quota of C{owner}.
    """

    def run_in_thread(work: Callable[[], _T], at: str, /) -> Awaitable[_T]:
        return ground.worker_pools.files.run(partial(place.run_file_work, work), at=at, owner=owner)

    return run_in_thread


def _make_inspector(
    ground: Runtime,
    runner: GitRunner,
    place: Location,
    owner: str | None = None,
    containers: ContainerWorkspaces = tuple,
) -> RepositoryInspector:
    """Return an inspector that reads files and runs git as the OS user of the location C{place}."""
    return RepositoryInspector(
        clock=ground.reactor,
        runner=runner,
        in_thread=_make_thread_runner(ground, place, owner),
        environ=place.build_environment(),
        home=place.home,
        euid=place.user.uid,
        itself=get_actor(place),
        containers=containers,
        inside=partial(ground.workspace_bounds.get_folder_limit, owner, place.id),
    )


@frozen
class _GitServiceFactory:
    """Factory of git services, one for each location and account."""

    ground: Runtime
    runner: GitRunner
    forbidden: Callable[[], Iterable[str]]

    def make_git_service(self, place: Location, owner: str | None) -> GitService:
        """Return a service that reads repositories as the OS user of C{place}, for the account
        C{owner}.
        """
        return GitService(
            clock=self.ground.reactor,
            inspector=_make_inspector(self.ground, self.runner, place, owner, self.forbidden),
            in_thread=_make_thread_runner(self.ground, place, owner),
            home=place.home,
            containers=self.forbidden,
        )
