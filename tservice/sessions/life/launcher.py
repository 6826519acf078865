"""Starts a session's process, or adopts the running one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from attrs import field, frozen
from twisted.logger import Logger
from zope.interface import implementer

from tservice.clis.interfaces import ICliRegistry, LaunchPlan, LaunchRequest, PaneVariables
from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import Identity
from tservice.core.disk.kernel_paths import leads_to_kernel
from tservice.core.kernel.errors import ServiceError, make_failure_error, make_not_found_error
from tservice.core.locations.location import Location
from tservice.core.locations.workspace_bounds import FolderLimit, WorkspaceBounds
from tservice.core.users.os_users import can_enter_folder
from tservice.core.workers.reachability import AlwaysReachable, ReachabilityCheck
from tservice.core.workers.worker_pool import IThreads, SynchronousThreads
from tservice.mux.interface import (
    IMultiplexer,
    IPane,
    LeftoverProcess,
    MuxError,
    PaneGone,
    PaneSpec,
    TerminalColours,
)
from tservice.sessions.interfaces import (
    IAgentTokens,
    IChannelLaunch,
    ICustomModels,
    ILaunchPreparation,
    ModelRequest,
    SavedScreen,
    SavedStateReader,
)
from tservice.sessions.life.session_locations import SessionLocationRules, write_hook_secret
from tservice.sessions.record.model import EndpointModel, Session


@implementer(IChannelLaunch)
class NoChannelLaunch:
    """Channels of agents that have none."""

    async def add_channel(self, session: Session, plan: LaunchPlan) -> LaunchPlan:
        """Return the plan unchanged."""
        return plan


@frozen(kw_only=True)
class LaunchSettings:
    """Common settings of every pane.

    @ivar api_url: returns C{SERVICE_API_URL}. It is called at each start, because the kernel may
        choose the port.
    @ivar history_limit: returns the number of lines kept above the screen (setting
        C{historyLimit}).
    @ivar places: rules for the locations of panes.
    @ivar reach: checks that folders are reachable (no hung mount).
    @ivar files: the worker pool that reads users' folders.
    @ivar bounds: the folders in which the sessions of an account may work.
    @ivar channels: adds the agents' channels to their launches.
    """

    api_url: Callable[[], str]
    history_limit: Callable[[], int]
    places: SessionLocationRules
    bounds: WorkspaceBounds
    reach: ReachabilityCheck = field(factory=AlwaysReachable)
    files: IThreads = field(factory=SynchronousThreads)
    channels: IChannelLaunch = field(factory=NoChannelLaunch)


@implementer(ILaunchPreparation)
class NoLaunchPreparation:
    """Launch preparation for agents that read no files of the service."""

    async def prepare_launch(self, session: Session, env: Mapping[str, str]) -> None:
        """Do nothing, because no files are needed."""


@implementer(SavedStateReader)
class NoSavedState:
    """Recollection without any saved data."""

    def accept_records(self, records: Sequence[Session]) -> None:
        """Ignore the records."""

    async def get_preface(self, session: Session) -> bytes:
        return b""

    async def find_saved_screen(self, session: Session) -> SavedScreen | None:
        return None


@implementer(ICustomModels)
class NoCustomModels:
    """Custom models of a service without endpoints."""

    async def choose_model(self, mode: str, wish: ModelRequest, caller: Identity) -> EndpointModel:
        """Raise 404: there is no endpoint."""
        raise make_not_found_error(f"Model endpoint {wish.endpoint_id}")

    async def inject_model(self, session: Session, plan: LaunchPlan) -> LaunchPlan:
        """Return the plan unchanged."""
        return plan


class PaneLauncher:
    """Starts and adopts panes of sessions."""

    _log = Logger()

    def __init__(
        self,
        mux: IMultiplexer,
        clis: ICliRegistry,
        settings: LaunchSettings,
        preparation: ILaunchPreparation,
        recollection: SavedStateReader,
        models: Callable[[], ICustomModels] = NoCustomModels,
    ) -> None:
        self._models = models
        self._preparation = preparation
        self._recollection = recollection
        self._mux = mux
        self._clis = clis
        self._settings = settings
        self._tokens: IAgentTokens | None = None

    def set_token_issuer(self, tokens: IAgentTokens) -> None:
        """Set the issuer of agents' own tokens."""
        self._tokens = tokens

    def _token_environment(self, session: Session, place: Location) -> Mapping[str, str]:
        """Return the environment that points an agent to its token.

        A child session gets no token, so trees have one level. A session whose user cannot read the
        file gets none either.
        """
        alone = (
            session.parent_session_id is None and place.has_local_files and not place.is_isolated
        )
        path = (
            self._tokens.issue_token(session.id, session.owner or "")
            if self._tokens and alone
            else None
        )
        return {} if path is None else {"SERVICE_AGENT_TOKEN_FILE": str(path)}

    @property
    def places(self) -> SessionLocationRules:
        """Rules for the locations of panes."""
        return self._settings.places

    async def check_folders_reachable(self, session: Session) -> None:
        """Check that the folders for a start are reachable, so that they cannot block the service.

        @raise ServiceError: 422: a folder, or the system's user database, does not answer; 429: too
            many checks wait.
        """
        await self.places.places.prepare_location(session.location_id)
        folders = (session.working_dir,)
        await self._settings.reach.check_paths(session.location_id, folders, session.owner or "")

    def make_plan(
        self, session: Session, *, granted: bool, resume: str | None = None
    ) -> LaunchPlan:
        """Return the launch plan of a session.

        @param granted: true if the caller may bypass permissions.
        @param resume: the agent's own id of the conversation to continue; C{None} for a new one.
        @raise ServiceError: 400, 403 or 422 as for L{ICliRegistry.plan_launch}; 422: the session's
            location does not allow a start now (L{SessionLocationRules.find_start_location}).
        """
        return self._clis.plan_launch(self._launch_request(session, granted, resume))

    def check_may_start_program(self, session: Session, *, granted: bool) -> None:
        """Check that the caller could start the program that already runs.

        @param granted: true if the caller may bypass permissions.
        @raise ServiceError: as L{make_plan}, except for a CLI that is no longer installed.
        """
        self._clis.check_request(self._launch_request(session, granted, None))

    def _launch_request(self, session: Session, granted: bool, resume: str | None) -> LaunchRequest:
        place = self.places.find_start_location(session)
        return LaunchRequest(
            mode=session.mode,
            pane=self._make_pane_variables(session, place),
            params=session.params,
            resume=resume,
            overrides=session.env_overrides,
            granted=granted,
            place=place,
        )

    def _make_pane_variables(self, session: Session, place: Location) -> PaneVariables:
        hooks = place.hooks
        url = self._settings.api_url if hooks is None or hooks.url is None else hooks.url
        return PaneVariables(
            session_id=session.id,
            api_url=url(),
            hook_secret_file="" if hooks is None else str(hooks.secret_file),
        )

    async def launch_pane(
        self, session: Session, plan: LaunchPlan, caller: Caller, colours: TerminalColours
    ) -> IPane:
        """Start C{plan} in a pane of the session's size.

        @param plan: the result of L{make_plan}.
        @param colours: the terminal colours reported to the program.
        @param caller: called just before the start, because the caller may have lost the
            permission.
        @raise ServiceError: 403: the folder leads out of the account's folders; 422: the folder is
            gone, or the multiplexer could not start the program.
        """
        place = self.places.find_start_location(session)
        folder = session.working_dir
        inside = self._settings.bounds.get_folder_limit(session.owner, session.location_id)
        look = partial(place.run_file_work, partial(_is_usable, folder, inside))
        if place.has_local_files and not await self._settings.files.run(
            look, at=folder, owner=session.owner
        ):
            raise make_failure_error(
                f"the folder {folder} was not found, or its user may not enter it"
            )
        write_hook_secret(place)
        plan = await self._clis.remove_unsupported_arguments(session.mode, plan, place)
        plan = await self._models().inject_model(session, plan)
        await self._preparation.prepare_launch(session, plan.env)
        plan = await self._settings.channels.add_channel(session, plan)
        spec = PaneSpec(
            session_id=session.id,
            argv=plan.argv,
            env={**plan.env, **self._token_environment(session, place)},
            cwd=place.path_inside(folder),
            cols=session.cols,
            rows=session.rows,
            history_limit=self._settings.history_limit(),
            place=place,
            preface=await self._recollection.get_preface(session),
            colours=colours,
        )
        caller.reauthorize()
        try:
            return await self._mux.create_pane(spec)
        except MuxError as error:
            raise make_failure_error(f"the session could not be started: {error}") from error

    async def attach_pane(self, session: Session) -> IPane:
        """Return the pane of a tmux session that the service did not create.

        @raise ServiceError: 422: no tmux session has that name, or its server does not answer.
        """
        place = self.places.find_start_location(session)
        try:
            pane = await self._mux.adopt_pane(session.id, place)
        except MuxError as error:
            raise make_failure_error(f"could not attach to the tmux session: {error}") from error
        if pane is None:
            raise make_failure_error(
                f"there is no tmux session {place.id.tmux_session} on {place.title}"
            )
        return pane

    async def adopt_pane(self, session: Session) -> IPane | None:
        """Adopt the pane that already runs for the session; C{None} if no pane runs.

        @raise ServiceError: 422: the server or its location does not answer, so the pane must be
            left running.
        """
        place = await self.places.find_running_location(session)
        try:
            # Its hooks continue to work, even if the service has a new secret.
            write_hook_secret(place)
        except ServiceError as error:
            self._log.warn("hooks of {id}: {error}", id=session.id, error=error)
        try:
            pane = await self._mux.adopt_pane(session.id, place)
        except MuxError as error:
            raise make_failure_error(f"the session's terminal does not answer: {error}") from error
        if pane is not None and pane.ending is None:
            self._token_environment(session, place)
        return pane


def _is_usable(folder: str, inside: FolderLimit) -> bool:
    """Return true if the folder can be used. A link may have changed since the folder was chosen.

    @param inside: checks that the folder is in the account's folders.
    @raise ServiceError: 403: the folder leads out of the account's folders.
    """
    usable = can_enter_folder(folder) and not leads_to_kernel(folder)
    if usable:
        inside.check_folder(folder)
    return usable


async def end_pane(pane: IPane) -> tuple[LeftoverProcess, ...]:
    """End a pane and its server.

    @return: the processes that outlive the pane.
    @raise ServiceError: 422: it is not known if the pane ended.
    """
    try:
        return await pane.kill()
    except PaneGone:
        return ()
    except MuxError as error:
        raise make_failure_error(f"the session could not be ended: {error}") from error
