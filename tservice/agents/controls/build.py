"""Factory of the feature that controls running agents."""

from __future__ import annotations

from tservice.agents.controls.routes import ControlRoutes
from tservice.agents.controls.service import AgentControls
from tservice.agents.interfaces import IAgents
from tservice.clis.interfaces import ICliRegistry
from tservice.ground.feature import Feature
from tservice.ground.ground import Ground
from tservice.sessions.interfaces import ISessions


def build_controls(
    ground: Ground, *, sessions: ISessions, agents: IAgents, clis: ICliRegistry
) -> Feature[AgentControls]:
    """Return the feature. It stores nothing, so there is nothing to start or stop."""
    controls = AgentControls(ground.reactor, sessions, agents, clis)
    return Feature(
        name="controls", service=controls, operations=ControlRoutes(controls).build_operations()
    )
