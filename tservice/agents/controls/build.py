"""Factory of the feature that controls running agents."""

from __future__ import annotations

from tservice.agents.controls.routes import ControlRoutes
from tservice.agents.controls.service import AgentControls
from tservice.agents.interfaces import IAgents
from tservice.clis.interfaces import ICliRegistry
from tservice.http.operation_decorator import collect_operations
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime
from tservice.sessions.interfaces import ISessions


def build_controls(
    ground: Runtime, *, sessions: ISessions, agents: IAgents, clis: ICliRegistry
) -> FeatureRegistration[AgentControls]:
    """Return the feature that controls running agents; it has nothing to start or stop."""
    controls = AgentControls(ground.reactor, sessions, agents, clis)
    return FeatureRegistration(
        name="controls", service=controls, operations=collect_operations(ControlRoutes(controls))
    )
