"""Inspection of a container that may end at any moment after its start."""

from __future__ import annotations

from tservice.containers.engine import EngineClient
from tservice.containers.engine_output import ContainerSnapshot, ContainerState
from tservice.containers.explanations import explain_early_end
from tservice.containers.model import ContainerCase
from tservice.containers.procfs import has_ended
from tservice.core.kernel.errors import make_failure_error


async def inspect_settled(case: ContainerCase, engine: EngineClient) -> ContainerSnapshot | None:
    """Return the state of a container; C{None} if there is none.

    If its main process has ended, wait until the engine has noticed that.

    @raise EngineError: the engine does not respond.
    """
    seen = (await engine.inspect_containers([case.container])).get(case.container)
    if seen is not None and seen.state is ContainerState.RUNNING and has_ended(seen.pid):
        await engine.wait_for_end(case.container)
        seen = (await engine.inspect_containers([case.container])).get(case.container)
    return seen


async def inspect_started(case: ContainerCase, engine: EngineClient) -> ContainerSnapshot:
    """Return the state of a container that was started.

    A container whose main process cannot run may end at any moment after its start.  Call this
    again when a later step fails, so that the end is reported and not its consequence.

    @raise EngineError: the engine does not respond.
    @raise ServiceError: 422: the container has ended.
    """
    seen = await inspect_settled(case, engine)
    if seen is None or seen.state not in (ContainerState.RUNNING, ContainerState.PAUSED):
        words = await engine.get_last_errors(case.container)
        raise make_failure_error(explain_early_end(case, seen, words))
    return seen
