"""Factory of the channels."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from tservice.agents.activity.agent_registry import AgentRegistry
from tservice.agents.channels.decision_intake import DecisionIntake
from tservice.agents.channels.held_hooks import HeldHooks
from tservice.agents.channels.hook_answerer import HookAnswerer
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
    @ivar answers: gives answers to these hooks.
    @ivar close: releases the hooks.
    """

    decisions: DecisionIntake
    answers: HookAnswerer
    close: Callable[[], None]


def build_decision_channel(
    ground: Runtime, hooks: HookIntake, sessions: Callable[[], ISessions]
) -> DecisionChannel:
    """Return the channel; C{sessions} is called later, once a session starts."""
    held = HeldHooks(ground.reactor, ground.hub)
    return DecisionChannel(
        decisions=DecisionIntake(hooks, held, ground.settings, sessions),
        answers=HookAnswerer(ground.reactor, held),
        close=held.close,
    )


def build_status_channel(
    ground: Runtime,
    agents: AgentRegistry,
    clis: ICliRegistry,
    sessions: Callable[[], ISessions],
) -> StatusChannel:
    """Return the channel for the status that agents write to files."""
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
    )


def measure_disagreements(channel: StatusChannel) -> MetricSource:
    """Return the counter of differences between agents' reports and their screens."""
    return MetricSource(
        "status_conflicts_total",
        "Differences of over 2 s between the status that an agent reports and its screen.",
        lambda: {(): channel.disagreements},
        grows=True,
    )
