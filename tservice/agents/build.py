"""Factory of the agents feature."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from tservice.agents.activity.gate import AgentGate
from tservice.agents.activity.sources import Agents, AgentsDependencies
from tservice.agents.foldertrust.preview import FolderPreview
from tservice.agents.foldertrust.routes import folder_operations
from tservice.agents.foldertrust.service import FolderTrust, TrustDependencies
from tservice.agents.foldertrust.store import TrustStore
from tservice.agents.hooks.install import HookPreparation
from tservice.agents.hooks.intake import HookIntake
from tservice.agents.hooks.routes import agent_operations
from tservice.agents.hooks.telemetry import TelemetryIntake
from tservice.agents.hooks.telemetry_model import plan_usage_told
from tservice.agents.store import AgentStore
from tservice.agents.transcripts.conversations import StoredConversations
from tservice.agents.transcripts.homes import Homes, own_files
from tservice.agents.transcripts.proofs import Proofs
from tservice.cases.interfaces import ICases, WorkspaceHookWriter
from tservice.clis.interfaces import ICliRegistry
from tservice.core.doors.thread_runners import make_owner_runner
from tservice.core.identity import Identity
from tservice.core.places.location import OWN_LOCATION
from tservice.ground.feature import Feature
from tservice.ground.ground import Ground
from tservice.sessions.interfaces import ISessions
from tservice.sessions.life.activity import PlainSources
from tservice.sessions.service import AgentSupport


@frozen(kw_only=True)
class AgentServices:
    """Services that the sessions get from the agents.

    @ivar agents: for other features.
    @ivar support: for the sessions.
    @ivar workspace_hooks: for new folders.
    @ivar trust: judges folders before agents start in them.
    """

    agents: Agents
    support: AgentSupport
    hooks: HookIntake
    telemetry: TelemetryIntake
    workspace_hooks: WorkspaceHookWriter
    trust: FolderTrust


def build_agents(
    ground: Ground, *, clis: ICliRegistry, sessions: Callable[[], ISessions]
) -> Feature[AgentServices]:
    """Return the agents feature. At a stop it unsubscribes from hooks, and the watches end with
    their sessions.

    @param sessions: not called before one of them starts, because they are created after the
        agents.
    """
    clock, hub = ground.reactor, ground.hub
    store = AgentStore(ground.database)
    homes = Homes(
        own=own_files(ground.home, clis),
        places=ground.places,
        inside=ground.bounds.get_folder_limit,
    )
    look = make_owner_runner(ground.doors.files)
    proofs = Proofs(clock, homes, store.transcript, look)
    agents = Agents(
        AgentsDependencies(
            clock=clock,
            hub=hub,
            sessions=sessions,
            clis=clis,
            shells=PlainSources(clock, clis),
            store=store,
            places=ground.places,
            proofs=proofs,
            files=ground.doors.files,
        )
    )
    preparation, trust = _preparing(ground, clis, sessions)
    hooks = HookIntake(clock, hub, sessions, clis, agents, store, proofs)
    telemetry = TelemetryIntake(clock, hub, sessions, store)

    def close() -> None:
        hooks.stop()
        telemetry.stop()

    def plan_usage(caller: Identity) -> object:
        """Return the plan usage of the service's own user, for accounts whose agents run as that
        user.
        """
        return plan_usage_told(agents.plan_usage() if caller.location_id == OWN_LOCATION else None)

    return Feature(
        name="agents",
        service=AgentServices(
            agents=agents,
            support=AgentSupport(
                activity=agents,
                gate=AgentGate(agents.readiness_of, agents.rules_of, proofs),
                preparation=trust,
                conversations=StoredConversations(lambda: homes, look),
            ),
            hooks=hooks,
            telemetry=telemetry,
            workspace_hooks=preparation,
            trust=trust,
        ),
        operations=agent_operations(hooks, telemetry),
        tells={"planUsage": plan_usage},
        forget=trust.forget_strangers,
        close=close,
    )


def build_folder_preview(trust: FolderTrust, cases: ICases) -> Feature[FolderPreview]:
    """The route that looks at folders; it keeps nothing."""
    preview = FolderPreview(trust, cases)
    return Feature(name="folders", service=preview, operations=folder_operations(preview))


def _preparing(
    ground: Ground, clis: ICliRegistry, sessions: Callable[[], ISessions]
) -> tuple[HookPreparation, FolderTrust]:
    """What goes into a folder before an agent starts there, and who judges the folder then."""
    inside, files = ground.bounds.get_folder_limit, ground.doors.files
    hooks = HookPreparation(ground.settings, clis, sessions, ground.places, files, inside)
    deps = TrustDependencies(
        settings=ground.settings,
        clis=clis,
        places=ground.places,
        files=files,
        inside=inside,
        store=TrustStore(ground.reactor, ground.database),
        own=hooks.own_commands,
    )
    return hooks, FolderTrust(deps, hooks)
