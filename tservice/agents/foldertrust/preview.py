"""Preview of the question that a new session would raise about its folder (protocol-trust)."""

from __future__ import annotations

from typing import Literal

from attrs import frozen
from pydantic import Field

from tservice.agents.foldertrust.counted import SHOWN_CHARS, FolderFinding
from tservice.agents.foldertrust.service import FolderTrust
from tservice.cases.interfaces import ICases
from tservice.core.callers.identity import Identity
from tservice.core.values.payload import Payload
from tservice.core.values.text import cut_between_letters

State = Literal["nothing", "trusted", "asks"]


class FolderTrustAnswer(Payload):
    """Files in a folder that can make the agent of one mode run something."""

    state: State = Field(
        description=(
            "Trust in the folder: it has no such files, it is trusted, or the start asks about it"
        )
    )
    working_dir: str
    paths: list[str] = Field(
        description="The files that can make the agent run something; C{..}: in parent folders"
    )
    summary: str = Field(description="Summary of these files, at most 16,000 characters")
    missing: int = Field(description="Number of characters that C{summary} omits")


@frozen
class FolderTrustPreview:
    """Preview of trust questions for callers who may start sessions in a folder."""

    trust: FolderTrust
    cases: ICases

    async def preview_question(
        self, mode: str, case_name: str | None, working_dir: str | None, caller: Identity
    ) -> FolderTrustAnswer:
        """Return the question that a session with these fields would raise.

        @raise ServiceError: 400, 403, 404, 422: as for creating the session.
        """
        case = None if case_name is None else await self.cases.resolve_case(case_name, caller)
        places, there = self.trust.places, None if case is None else case.place
        place = (
            places.get_caller_location(caller)
            if there is None
            else places.get_usable_location(there, None)
        )
        if working_dir is not None:
            folder = await self.cases.resolve_folder(working_dir, caller)
        elif case is not None:
            folder = case.path
        else:
            folder = await self.cases.default_folder(caller, None)
        owner = self.cases.get_owner_name(caller)
        found = await self.trust.examine_folder(mode, place, folder, owner, {})
        summary = found.format_summary()
        kept = cut_between_letters(summary, SHOWN_CHARS)
        return FolderTrustAnswer(
            state=self._get_trust_state(owner, found),
            working_dir=folder,
            paths=[path for path, _ in found.files],
            summary=kept,
            missing=len(summary) - len(kept),
        )

    def _get_trust_state(self, owner: str | None, found: FolderFinding) -> State:
        if not self.trust.may_start(owner, found):
            return "asks"
        return "trusted" if found.needs_question else "nothing"
