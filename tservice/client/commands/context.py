"""Parameters that every command function receives."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import Any, NamedTuple

from tservice.client.link.caller import ApiCaller
from tservice.client.link.naming import pick_record
from tservice.client.shell import ShellContext
from tservice.client.terminal.safe import safe_text


class CommandContext(NamedTuple):
    """Parsed command line, environment and streams of C{tsctl}, and access to the service."""

    words: Namespace
    shell: ShellContext
    caller: ApiCaller

    def fetch_sessions(self) -> list[dict[str, Any]]:
        """Return every session that the user may see."""
        found: list[dict[str, Any]] = self.caller.send_request("GET", "/sessions")
        return found

    def find_session(self) -> dict[str, Any]:
        """Return the session given by the SESSION argument.

        @raise Unusable: no session matches, or several do.
        """
        return pick_record(self.fetch_sessions(), self.words.session, "session")

    def print_result(self, record: Mapping[str, Any], text: str) -> None:
        """Print the record as JSON with C{--json}; otherwise print C{text}, unless it is empty."""
        if self.words.json:
            self.shell.print_json(record)
        elif text:
            # Ids and signals come from the service too, which is not trusted.
            self.shell.print_line(safe_text(text))
