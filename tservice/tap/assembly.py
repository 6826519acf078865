"""Assembly of all features.  To understand the program, start reading here."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

from tservice.access.build import build_access, build_removed_accounts
from tservice.agents.approvals.build import build_approvals
from tservice.agents.approvals.rules.build import build_approval_rules
from tservice.agents.away.build import build_away
from tservice.agents.build import build_agents, build_folder_preview
from tservice.agents.controls.build import build_controls
from tservice.agents.interfaces import IAgents
from tservice.agents.limits.build import build_agent_limits
from tservice.agents.stalls.build import build_stall_watch
from tservice.agents.transcripts.build import build_transcripts
from tservice.agents.transcripts.conversation.service import ConversationService
from tservice.agents.transcripts.service import TranscriptService
from tservice.audit.build import build_audit
from tservice.cases.build import build_cases
from tservice.checks.build import build_checks
from tservice.checks.supervisor import CheckSupervisor
from tservice.clis.build import build_clis
from tservice.clis.interfaces import ICliRegistry
from tservice.containers.build import build_bridge, build_containers
from tservice.core.kernel.late_binding import LateBinding
from tservice.core.kernel.service_stack import ClosingService, ServiceStack
from tservice.core.net.endpoints import ListenAddress
from tservice.core.net.listening import PortListener
from tservice.core.net.own_address import find_phone_url
from tservice.cron.build import build_cron, make_account_finder
from tservice.doctor.build import build_doctor
from tservice.files.build import build_files
from tservice.git.build import build_case_git, build_git, build_git_work
from tservice.hosts.build import build_hosts
from tservice.http.build import (
    build_fault_counter,
    build_site,
    build_sockets,
)
from tservice.http.parked_calls import ParkedCalls
from tservice.http.site import HttpSite
from tservice.http.static_files import StaticPages
from tservice.mcp.build import build_mcp
from tservice.models.build import build_models
from tservice.models.service import ModelService
from tservice.mux.build import build_mux
from tservice.notifications.build import build_notice_gates, build_notices
from tservice.notify.build import build_webhooks
from tservice.push.build import build_push
from tservice.restore.build import build_offer_registry, build_restore
from tservice.review.build import build_review
from tservice.runtime.feature import FeatureRegistry
from tservice.runtime.launch_context import LaunchContext
from tservice.runtime.runtime import Runtime
from tservice.sessions.build import build_sessions
from tservice.sessions.programs.build import build_program_watch
from tservice.sessions.routes.build_waits import build_waits
from tservice.sessions.service import SessionService
from tservice.settings.build import build_settings
from tservice.status.build import build_event_streams
from tservice.suggestions.build import build_suggestions
from tservice.tap.root import StartupService
from tservice.tap.runtime_setup import build_runtime
from tservice.tunnel.build import build_tunnel
from tservice.voice.build import build_voice
from tservice.webviews.build import build_webviews, may_run_commands
from tservice.webviews.service import WebTabGuard


def assemble_program(program: LaunchContext, stack: ServiceStack) -> None:
    """Assemble the program, services that others depend on first.

    The services stop in the reverse order.
    """
    trunk = Application(program, stack)
    trunk.add_features()
    trunk.add_listeners()


class Application:
    """Core services that the features depend on, in the order of their creation."""

    def __init__(self, program: LaunchContext, stack: ServiceStack) -> None:
        ground, settings = build_runtime(program, stack)
        contents = FeatureRegistry(stack)
        add = contents.add_feature
        listener: LateBinding[PortListener] = LateBinding("the listener")
        late: LateBinding[SessionService] = LateBinding("the sessions")
        site: LateBinding[HttpSite] = LateBinding("the server")
        models: LateBinding[ModelService] = LateBinding("the custom models")
        self.checks: LateBinding[CheckSupervisor] = LateBinding("the checks")

        add(build_fault_counter())
        add(build_settings(settings))
        audit = add(build_audit(ground))
        # Calls that end with the last connections are recorded in the audit log.
        ClosingService(
            "connections", lambda: Deferred.fromCoroutine(site().close_connections())
        ).setServiceParent(stack)
        clis = add(build_clis(ground))
        hosts = add(build_hosts(ground, sessions=late))
        boxes = add(build_containers(ground, sessions=late))
        mux = add(build_mux(ground, {**hosts.setups, **boxes.setups}))
        inside = add(build_agents(ground, clis=clis, sessions=late))
        agents, work = inside.agents, add(build_git_work(ground, boxes.service.list_folders))
        cases = add(build_cases(
            ground, git=work, hooks=inside.workspace_hooks, sessions=late, containers=boxes.service
        ))  # fmt: skip
        add(build_folder_preview(inside.trust, cases))
        before = build_offer_registry(ground, clis=clis)
        sessions = late.bind_value(add(build_sessions(
            ground, mux=mux, clis=clis, api_url=make_api_url_getter(ground, listener), cases=cases,
            models=models, support=evolve(inside.support, recollection=before),
        )))  # fmt: skip
        models.bind_value(add(build_models(ground, clis=clis, sessions=sessions)))
        inbox = add(build_approvals(
            ground, sessions=sessions, agents=agents, clis=clis, trust=inside.trust,
            channel=inside.channel.answers,
        ))  # fmt: skip
        add(build_controls(ground, sessions=sessions, agents=agents, clis=clis))
        said, self.items = add_transcripts(contents, ground, sessions, agents, clis)
        add(build_agent_limits(ground, sessions=sessions, agents=agents, transcripts=said))
        add(build_waits(
            ground, sessions=sessions, clis=clis, blocked=inbox.is_blocked,
            checked=lambda each: self.checks().has_verdict(each), typed=audit.record_typing
        ))  # fmt: skip
        tunnel = add(build_tunnel(
            ground, local_url=lambda: listener().get_local_url(""),
            phone_url=make_phone_url_getter(ground, listener, program.addresses),
        ))  # fmt: skip
        sockets = add(build_sockets(ground))
        streams = add(build_event_streams(ground, sessions=sessions, tells=contents.initial_state))
        pages, parked = load_pages(ground), ParkedCalls()
        self.access = add(build_access(
            ground, audit=audit.log, sessions=sessions, open_connections=(sockets, streams, parked),
            sse_clients=lambda: streams.client_count, pages=pages, tunnel=tunnel,
        ))  # fmt: skip
        self.program, self.stack, self.ground, self.contents = program, stack, ground, contents
        self.audit, self.clis, self.cases, self.sessions = audit, clis, cases, sessions
        self.agents, self.inside, self.inbox, self.said = agents, inside, inbox, said
        self.before, self.listener, self.sockets, self.streams = before, listener, sockets, streams
        self.pages, self.parked, self.boxes, self.site = pages, parked, boxes, site

    def add_features(self) -> None:
        """Add the features on which no core service depends."""
        ground, add, accounts = self.ground, self.contents.add_feature, self.access.accounts
        sessions, agents, clis, cases = self.sessions, self.agents, self.clis, self.cases
        identity = make_account_finder(ground, accounts)
        add(build_approval_rules(
            ground, approvals=self.inbox, sessions=sessions, cases=cases, audit=self.audit.log,
            identity=identity, decisions=self.inside.channel.decisions,
        ))  # fmt: skip
        built = add(build_git(ground, sessions=sessions, containers=cases.list_container_folders))
        git = built.readers
        add(build_review(
            ground, sessions=sessions, clis=clis, copies=built.copies, user_git=built.user_git
        ))  # fmt: skip
        self.checks.bind_value(add(build_checks(
            ground, sessions=sessions, cases=cases, copies=built.copies
        )))  # fmt: skip
        add(build_case_git(ground, git=git, cases=cases))
        add(build_suggestions(
            ground, sessions=sessions, clis=clis, transcripts=self.said, approvals=self.inbox,
            git=git,
        ))  # fmt: skip
        add(build_restore(
            ground, recollection=self.before, sessions=sessions, clis=clis, identity=identity,
            conversations=self.inside.support.conversations, folder=cases.resolve_folder,
        ))  # fmt: skip
        add(build_files(
            ground, sessions=sessions, clis=clis, audit=self.audit.log,
            words=self.access.capabilities,
        ))  # fmt: skip
        add(build_program_watch(ground, sessions=sessions, clis=clis))
        add(build_stall_watch(
            ground, sessions=sessions, agents=agents, clis=clis, audit=self.audit.log,
            read_latest=self.items.read_latest,
        ))  # fmt: skip
        # Before the jobs, because webhooks report runs that fail immediately.
        self._add_notices()
        add(build_doctor(ground, clis=clis, reach=self.boxes.reach))
        add(build_mcp(ground, clis=clis))
        add(build_voice(ground))
        add(
            build_webviews(
                ground, access=self.access, own_ports=lambda: self.listener().get_port_numbers()
            )
        )
        add(build_cron(
            ground, sessions=sessions, agents=agents, clis=clis, audit=self.audit.log,
            accounts=accounts, cases=cases,
        ))  # fmt: skip
        add(
            build_removed_accounts(
                ground, accounts=accounts, forgets=self.contents.on_account_removed
            )
        )

    def _add_notices(self) -> None:
        """Add webhooks, push, and the rules that decide what they announce."""
        ground, add, accounts = self.ground, self.contents.add_feature, self.access.accounts
        sessions = self.sessions
        # A snooze that ends with a question must end before the question is announced.
        gates = add(build_notice_gates(ground, sessions=sessions))
        webhook = add(
            build_webhooks(ground, sessions=sessions, may_announce=gates.snoozes.may_announce)
        )
        push = add(build_push(
            ground, sessions=sessions, accounts=accounts, failures=self.access.failures,
            may_announce=gates.may_announce_by_settings,
        ))  # fmt: skip
        for each in (webhook, push):
            gates.snoozes.add_resume_listener(each.handle_event)
        guard = WebTabGuard(
            own_ports=lambda: self.listener().get_port_numbers(),
            trusts=partial(may_run_commands, accounts),
        )
        parts = build_notices(ground, gates=gates, sessions=sessions, push=push, guard=guard)
        away = add(build_away(
            ground, sessions=sessions, conversations=self.items,
            find_check_state=self.checks().find_state_since,
        ))  # fmt: skip
        add(parts.notices).add_look_listener(away.record_look)
        add(parts.webhooks)

    def add_listeners(self) -> None:
        """Add the listening ports after all routes are known.

        They start last and stop first.
        """
        ground, contents = self.ground, self.contents
        failures = self.access.failures
        contents.add_feature(build_bridge(ground, self.boxes, contents.operations, failures))
        site = self.site.bind_value(build_site(
            ground, contents, gate=self.access.gate, pages=self.pages, sockets=self.sockets,
            parked=self.parked, on_call=self.audit.record_call,
        ))  # fmt: skip
        doors = self.listener.bind_value(PortListener(ground.reactor, self.program.addresses, site))
        startup = StartupService(
            self.program, contents.start_features, doors, lambda: exit_with_failure(ground.reactor)
        )
        for part in (self.sockets, flush_on_stop(ground.reactor), self.streams, doors, startup):
            part.setServiceParent(self.stack)


def add_transcripts(
    contents: FeatureRegistry,
    ground: Runtime,
    sessions: SessionService,
    agents: IAgents,
    clis: ICliRegistry,
) -> tuple[TranscriptService, ConversationService]:
    """Add the transcripts; return them and the reader of their items."""
    items: LateBinding[ConversationService] = LateBinding("the conversations")
    said = contents.add_feature(build_transcripts(
        ground, sessions=sessions, agents=agents, clis=clis, conversations=items
    ))  # fmt: skip
    return said, items()


def load_pages(ground: Runtime) -> StaticPages:
    """Return the built files of the browser UI."""
    return StaticPages(Path(__file__).parents[1] / "static", gesture=ground.config.gesture)


def flush_on_stop(clock: IReactorTime) -> ClosingService:
    """Return a service that, when it stops, waits one reactor iteration so that written data is
    sent.
    """
    return ClosingService("last words", lambda: deferLater(clock, 0))


def make_api_url_getter(ground: Runtime, listener: LateBinding[PortListener]) -> Callable[[], str]:
    """Return a function that returns the URL under which panes reach the service.

    The function may only be called once the ports are bound.
    """
    config = ground.config
    return lambda: config.api_url or listener().get_local_url(config.base_path) or ""


def make_phone_url_getter(
    ground: Runtime, listener: LateBinding[PortListener], addresses: Sequence[ListenAddress]
) -> Callable[[], str | None]:
    """Return a function that returns the URL for a phone; see L{find_phone_url}."""
    path = ground.config.base_path
    return lambda: find_phone_url(listener().get_urls(path), addresses)


def exit_with_failure(reactor: Any) -> None:
    """End the program with exit status 1.

    C{twistd} exits with status 0 when the reactor stops, whatever the reason.
    """
    atexit.register(os._exit, 1)
    reactor.stop()
