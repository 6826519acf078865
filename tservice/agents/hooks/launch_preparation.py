"""Preparation of an agent's start, which writes hooks into the workspace if the settings request it
(protocol-hook-config).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from twisted.logger import Logger
from zope.interface import implementer

from tservice.agents.hooks.first_run import NotSeededError, seed_first_run
from tservice.agents.hooks.hook_config import CommandHook
from tservice.agents.hooks.hook_config_writer import FileRefusedError, HookConfigWriter
from tservice.agents.hooks.hook_script import build_hook_command
from tservice.agents.hooks.statusline import build_status_command
from tservice.agents.model import HookEvent
from tservice.clis.interfaces import HookSupport, ICliRegistry
from tservice.core.locations.location import Location, LocationId
from tservice.core.locations.location_registry import LocationRegistry
from tservice.core.locations.workspace_bounds import FolderLimit
from tservice.core.workers.worker_pool import IThreads
from tservice.sessions.interfaces import ILaunchPreparation, ISessions, Session
from tservice.settings.interfaces import ISettings


@implementer(ILaunchPreparation)
class HookPreparation:
    """Writer of the hook configuration, which also records if hooks are available
    (C{hooksAvailable}).

    The first hook that arrives sets that field too. A file that is refused is logged and not
    changed: the agent runs without hooks, and its state is read from its screen. With
    C{workspaceHooksEnabled} off, the service's entries are removed. With C{firstRunSeedEnabled} on,
    the agent's first-run state is written too.
    """

    _log = Logger()

    def __init__(
        self,
        settings: ISettings,
        clis: ICliRegistry,
        sessions: Callable[[], ISessions],
        places: LocationRegistry,
        files: IThreads,
        inside: Callable[[str | None, LocationId], FolderLimit],
        dialog_hook: CommandHook,
    ) -> None:
        """@param places: locations of sessions; a workspace is written with the rights of its
            session's location.
        @param files: thread pool that reads and writes users' folders.
        @param inside: returns the folder that must contain an account's session folders in a
            location.
        @param dialog_hook: the hook of the agent's channel for permission dialogs.
        """
        self._dialog_hook = dialog_hook
        self._files = files
        self._inside = inside
        self._places = places
        self._settings = settings
        self._clis = clis
        self._sessions = sessions

    async def prepare_launch(self, session: Session, env: Mapping[str, str]) -> None:
        entry = self._clis.get_entry(session.mode)
        if entry is None or entry.capabilities.hooks is HookSupport.NONE:
            return
        place = self._places.find_earlier_location(session.location_id)
        if place.unreadable_reason is None and self._settings.get().first_run_seed_enabled:
            await self._seed_first_run(session, place, env)
        available = place.hooks is not None and await self._write_config(session, place, env)
        if session.hooks_available != available:
            self._sessions().update_record(session.id, hooks_available=available)

    def get_writer(self, place: Location, owner: str | None) -> Callable[[Path], None]:
        """See L{tservice.cases.interfaces.WorkspaceHookWriter}."""
        config = HookConfigWriter(place.home)
        wanted = self._settings.get().workspace_hooks_enabled
        inside = self._inside(owner, place.id)

        def write_hooks(folder: Path) -> None:
            if not wanted:
                return
            try:
                config.write_config(folder, hooks=True, telemetry=False, environ={}, inside=inside)
            except FileRefusedError as error:
                why = error.__cause__
                raise why if isinstance(why, OSError) else OSError(str(error)) from error

        return write_hooks

    def list_own_commands(self, home: Path, env: Mapping[str, str]) -> frozenset[str]:
        """Return the commands that the service would write into a folder without its own status
        line.

        @param home: the home folder of the folder's user. Reading in it may block.
        """
        line = HookConfigWriter(home).find_user_line(env)
        hooks = {build_hook_command(event) for event in HookEvent}
        return frozenset(
            {
                *hooks,
                self._dialog_hook.command,
                build_status_command(None),
                build_status_command(line),
            }
        )

    async def _seed_first_run(
        self, session: Session, place: Location, env: Mapping[str, str]
    ) -> None:
        try:
            work = partial(place.run_file_work, partial(seed_first_run, place.home, env))
            await self._files.run(work, at=str(place.home), owner=session.owner)
        except NotSeededError as error:
            self._log.warn("session {id}: no first-run state: {error}", id=session.id, error=error)

    async def _write_config(
        self, session: Session, place: Location, env: Mapping[str, str]
    ) -> bool:
        chosen = self._settings.get()
        hooks = chosen.workspace_hooks_enabled
        channel = session.mode not in chosen.agent_channels_off
        telemetry = chosen.show_plan_usage_limits or session.statusline_telemetry
        config, folder = HookConfigWriter(place.home), Path(session.working_dir)
        inside = self._inside(session.owner, session.location_id)

        def write_config() -> None:
            config.write_config(
                folder,
                hooks=hooks,
                telemetry=telemetry,
                environ=env,
                inside=inside,
                dialog_hook=self._dialog_hook if channel else None,
            )

        try:
            await self._files.run(
                partial(place.run_file_work, write_config),
                at=session.working_dir,
                owner=session.owner,
            )
        except FileRefusedError as error:
            self._log.warn(
                "session {id} has no hooks: {error}", id=session.id, error=error, event="no-hooks"
            )
            return False
        return hooks
