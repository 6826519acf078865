"""Factory of the detection of agents that hang."""

from __future__ import annotations

from tservice.agents.interfaces import IAgents
from tservice.agents.stalls.nudging import Nudger
from tservice.agents.stalls.processes import read_started_programs
from tservice.agents.stalls.watch import ReadLatest, StallWatch
from tservice.audit.interfaces import IAuditLog
from tservice.clis.interfaces import ICliRegistry
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime
from tservice.sessions.interfaces import ISessions


def build_stall_watch(
    ground: Runtime,
    *,
    sessions: ISessions,
    agents: IAgents,
    clis: ICliRegistry,
    audit: IAuditLog,
    read_latest: ReadLatest,
) -> FeatureRegistration[StallWatch]:
    """Return the feature that marks the sessions of agents that hang.

    @param read_latest: returns the newest items of a session's conversation.
    """
    watch = StallWatch(
        clock=ground.reactor,
        hub=ground.hub,
        sessions=sessions,
        agents=agents,
        clis=clis,
        settings=ground.settings,
        threads=ground.worker_pools.files,
        read_latest=read_latest,
        read_programs=read_started_programs,
        nudger=Nudger(sessions, audit),
    )
    return FeatureRegistration(name="stalls", service=watch, start=watch.start, close=watch.stop)
