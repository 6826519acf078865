"""Factory of the channels."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from tservice.agents.channels.decision_intake import DecisionIntake
from tservice.agents.channels.held_hooks import HeldHooks
from tservice.agents.channels.hook_answerer import HookAnswerer
from tservice.agents.hooks.intake import HookIntake
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
