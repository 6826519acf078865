"""Builds the feature that suggests prompts and stores intents."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any

from tservice.agents.approvals.model import ItemKind
from tservice.agents.approvals.responses import make_item_response
from tservice.agents.approvals.service import ApprovalService
from tservice.agents.transcripts.service import TranscriptService
from tservice.clis.interfaces import ICliRegistry
from tservice.git.model import GitOptions
from tservice.git.readers import GitReaderRegistry
from tservice.git.workspaces import SessionWorkspaces
from tservice.http.operation_decorator import collect_operations
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime
from tservice.sessions.build import build_session_location_rules
from tservice.sessions.interfaces import ISessions
from tservice.suggestions.intents import IntentService
from tservice.suggestions.interfaces import ConversationReader, GitStateReader, PendingItemFinder
from tservice.suggestions.routes import SuggestionRoutes
from tservice.suggestions.store import IntentStore
from tservice.suggestions.suggester import Suggester, SuggestionSources


def build_suggestions(
    ground: Runtime,
    *,
    sessions: ISessions,
    clis: ICliRegistry,
    transcripts: TranscriptService,
    approvals: ApprovalService,
    git: GitReaderRegistry,
) -> FeatureRegistration[Suggester]:
    """Build the suggestion feature. Stopping the feature kills its CLI processes."""
    store = IntentStore(ground.database)
    intents = IntentService(
        clock=ground.reactor,
        hub=ground.hub,
        store=store,
        settings=ground.settings,
        sessions=sessions,
        threads=ground.worker_pools.files,
        places=ground.locations,
        prompts=transcripts.list_prompts,
    )
    mind = Suggester(
        clock=ground.reactor,
        children=ground.make_child_runner(),
        hub=ground.hub,
        settings=ground.settings,
        sessions=sessions,
        clis=clis,
        places=ground.locations,
        starting=build_session_location_rules(ground).find_start_location,
        threads=ground.worker_pools.files,
        sources=SuggestionSources(
            intents=intents,
            conversation=make_conversation_reader(transcripts),
            git=make_git_reader(git, SessionWorkspaces(sessions, ground.workspace_bounds)),
            pending=make_pending_reader(approvals),
        ),
        folder=ground.config.data_dir / "mind",
        random=ground.random,
    )

    def start_feature() -> None:
        intents.start()
        mind.start()

    def close_feature() -> object:
        intents.stop()
        return mind.stop()

    return FeatureRegistration(
        name="suggestions",
        service=mind,
        operations=collect_operations(SuggestionRoutes(mind, intents)),
        on_account_removed=intents.delete_unknown_owners,
        start=start_feature,
        close=close_feature,
    )


def make_conversation_reader(transcripts: TranscriptService) -> ConversationReader:
    """Return a function that reads a session's last turns from the agent's transcript."""

    def read_conversation(session_id: str) -> Awaitable[Mapping[str, Any]]:
        return transcripts.get_last_response(session_id, whole=True)

    return read_conversation


def make_git_reader(git: GitReaderRegistry, workspaces: SessionWorkspaces) -> GitStateReader:
    """Return a function that reads the git status of a session's repositories, for at most 5
    seconds.
    """

    def read_git_state(session_id: str) -> Awaitable[Mapping[str, Any]]:
        return git.get_status(
            workspaces.get_workspace(session_id), GitOptions(max_repos=4, timeout=5.0)
        )

    return read_git_state


def make_pending_reader(approvals: ApprovalService) -> PendingItemFinder:
    """Return a function that finds the approval item that a session's agent waits for.

    Items that only report an idle agent are ignored.
    """

    def find_pending(session_id: str) -> Mapping[str, Any] | None:
        item = approvals.get_pending_item(session_id)
        if item is None or item.kind is ItemKind.IDLE:
            return None
        return make_item_response(item).model_dump(mode="json", by_alias=True)

    return find_pending
