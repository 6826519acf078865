"""Factory of the channels."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from attrs import frozen

from tservice.agents.activity.agent_registry import AgentRegistry
from tservice.agents.approvals.answer_delivery import AnswerChannel
from tservice.agents.channels.channel_answerer import ChannelAnswerer, FirstAnswerer
from tservice.agents.channels.codex.answers import ServerQuestions
from tservice.agents.channels.codex.connector import make_connector
from tservice.agents.channels.codex.launch import ServerLaunch
from tservice.agents.channels.codex.servers import CodexServers
from tservice.agents.channels.codex.sockets import CodexSockets
from tservice.agents.channels.decision_intake import DecisionIntake
from tservice.agents.channels.held_hooks import HeldHooks
from tservice.agents.channels.hook_questions import HookQuestions
from tservice.agents.channels.status_channel import StatusChannel
from tservice.agents.channels.status_folders import StatusFolders
from tservice.agents.hooks.intake import HookIntake
from tservice.clis.interfaces import ICliRegistry
from tservice.core.locations.folder_watches import FolderWatches
from tservice.core.workers.thread_runners import make_location_runner
from tservice.http.metrics import MetricSource
from tservice.runtime.runtime import Runtime
from tservice.sessions.interfaces import ISessions


@frozen(kw_only=True)
class DecisionChannel:
    """Channel for the answers to permission dialogs.

    @ivar decisions: lets the agents' hooks wait.
    @ivar answers: gives answers to these hooks, and to the questions of servers.
    @ivar close: releases the hooks.
    """

    decisions: DecisionIntake
    answers: AnswerChannel
    close: Callable[[], None]


def build_decision_channel(
    ground: Runtime,
    hooks: HookIntake,
    sessions: Callable[[], ISessions],
    servers: CodexServers,
) -> DecisionChannel:
    """Return the channel; C{sessions} is called later, once a session starts."""
    held = HeldHooks(ground.reactor, ground.hub)
    return DecisionChannel(
        decisions=DecisionIntake(hooks, held, ground.settings, sessions),
        answers=FirstAnswerer(
            ChannelAnswerer(ground.reactor, HookQuestions(held)),
            ChannelAnswerer(ground.reactor, ServerQuestions(servers)),
        ),
        close=held.close,
    )


@frozen(kw_only=True)
class ServerChannels:
    """Channels to the servers of Codex' sessions.

    @ivar sockets: where the servers listen, and agents write their status.
    @ivar servers: listens to the servers.
    @ivar launch: starts sessions with a channel.
    """

    sockets: CodexSockets
    servers: CodexServers
    launch: ServerLaunch


def build_server_channels(
    ground: Runtime, agents: AgentRegistry, clis: ICliRegistry, hooks: HookIntake
) -> ServerChannels:
    """Return the channels to servers, whose sockets are in a folder of the service's data."""
    files = ground.worker_pools.files
    folder = ground.config.data_dir / "channels"
    sockets = CodexSockets(folder, partial(files.run, at=str(folder)))
    servers = CodexServers(
        ground.reactor,
        sockets,
        make_connector(ground.reactor),
        hooks.handle_hook_event,
        agents.capture_screen,
    )
    launch = ServerLaunch(ground.settings, clis, ground.locations, files, sockets)
    return ServerChannels(sockets=sockets, servers=servers, launch=launch)


def build_status_channel(
    ground: Runtime,
    agents: AgentRegistry,
    clis: ICliRegistry,
    sessions: Callable[[], ISessions],
    servers: CodexServers,
    sockets: CodexSockets,
) -> StatusChannel:
    """Return the channel for the status that agents report beside hooks and screens."""
    watches = FolderWatches(ground.reactor)
    run = make_location_runner(ground.worker_pools.files)
    return StatusChannel(
        ground.reactor,
        sessions,
        agents,
        clis,
        ground.settings,
        ground.locations,
        lambda tell: StatusFolders(ground.reactor, watches.watch_folder, run, tell),
        servers,
        sockets.get_path,
    )


def measure_disagreements(channel: StatusChannel) -> MetricSource:
    """Return the counter of differences between agents' reports and their screens."""
    return MetricSource(
        "status_conflicts_total",
        "Differences of over 2 s between the status that an agent reports and its screen.",
        lambda: {(): channel.disagreements},
        grows=True,
    )
