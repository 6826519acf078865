"""Context that a command runs in."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import Any, NamedTuple

from tservice.client.link.caller import ApiCaller
from tservice.client.link.naming import pick_record
from tservice.client.shell import ShellContext
from tservice.client.terminal.safe import safe_text


class CommandContext(NamedTuple):
    """Parsed command line, the shell where it was started, and a connection to the service."""

    words: Namespace
    shell: ShellContext
    caller: ApiCaller

    def fetch_sessions(self) -> list[dict[str, Any]]:
        """Return every session that the caller may see."""
        found: list[dict[str, Any]] = self.caller.send_request("GET", "/sessions")
        return found

    def find_session(self) -> dict[str, Any]:
        """Return the session that the SESSION argument names.

        @raise Unusable: no session matches, or several do.
        """
        return pick_record(self.fetch_sessions(), self.words.session, "session")

    def print_result(self, record: Mapping[str, Any], text: str) -> None:
        """Print the record with C{--json}; print C{text} otherwise, if any."""
        if self.words.json:
            self.shell.print_json(record)
        elif text:
            # Ids and signals come from the service too, which is not trusted.
            self.shell.print_line(safe_text(text))
