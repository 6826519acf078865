"""Confirmation of prompts and answers by hooks and transcripts, in addition to the screen
(protocol-conventions, protocol-signals).

A composer may show a text that was submitted long ago, because Claude Code sometimes keeps a paste
there. Claude Code's C{UserPromptSubmit} hook reports each prompt that begins a turn. Its transcript
also contains prompts that wait for the end of a turn. pi writes its transcript only at the first
answer, and other agents may be late. So a prompt in the transcript was submitted, but a missing one
may have been submitted too. Each report counts for one prompt only (L{PromptLedger}).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from attrs import frozen
from twisted.internet.interfaces import IReactorTime

from tservice.agents.transcripts.conversation_access import OPENCODE
from tservice.agents.transcripts.formats import FORMATS
from tservice.agents.transcripts.model import TranscriptTally, get_safe_id_or_none, parse_line
from tservice.agents.transcripts.parsers import opencode
from tservice.agents.transcripts.prompt_ledger import LedgerEntry, PromptLedger, hash_prompt
from tservice.agents.transcripts.reader import open_regular
from tservice.agents.transcripts.transcript_homes import TranscriptHomes
from tservice.clis.interfaces import CONVERSATION_STORES
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.workers.thread_runners import RunForOwner
from tservice.sessions.interfaces import PromptClaim, PromptReport, Session

TAIL = 1024 * 1024
"""Number of bytes at a transcript's end that are searched for a prompt."""
DISORDER_MS = 60_000
"""Maximum milliseconds by which a line may be older than the line before it.

Claude Code, stopped for 2 s at a time, wrote lines that were 6.2 s older than one above them.
"""


class PromptProofs:
    """Agents' own reports about the prompts of all sessions.

    @param find_named_path: returns the transcript that a session's hooks reported, given the
        session's id.
    @param in_thread: runs a function in a thread, with the file rights of a session's owner.
    """

    def __init__(
        self,
        clock: IReactorTime,
        homes: TranscriptHomes,
        find_named_path: Callable[[str], str | None],
        in_thread: RunForOwner,
    ) -> None:
        self._clock = clock
        self._homes = homes
        self._told = find_named_path
        self._in_thread = in_thread
        self._ledgers: dict[str, PromptLedger] = {}

    def add_hook_report(
        self, session_id: str, prompt: object, at: int, name: object = None
    ) -> None:
        """Record a hook's report of a prompt.

        @param prompt: the prompt in the hook's payload; untrusted.
        @param at: time of the report, in Unix milliseconds.
        @param name: the agent's id of the prompt; untrusted.
        """
        ledger = self._ledgers.get(session_id)
        if ledger is not None and isinstance(prompt, str):
            ledger.add_hook_report(prompt, at, get_safe_id_or_none(name))

    def forget_session(self, session_id: str) -> None:
        """Drop the reports of a session that has a new process or was deleted."""
        self._ledgers.pop(session_id, None)

    def claim_prompt(self, session: Session, text: str, *, caught_up: bool) -> PromptClaim:
        """Record that Enter is about to be pressed for C{text}, or has just been pressed; see
        L{IInputGate.claim_prompt}.
        """
        ledger = self._ledgers.setdefault(session.id, PromptLedger())
        at = get_unix_ms(self._clock) if session.last_submit_at is None else session.last_submit_at
        entry = ledger.add_prompt(text, at, caught_up=caught_up)
        return _ClaimInSession(proofs=self, session=session, ledger=ledger, entry=entry)

    async def find_recorded_times(
        self, session: Session, mark: bytes, since: int
    ) -> list[int] | None:
        """Return the times at which the agent's transcript contains a prompt, newest first.

        @param mark: digest of the prompt (L{hash_prompt}).
        @param since: earliest time, in Unix milliseconds.
        @return: Unix milliseconds; C{None} if no transcript can be read.
        """
        if session.mode not in CONVERSATION_STORES:
            return None
        homes, files = self._homes, self._homes.get_transcript_locations(session)
        told = self._told(session.id)

        def search_transcript() -> list[int] | None:
            path = files.find_conversation(session, told, (), shared=True)
            if path is None:
                return None
            found = read_prompts(path, session.mode, since)
            return [at for at, text in found if hash_prompt(text) == mark]

        try:
            owned = homes.bind_to_location_rights(session, search_transcript)
            return await self._in_thread(owned, session.working_dir, session.owner)
        except OSError:
            # An unreadable transcript proves nothing.
            return None

    def has_transcript(self, session: Session) -> bool:
        """Return true if a session's agent stores its conversation in a readable location."""
        return (
            session.mode in CONVERSATION_STORES
            and self._homes.places.find_earlier_location(session.location_id).has_local_files
        )

    async def has_recorded_answer(self, session: Session, since: int) -> bool:
        """Return true if the agent recorded an answer or a failed turn at or after C{since}.

        The result is false if this is unknown.

        @param since: Unix milliseconds.
        """
        homes, files = self._homes, self._homes.get_transcript_locations(session)
        told = self._told(session.id)

        def search_answer() -> bool:
            path = files.find_conversation(session, told, (), shared=True)
            return path is not None and _transcript_has_answer(path, session.mode, since)

        try:
            owned = homes.bind_to_location_rights(session, search_answer)
            return await self._in_thread(owned, session.working_dir, session.owner)
        except OSError:
            # An unreadable transcript proves nothing.
            return False


def _transcript_has_answer(path: Path, mode: str, since: int) -> bool:
    if mode == OPENCODE:
        return opencode.has_answer(path, since)
    advance = FORMATS[mode].advance_tally
    return any(
        advance(TranscriptTally(), found).has_ended
        for found in _iterate_newest_entries(path, since)
    )


@frozen(kw_only=True)
class _ClaimInSession:
    """Submitted prompt of one session, with the ledger of the session's other prompts."""

    proofs: PromptProofs
    session: Session
    ledger: PromptLedger
    entry: LedgerEntry

    async def get_report(self) -> PromptReport:
        """Return what the hooks and the transcript prove about the prompt."""
        heard = self.ledger.judge_by_hooks(self.entry)
        if heard is PromptReport.SUBMITTED:
            return heard
        # A missing hook proves nothing: it may be late, or did not run.
        unwritten = PromptReport.NOTHING if heard is PromptReport.NOT_YET else heard
        store = CONVERSATION_STORES.get(self.session.mode)
        at_once = store is not None and store.records_enter_time
        since = self.ledger.find_earliest_time(self.entry, at_once=at_once)
        kept = await self.proofs.find_recorded_times(self.session, self.entry.mark, since)
        if kept is None:
            return unwritten
        written = self.ledger.judge_by_times(self.entry, kept, at_once=at_once)
        proves = store is not None and store.records_prompts_at_once
        late = written is PromptReport.NOT_YET and not proves
        return unwritten if late else written


def read_prompts(path: Path, mode: str, since: int, tail: int = TAIL) -> Iterator[tuple[int, str]]:
    """Iterate over an agent's prompts since C{since}, newest first, with their times.

    Times are Unix milliseconds.

    @param tail: number of bytes at the transcript's end that are read.
    @raise OSError: the transcript cannot be read.
    """
    if mode == OPENCODE:
        yield from opencode.read_prompts(path, since)
        return
    given, known = FORMATS[mode].parse_prompt, set[str]()
    for found in _iterate_newest_entries(path, since, tail):
        at, text, name = _parse_time(found), given(found), get_safe_id_or_none(found.get("id"))
        if at is None or text is None or name in known:
            continue
        if name is not None:
            # Gemini CLI writes a message again as it grows.
            known.add(name)
        yield at, text


def _iterate_newest_entries(path: Path, since: int, tail: int = TAIL) -> Iterator[dict[str, Any]]:
    """Iterate over the parsed lines at a transcript's end since C{since}, newest first.

    @param since: Unix milliseconds.
    @param tail: number of bytes at the transcript's end that are read.
    """
    with open_regular(path) as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - tail))
        lines = file.read(tail).split(b"\n")
    for found in filter(None, map(parse_line, reversed(lines))):
        at = _parse_time(found)
        if at is None or at >= since:
            yield found
        elif at < since - DISORDER_MS:
            return


def _parse_time(found: dict[str, Any]) -> int | None:
    """Return the time of a parsed line in Unix milliseconds; C{None} if it has none."""
    try:
        return int(datetime.fromisoformat(str(found.get("timestamp"))).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
