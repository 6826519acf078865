"""Builds the observation of the programs in panes."""

from __future__ import annotations

from tservice.clis.interfaces import ICliRegistry
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime
from tservice.sessions.interfaces import ISessions
from tservice.sessions.programs.watch import ProgramWatch


def build_program_watch(
    ground: Runtime, *, sessions: ISessions, clis: ICliRegistry
) -> FeatureRegistration[ProgramWatch]:
    """Build the feature that looks at the programs in the panes."""
    watch = ProgramWatch(ground.reactor, sessions, clis, ground.worker_pools.files)
    return FeatureRegistration(name="programs", service=watch, start=watch.start, close=watch.stop)
