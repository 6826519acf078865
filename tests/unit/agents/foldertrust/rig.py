"""Sessions in folders, and what these bring."""

from __future__ import annotations

import json
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

from tests.callers import GRANTED
from tests.unit.agents.approvals_harness import ApprovalCase
from tests.unit.sessions.harness import ADMIN, start_coroutine
from tservice.agents.foldertrust.counted import FolderFinding
from tservice.core.kernel.errors import ServiceError
from tservice.sessions.record.model import Session

HOOK = {
    "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "sh scripts/run.sh"}]}]}
}


class FolderTrustCase(ApprovalCase):
    """Tests with a folder and what it brings."""

    def bring(self, path: str, content: Any, below: Path | None = None) -> Path:
        """Put a file into the folder."""
        file = (below or self.work) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content))
        return file

    def install(self, program: str) -> None:
        """Have a CLI on the machine."""
        self.bring(program, "#!/bin/sh", below=self.machine.folder / "bin").chmod(0o755)

    def is_running(self, session: Session) -> bool:
        return self.sessions.get(session.id).pid is not None

    def restart(self, session: Session) -> None:
        """Stop it and start it again, as somebody who asks for it."""
        self.run_now(self.sessions.stop(session.id, "asked"))
        self.run_now(self.sessions.start(session.id, GRANTED))

    def refused_restart(self, session: Session) -> ServiceError:
        self.run_now(self.sessions.stop(session.id, "asked"))
        started = start_coroutine(self.sessions.start(session.id, GRANTED))
        error: ServiceError = self.failureResultOf(started, ServiceError).value
        return error

    def answered(self, session: Session, action: str, **fields: Any) -> None:
        given = self.start_answer(self.item(session), action, **fields)
        self.successResultOf(given)

    def waiting(self, mode: str = "primary") -> Session:
        """A session that was made and has not started, for its folder is asked about."""
        session = self.agent(mode=mode)
        self.assertFalse(self.is_running(session))
        self.assertIsNotNone(self.inbox.get_item(session.id))
        return session

    def assert_starts(self, mode: str = "primary") -> None:
        session = self.agent(mode=mode)
        self.assertTrue(self.is_running(session))
        self.assertIsNone(self.inbox.get_item(session.id))

    def find(self, mode: str = "primary") -> Awaitable[FolderFinding]:
        trust = self.agents.trust
        return trust.examine_folder(
            mode, trust.places.get_caller_location(ADMIN), str(self.work), None, {}
        )

    def found(self, mode: str = "primary") -> str:
        """What people are told that the folder brings."""
        found = self.find(mode)
        return str(self.run_now(found).format_summary())
