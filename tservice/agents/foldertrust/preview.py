"""Tells what a new session would be asked about, before there is one (protocol-trust)."""

from __future__ import annotations

from typing import Literal

from attrs import frozen
from pydantic import Field

from tservice.agents.foldertrust.counted import SHOWN_CHARS, FolderFinding
from tservice.agents.foldertrust.service import FolderTrust
from tservice.cases.interfaces import ICases
from tservice.core.identity import Identity
from tservice.core.payload import Payload
from tservice.core.text import cut_between

State = Literal["nothing", "trusted", "asks"]


class FolderTrustAnswer(Payload):
    """What a folder brings for the agent of one mode."""

    state: State = Field(
        description="Whether it brings nothing, is trusted, or is asked about at the start"
    )
    working_dir: str
    paths: list[str] = Field(description="The files that bring something; C{..}: of folders above")
    summary: str = Field(description="What they bring, 16,000 characters at most")
    missing: int = Field(description="Characters that C{summary} leaves out")


@frozen
class FolderPreview:
    """Looks at folders for those who may start sessions in them."""

    trust: FolderTrust
    cases: ICases

    async def tell(
        self, mode: str, case_name: str | None, working_dir: str | None, caller: Identity
    ) -> FolderTrustAnswer:
        """Return what a session would be asked about that is made with these fields.

        @raise ServiceError: 400, 403, 404, 422: as for the session.
        """
        case = None if case_name is None else await self.cases.resolve_case(case_name, caller)
        places, there = self.trust.places, None if case is None else case.place
        place = (
            places.get_caller_location(caller)
            if there is None
            else places.check_location(there, None)
        )
        if working_dir is not None:
            folder = await self.cases.resolve_folder(working_dir, caller)
        elif case is not None:
            folder = case.path
        else:
            folder = await self.cases.default_folder(caller, None)
        owner = self.cases.owner_of(caller)
        found = await self.trust.find(mode, place, folder, owner, {})
        summary = found.summary()
        kept = cut_between(summary, SHOWN_CHARS)
        return FolderTrustAnswer(
            state=self._state(owner, found),
            working_dir=folder,
            paths=[path for path, _ in found.files],
            summary=kept,
            missing=len(summary) - len(kept),
        )

    def _state(self, owner: str | None, found: FolderFinding) -> State:
        if not self.trust.admits(owner, found):
            return "asks"
        return "trusted" if found.brings else "nothing"
