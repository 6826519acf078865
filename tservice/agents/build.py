"""Factory of the agents feature."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from tservice.agents.activity.agent_registry import AgentRegistry, AgentRegistryDependencies
from tservice.agents.activity.input_gate import AgentGate
from tservice.agents.channels.build import (
    DecisionChannel,
    build_decision_channel,
    build_server_channels,
    build_status_channel,
    measure_disagreements,
)
from tservice.agents.channels.decision_script import build_dialog_hook
from tservice.agents.foldertrust.preview import FolderTrustPreview
from tservice.agents.foldertrust.routes import FolderTrustRoutes
from tservice.agents.foldertrust.service import FolderTrust, TrustDependencies
from tservice.agents.foldertrust.store import TrustStore
from tservice.agents.hooks.intake import HookIntake
from tservice.agents.hooks.launch_preparation import HookPreparation
from tservice.agents.hooks.routes import HookRoutes
from tservice.agents.hooks.status_line_report import make_usage_payload
from tservice.agents.hooks.telemetry import TelemetryIntake
from tservice.agents.store import AgentStore
from tservice.agents.transcripts.prompt_proofs import PromptProofs
from tservice.agents.transcripts.resume_lookup import ResumeLookup
from tservice.agents.transcripts.transcript_homes import (
    TranscriptHomes,
    find_own_locations,
)
from tservice.cases.interfaces import ICases, WorkspaceHookWriter
from tservice.clis.interfaces import ICliRegistry
from tservice.core.callers.identity import Identity
from tservice.core.locations.location import OWN_LOCATION
from tservice.core.workers.thread_runners import make_owner_runner
from tservice.http.operation_decorator import collect_operations
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime
from tservice.sessions.interfaces import ISessions
from tservice.sessions.life.activity import PlainSources
from tservice.sessions.service import AgentSupport


@frozen(kw_only=True)
class AgentServices:
    """Services that the agents feature provides.

    @ivar agents: queries about agents, for other features.
    @ivar support: functions that the sessions need from the agents.
    @ivar workspace_hooks: writes hooks into new folders.
    @ivar trust: checks folders before agents start in them.
    @ivar channel: gives agents answers that need no keys.
    """

    agents: AgentRegistry
    support: AgentSupport
    hooks: HookIntake
    telemetry: TelemetryIntake
    workspace_hooks: WorkspaceHookWriter
    trust: FolderTrust
    channel: DecisionChannel


def build_agents(
    ground: Runtime, *, clis: ICliRegistry, sessions: Callable[[], ISessions]
) -> FeatureRegistration[AgentServices]:
    """Return the agents feature; C{sessions} is called later, once a session starts."""
    clock, hub = ground.reactor, ground.hub
    store = AgentStore(ground.database)
    homes = _find_transcript_homes(ground, clis)
    look = make_owner_runner(ground.worker_pools.files)
    proofs = PromptProofs(clock, homes, store.get_transcript_path, look)
    agents = _build_registry(ground, clis, sessions, store, proofs)
    preparation, trust = _build_launch_preparation(ground, clis, sessions)
    hooks = HookIntake(clock, hub, sessions, clis, agents, store, proofs)
    servers = build_server_channels(ground, agents, clis, hooks)
    status = build_status_channel(ground, agents, clis, sessions, servers.servers, servers.sockets)
    telemetry = TelemetryIntake(clock, hub, sessions, store)
    channel = build_decision_channel(ground, hooks, sessions, servers.servers)

    def close_agents() -> None:
        hooks.stop()
        telemetry.stop()
        channel.close()
        status.close()

    def make_plan_usage(caller: Identity) -> object:
        """Return the plan usage of the service's own user; C{None} for callers with another OS
        user.
        """
        return make_usage_payload(
            agents.get_plan_usage() if caller.location_id == OWN_LOCATION else None
        )

    return FeatureRegistration(
        name="agents",
        service=AgentServices(
            agents=agents,
            support=AgentSupport(
                activity=agents,
                gate=AgentGate(agents.get_readiness, agents.get_screen_rules, proofs),
                preparation=trust,
                conversations=ResumeLookup(lambda: homes, look),
                channels=servers.launch,
            ),
            hooks=hooks,
            telemetry=telemetry,
            workspace_hooks=preparation,
            trust=trust,
            channel=channel,
        ),
        operations=collect_operations(HookRoutes(hooks, telemetry, channel.decisions)),
        initial_state={"planUsage": make_plan_usage},
        measures=[measure_disagreements(status)],
        on_account_removed=trust.forget_strangers,
        start=lambda: status.start(hub),
        close=close_agents,
    )


def _build_registry(
    ground: Runtime,
    clis: ICliRegistry,
    sessions: Callable[[], ISessions],
    store: AgentStore,
    proofs: PromptProofs,
) -> AgentRegistry:
    """Return the registry of the running agents."""
    return AgentRegistry(
        AgentRegistryDependencies(
            clock=ground.reactor,
            hub=ground.hub,
            sessions=sessions,
            clis=clis,
            shells=PlainSources(ground.reactor, clis),
            store=store,
            places=ground.locations,
            proofs=proofs,
            files=ground.worker_pools.files,
        )
    )


def _find_transcript_homes(ground: Runtime, clis: ICliRegistry) -> TranscriptHomes:
    """Return the folders of sessions' transcripts, by the locations of the sessions."""
    return TranscriptHomes(
        own=find_own_locations(ground.home, clis),
        places=ground.locations,
        inside=ground.workspace_bounds.get_folder_limit,
    )


def build_folder_preview(
    trust: FolderTrust, cases: ICases
) -> FeatureRegistration[FolderTrustPreview]:
    """Return the feature that previews the trust question of a folder; it stores nothing."""
    preview = FolderTrustPreview(trust, cases)
    return FeatureRegistration(
        name="folders", service=preview, operations=collect_operations(FolderTrustRoutes(preview))
    )


def _build_launch_preparation(
    ground: Runtime, clis: ICliRegistry, sessions: Callable[[], ISessions]
) -> tuple[HookPreparation, FolderTrust]:
    """Return the preparation of folders before an agent starts, and the check of their trust."""
    inside, files = ground.workspace_bounds.get_folder_limit, ground.worker_pools.files
    hooks = HookPreparation(
        ground.settings, clis, sessions, ground.locations, files, inside, build_dialog_hook()
    )
    deps = TrustDependencies(
        settings=ground.settings,
        clis=clis,
        places=ground.locations,
        files=files,
        inside=inside,
        store=TrustStore(ground.reactor, ground.database),
        own=hooks.list_own_commands,
    )
    return hooks, FolderTrust(deps, hooks)
