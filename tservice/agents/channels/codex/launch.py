"""Start of an agent with a channel, where nothing else changes by that."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from attrs import evolve
from twisted.logger import Logger
from zope.interface import implementer

from tservice.agents.channels.codex.sockets import CodexSockets
from tservice.clis.interfaces import ICliRegistry, LaunchPlan, ServerChannel
from tservice.core.kernel.errors import ServiceError
from tservice.core.locations.location import OWN_LOCATION
from tservice.core.locations.location_registry import LocationRegistry
from tservice.core.workers.worker_pool import IThreads
from tservice.sessions.interfaces import IChannelLaunch, Session
from tservice.settings.interfaces import ISettings


@implementer(IChannelLaunch)
class ServerLaunch:
    """Launches with a channel: on this machine, as the service's own user."""

    _log = Logger()

    def __init__(
        self,
        settings: ISettings,
        clis: ICliRegistry,
        places: LocationRegistry,
        files: IThreads,
        sockets: CodexSockets,
    ) -> None:
        """@param files: thread pool that reads users' folders."""
        self._settings = settings
        self._clis = clis
        self._places = places
        self._files = files
        self._sockets = sockets

    async def add_channel(self, session: Session, plan: LaunchPlan) -> LaunchPlan:
        path = self._sockets.get_path(session.id)
        place = self._places.find_earlier_location(session.location_id)
        off = session.mode in self._settings.get().agent_channels_off
        if path is None or off or place.id != OWN_LOCATION:
            return plan
        channel = await self._clis.find_server_channel(session.mode, plan, place)
        if channel is None:
            return plan
        look = partial(place.run_file_work, partial(self._look, channel, session, plan))
        try:
            usual = await self._files.run(look, at=session.working_dir, owner=session.owner)
        except (OSError, ServiceError) as error:
            self._log.info("session {id} has no channel: {error}", id=session.id, error=error)
            return plan
        argv = channel.build_argv(plan.argv, channel.choose_path(path))
        return evolve(plan, argv=argv) if usual else plan

    def _look(self, channel: ServerChannel, session: Session, plan: LaunchPlan) -> bool:
        """Return true if the agent behaves as usual with a channel. This blocks."""
        usual = channel.may_start(Path(session.working_dir), plan.env)
        return usual and self._sockets.make_folder()
