"""Starting a session's process, or taking up the one that runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from attrs import field, frozen
from twisted.logger import Logger
from zope.interface import implementer

from tservice.clis.interfaces import ICliRegistry, Launch, LaunchRequest, PaneKeys
from tservice.core.doors.reach import IReach, NoReach
from tservice.core.doors.threads import IThreads, NoThreads
from tservice.core.errors import ServiceError, failed
from tservice.core.kernelfiles import leads_to_kernel
from tservice.core.users.osuser import can_enter
from tservice.mux.interface import IMultiplexer, IPane, MuxError, PaneGone, PaneSpec
from tservice.sessions.interfaces import ILaunchPreparation
from tservice.sessions.life.osusers import SessionOsUsers
from tservice.sessions.record.model import Session


@frozen(kw_only=True)
class LaunchSettings:
    """What every pane is started with.

    @ivar api_url: C{SERVICE_API_URL}; asked at each start, for the port may be the kernel's choice.
    @ivar history_limit: lines above the screen (setting C{historyLimit}).
    @ivar os_users: the OS users that panes run as.
    @ivar reach: asks whether folders answer.
    @ivar files: the door for what users' folders hold.
    """

    api_url: Callable[[], str]
    hook_secret_file: Path
    history_limit: Callable[[], int]
    os_users: SessionOsUsers = field(factory=SessionOsUsers)
    reach: IReach = field(factory=NoReach)
    files: IThreads = field(factory=NoThreads)


@implementer(ILaunchPreparation)
class NothingToPrepare:
    """For agents that read nothing of the service's."""

    async def prepare(self, session: Session, env: Mapping[str, str]) -> None:
        """Nothing to put in place."""


class Launcher:
    """Panes for sessions."""

    _log = Logger()

    def __init__(
        self,
        mux: IMultiplexer,
        clis: ICliRegistry,
        settings: LaunchSettings,
        preparation: ILaunchPreparation,
    ) -> None:
        self._preparation = preparation
        self._mux = mux
        self._clis = clis
        self._settings = settings

    @property
    def os_users(self) -> SessionOsUsers:
        """As whom panes run."""
        return self._settings.os_users

    async def answers(self, session: Session) -> None:
        """Make sure that nothing that a start looks at holds up everybody.

        @raise ServiceError: 422: a folder, or the system's word on a user, does not answer; 429.
        """
        os_user = None if session.os_user is None else session.os_user.name
        folders = (session.working_dir,)
        await self._settings.reach.paths(os_user, folders, session.owner or "")

    def plan(self, session: Session, *, granted: bool, resume: str | None = None) -> Launch:
        """What would run.

        @param granted: whoever asks may bypass permissions.
        @param resume: the agent's own conversation to go on with.
        @raise ServiceError: 400, 403 or 422, as L{ICliRegistry.launch} says; 422: the OS user that
            it was made for is not that of its account any more, or panes cannot run as it.
        """
        user = self._settings.os_users.starting(session)
        secret_file = self._settings.hook_secret_file
        if user is not None:
            secret_file = self._settings.os_users.secret_file(user)
        request = LaunchRequest(
            mode=session.mode,
            pane=PaneKeys(
                session_id=session.id,
                api_url=self._settings.api_url(),
                hook_secret_file=str(secret_file),
            ),
            params=session.params,
            resume=resume,
            overrides=session.env_overrides,
            granted=granted,
            os_user=user,
        )
        return self._clis.launch(request)

    async def launch(self, session: Session, plan: Launch) -> IPane:
        """Start C{plan} in a pane of the session's size.

        @raise ServiceError: 422: the folder is gone, or the multiplexer could not do it.
        """
        os_users = self._settings.os_users
        user = os_users.starting(session)
        look = partial(_is_usable, session.working_dir)
        if not await self._settings.files.run(partial(os_users.users.act, user, look)):
            raise failed(f"the folder {session.working_dir} is gone, or closed to its user")
        os_users.put_secret(user)
        await self._preparation.prepare(session, plan.env)
        spec = PaneSpec(
            session_id=session.id,
            argv=plan.argv,
            env=plan.env,
            cwd=session.working_dir,
            cols=session.cols,
            rows=session.rows,
            history_limit=self._settings.history_limit(),
            os_user=user,
        )
        try:
            return await self._mux.create(spec)
        except MuxError as error:
            raise failed(f"the session could not be started: {error}") from error

    async def take_up(self, session: Session) -> IPane | None:
        """The pane that runs for the session already; C{None} when there is none.

        @raise ServiceError: 422: something is there but does not answer, or nobody knows who its
            user is; leave it alone.
        """
        users = self._settings.os_users.users
        await users.ask(None if session.os_user is None else session.os_user.name)
        user = users.recall(session.os_user)
        try:
            # Its hooks go on too, also where this service has got a new secret since.
            self._settings.os_users.put_secret(user)
        except ServiceError as error:
            self._log.warn("hooks of {id}: {error}", id=session.id, error=error)
        try:
            return await self._mux.adopt(session.id, user)
        except MuxError as error:
            raise failed(f"the session's terminal does not answer: {error}") from error


def _is_usable(folder: str) -> bool:
    """A link may have been turned since the folder was chosen."""
    return can_enter(folder) and not leads_to_kernel(folder)


async def end(pane: IPane) -> None:
    """End a pane and its server.

    @raise ServiceError: 422: nobody knows whether it ended.
    """
    try:
        await pane.kill()
    except PaneGone:
        return
    except MuxError as error:
        raise failed(f"the session could not be ended: {error}") from error
