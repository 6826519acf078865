"""Starting a session's process, or taking up the one that runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from attrs import field, frozen
from twisted.logger import Logger
from zope.interface import implementer

from tservice.clis.interfaces import ICliRegistry, Launch, LaunchRequest, PaneKeys
from tservice.core.doors.reach import NoReach, Reach
from tservice.core.doors.threads import IThreads, NoThreads
from tservice.core.errors import ServiceError, failed, not_found
from tservice.core.identity import Identity
from tservice.core.kernelfiles import leads_to_kernel
from tservice.core.places.bounds import Inside, WorkspaceBounds
from tservice.core.places.place import Place
from tservice.core.users.osuser import can_enter
from tservice.mux.interface import (
    Colours,
    IMultiplexer,
    IPane,
    Leftover,
    MuxError,
    PaneGone,
    PaneSpec,
)
from tservice.sessions.interfaces import (
    Again,
    IAgentTokens,
    ICustomModels,
    ILaunchPreparation,
    IRecollection,
    KeptScreen,
    ModelWish,
)
from tservice.sessions.life.places import SessionPlaces, put_secret
from tservice.sessions.record.model import CustomModel, Session


@frozen(kw_only=True)
class LaunchSettings:
    """What every pane is started with.

    @ivar api_url: C{SERVICE_API_URL}; asked at each start, for the port may be the kernel's choice.
    @ivar history_limit: lines above the screen (setting C{historyLimit}).
    @ivar places: where panes run.
    @ivar reach: asks whether folders answer.
    @ivar files: the door for what users' folders hold.
    @ivar bounds: where the sessions of an account may work.
    """

    api_url: Callable[[], str]
    history_limit: Callable[[], int]
    places: SessionPlaces
    bounds: WorkspaceBounds
    reach: Reach = field(factory=NoReach)
    files: IThreads = field(factory=NoThreads)


@implementer(ILaunchPreparation)
class NothingToPrepare:
    """For agents that read nothing of the service's."""

    async def prepare(self, session: Session, env: Mapping[str, str]) -> None:
        """Nothing to put in place."""


@implementer(IRecollection)
class NoRecollection:
    """For a machine that never goes down."""

    def recalled(self, records: Sequence[Session]) -> None:
        """Nothing to compare them with."""

    async def preface(self, session: Session) -> bytes:
        return b""

    async def screen(self, session: Session) -> KeptScreen | None:
        return None


@implementer(ICustomModels)
class NoModels:
    """There are no endpoints."""

    async def choose(self, mode: str, wish: ModelWish, caller: Identity) -> CustomModel:
        """None that could be chosen."""
        raise not_found(f"Model endpoint {wish.endpoint_id}")

    async def inject(self, session: Session, plan: Launch) -> Launch:
        """Nothing that could be put in."""
        return plan


class Launcher:
    """Panes for sessions."""

    _log = Logger()

    def __init__(
        self,
        mux: IMultiplexer,
        clis: ICliRegistry,
        settings: LaunchSettings,
        preparation: ILaunchPreparation,
        recollection: IRecollection,
        models: Callable[[], ICustomModels] = NoModels,
    ) -> None:
        self._models = models
        self._preparation = preparation
        self._recollection = recollection
        self._mux = mux
        self._clis = clis
        self._settings = settings
        self._tokens: IAgentTokens | None = None

    def hand_out(self, tokens: IAgentTokens) -> None:
        """From now on agents get tokens of their own."""
        self._tokens = tokens

    def _token(self, session: Session, place: Place) -> Mapping[str, str]:
        """What tells an agent of its token.

        A child gets none, so that trees have one level; nor one whose user cannot read the file.
        """
        alone = session.parent_session_id is None and place.near and not place.apart
        path = (
            self._tokens.give(session.id, session.owner or "") if self._tokens and alone else None
        )
        return {} if path is None else {"SERVICE_AGENT_TOKEN_FILE": str(path)}

    @property
    def places(self) -> SessionPlaces:
        """Where panes run."""
        return self._settings.places

    async def answers(self, session: Session) -> None:
        """Make sure that nothing that a start looks at holds up everybody.

        @raise ServiceError: 422: a folder, or the system's word on a user, does not answer; 429.
        """
        await self.places.places.ready(session.place)
        folders = (session.working_dir,)
        await self._settings.reach.paths(session.place, folders, session.owner or "")

    def plan(self, session: Session, *, granted: bool, resume: str | None = None) -> Launch:
        """What would run.

        @param granted: whoever asks may bypass permissions.
        @param resume: the agent's own conversation to go on with.
        @raise ServiceError: 400, 403 or 422, as L{ICliRegistry.launch} says; 422: nothing may be
            started in its place now (L{SessionPlaces.starting}).
        """
        return self._clis.launch(self._request(session, granted, resume))

    def judge(self, session: Session, *, granted: bool) -> None:
        """Make sure that whoever asks may start what runs already.

        @raise ServiceError: as L{plan}, but for a CLI that is not installed any more.
        """
        self._clis.check(self._request(session, granted, None))

    def _request(self, session: Session, granted: bool, resume: str | None) -> LaunchRequest:
        place = self.places.starting(session)
        return LaunchRequest(
            mode=session.mode,
            pane=self._keys(session, place),
            params=session.params,
            resume=resume,
            overrides=session.env_overrides,
            granted=granted,
            place=place,
        )

    def _keys(self, session: Session, place: Place) -> PaneKeys:
        hooks = place.hooks
        url = self._settings.api_url if hooks is None or hooks.url is None else hooks.url
        return PaneKeys(
            session_id=session.id,
            api_url=url(),
            hook_secret_file="" if hooks is None else str(hooks.secret_file),
        )

    async def launch(self, session: Session, plan: Launch, again: Again, colours: Colours) -> IPane:
        """Start C{plan} in a pane of the session's size.

        @param colours: what its program is told of those of its terminal.
        @param again: asked when all else is ready: who has it started may have lost the right.
        @raise ServiceError: 403: the folder leads out of what is the account's; 422: it is gone,
            or the multiplexer could not do it.
        """
        place = self.places.starting(session)
        folder = session.working_dir
        inside = self._settings.bounds.inside(session.owner, session.place)
        look = partial(place.act, partial(_is_usable, folder, inside))
        if place.near and not await self._settings.files.run(look, at=folder, owner=session.owner):
            raise failed(f"the folder {folder} is gone, or closed to its user")
        put_secret(place)
        plan = await self._clis.fitted(session.mode, plan, place)
        plan = await self._models().inject(session, plan)
        await self._preparation.prepare(session, plan.env)
        spec = PaneSpec(
            session_id=session.id,
            argv=plan.argv,
            env={**plan.env, **self._token(session, place)},
            cwd=place.inside(folder),
            cols=session.cols,
            rows=session.rows,
            history_limit=self._settings.history_limit(),
            place=place,
            preface=await self._recollection.preface(session),
            colours=colours,
        )
        again()
        try:
            return await self._mux.create(spec)
        except MuxError as error:
            raise failed(f"the session could not be started: {error}") from error

    async def attach(self, session: Session) -> IPane:
        """The pane of a tmux session that the service did not make.

        @raise ServiceError: 422: there is none of that name, or it does not answer.
        """
        place = self.places.starting(session)
        try:
            pane = await self._mux.adopt(session.id, place)
        except MuxError as error:
            raise failed(f"the tmux session cannot be attached to: {error}") from error
        if pane is None:
            raise failed(f"there is no tmux session {place.id.tmux_session} on {place.title}")
        return pane

    async def take_up(self, session: Session) -> IPane | None:
        """The pane that runs for the session already; C{None} when there is none.

        @raise ServiceError: 422: something is there but does not answer, or its place does not;
            leave it alone.
        """
        place = await self.places.running(session)
        try:
            # Its hooks go on too, also where this service has got a new secret since.
            put_secret(place)
        except ServiceError as error:
            self._log.warn("hooks of {id}: {error}", id=session.id, error=error)
        try:
            pane = await self._mux.adopt(session.id, place)
        except MuxError as error:
            raise failed(f"the session's terminal does not answer: {error}") from error
        if pane is not None and pane.ending is None:
            self._token(session, place)
        return pane


def _is_usable(folder: str, inside: Inside) -> bool:
    """A link may have been turned since the folder was chosen.

    @raise ServiceError: 403: it leads out of what is the account's.
    """
    usable = can_enter(folder) and not leads_to_kernel(folder)
    if usable:
        inside.check(folder)
    return usable


async def end(pane: IPane) -> tuple[Leftover, ...]:
    """End a pane and its server.

    @return: the processes that are left of it.
    @raise ServiceError: 422: nobody knows whether it ended.
    """
    try:
        return await pane.kill()
    except PaneGone:
        return ()
    except MuxError as error:
        raise failed(f"the session could not be ended: {error}") from error
