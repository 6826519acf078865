"""Before an agent starts: its hooks are put into the workspace, if the settings say so
(protocol-hook-config)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from twisted.logger import Logger
from zope.interface import implementer

from tservice.agents.hooks.files import HookConfig, Refused
from tservice.agents.hooks.firstrun import NotSeeded, seed
from tservice.clis.interfaces import Hooks, ICliRegistry
from tservice.core.doors.threads import IThreads, NoThreads
from tservice.core.users.osuser import OsUser, OsUsers
from tservice.sessions.interfaces import ILaunchPreparation, ISessions, Location, Session
from tservice.settings.interfaces import ISettings


@implementer(ILaunchPreparation)
class HookPreparation:
    """Writes the hook configuration and notes whether there is one (C{hooksAvailable}).

    Wherever the file comes from, the first hook that arrives sets that field too.

    A file that is refused is logged and left alone: the agent runs without hooks, and all that they
    tell is read from its screen.  With C{workspaceHooksEnabled} off, entries of ours are taken out.
    With C{firstRunSeedEnabled} on, the agent's first-run state is put in place too.
    """

    _log = Logger()

    def __init__(
        self,
        config: HookConfig,
        settings: ISettings,
        clis: ICliRegistry,
        sessions: Callable[[], ISessions],
        os_users: OsUsers | None = None,
        files: IThreads | None = None,
    ) -> None:
        """
        @param os_users: a workspace of one of them is written to as that user.
        @param files: the door for what users' folders hold; C{None}: at once.
        """
        self._files = files or NoThreads()
        self._os_users = os_users or OsUsers()
        self._config = config
        self._settings = settings
        self._clis = clis
        self._sessions = sessions

    async def prepare(self, session: Session, env: Mapping[str, str]) -> None:
        entry = self._clis.get(session.mode)
        if entry is None or entry.capabilities.hooks is Hooks.NONE:
            return
        # Elsewhere the file is not ours to reach, and the agent cannot reach us.
        if session.location is Location.LOCAL and self._settings.get().first_run_seed_enabled:
            await self._seed(session, env)
        available = session.location is Location.LOCAL and await self._write(session, env)
        if session.hooks_available != available:
            self._sessions().update(session.id, hooks_available=available)

    async def _seed(self, session: Session, env: Mapping[str, str]) -> None:
        user = self._os_users.recall(session.os_user)
        home = self._config.home if user is None else user.home
        try:
            await self._as(user, lambda: seed(home, env))
        except NotSeeded as error:
            self._log.warn("session {id}: no first-run state: {error}", id=session.id, error=error)

    async def _write(self, session: Session, env: Mapping[str, str]) -> bool:
        chosen = self._settings.get()
        hooks = chosen.workspace_hooks_enabled
        telemetry = chosen.show_plan_usage_limits or session.statusline_telemetry
        user = self._os_users.recall(session.os_user)
        config = self._config if user is None else HookConfig(user.home)
        folder = Path(session.working_dir)

        def write() -> None:
            config.write(folder, hooks=hooks, telemetry=telemetry, environ=env)

        try:
            await self._as(user, write)
        except Refused as error:
            self._log.warn(
                "session {id} has no hooks: {error}", id=session.id, error=error, event="no-hooks"
            )
            return False
        return hooks

    async def _as(self, user: OsUser | None, work: Callable[[], None]) -> None:
        await self._files.run(partial(self._os_users.act, user, work))
