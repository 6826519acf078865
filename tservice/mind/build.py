"""Assembly of suggestions and intents."""

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
from tservice.ground.feature import Feature
from tservice.ground.ground import Ground
from tservice.mind.intents import Intents
from tservice.mind.interfaces import Conversation, GitState, Pending
from tservice.mind.predict import Mind, Sources
from tservice.mind.routes import MindRoutes
from tservice.mind.store import IntentStore
from tservice.sessions.build import build_session_places
from tservice.sessions.interfaces import ISessions


def build_mind(
    ground: Ground,
    *,
    sessions: ISessions,
    clis: ICliRegistry,
    transcripts: TranscriptService,
    approvals: ApprovalService,
    git: GitReaderRegistry,
) -> Feature[Mind]:
    """Build the suggestion feature; a stop ends every CLI run."""
    store = IntentStore(ground.database)
    intents = Intents(
        clock=ground.reactor,
        hub=ground.hub,
        store=store,
        settings=ground.settings,
        sessions=sessions,
        threads=ground.doors.files,
        places=ground.places,
        prompts=transcripts.list_prompts,
    )
    mind = Mind(
        clock=ground.reactor,
        processes=ground.reactor,
        hub=ground.hub,
        settings=ground.settings,
        sessions=sessions,
        clis=clis,
        places=ground.places,
        starting=build_session_places(ground).locate_start,
        threads=ground.doors.files,
        sources=Sources(
            intents=intents,
            conversation=conversation_of(transcripts),
            git=git_of(git, SessionWorkspaces(sessions, ground.bounds)),
            pending=pending_of(approvals),
        ),
        folder=ground.config.data_dir / "mind",
        random=ground.random,
    )

    def start() -> None:
        intents.start()
        mind.start()

    def close() -> object:
        intents.stop()
        return mind.stop()

    return Feature(
        name="suggestions",
        service=mind,
        operations=MindRoutes(mind, intents).operations(),
        forget=intents.forget,
        start=start,
        close=close,
    )


def conversation_of(transcripts: TranscriptService) -> Conversation:
    """Return a reader of the agents' own transcripts."""

    def conversation(session_id: str) -> Awaitable[Mapping[str, Any]]:
        return transcripts.get_last_response(session_id, whole=True)

    return conversation


def git_of(git: GitReaderRegistry, workspaces: SessionWorkspaces) -> GitState:
    """Return a reader of repository states with a short time-out."""

    def state(session_id: str) -> Awaitable[Mapping[str, Any]]:
        return git.get_status(
            workspaces.get_workspace(session_id), GitOptions(max_repos=4, timeout=5.0)
        )

    return state


def pending_of(approvals: ApprovalService) -> Pending:
    """Return a reader of agents' open questions, without items of agents that are only idle."""

    def pending(session_id: str) -> Mapping[str, Any] | None:
        item = approvals.get_pending_item(session_id)
        if item is None or item.kind is ItemKind.IDLE:
            return None
        return make_item_response(item).model_dump(mode="json", by_alias=True)

    return pending
