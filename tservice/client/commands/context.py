"""What a command is given to work with."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import Any, NamedTuple

from tservice.client.link.caller import Caller
from tservice.client.link.naming import pick
from tservice.client.shell import Shell
from tservice.client.terminal.safe import safe_text


class Context(NamedTuple):
    """The words of its command line, where it was started, and the service."""

    words: Namespace
    shell: Shell
    caller: Caller

    def sessions(self) -> list[dict[str, Any]]:
        """Every session that the caller may see."""
        found: list[dict[str, Any]] = self.caller.call("GET", "/sessions")
        return found

    def session(self) -> dict[str, Any]:
        """The session that SESSION names.

        @raise Unusable: none, or several.
        """
        return pick(self.sessions(), self.words.session, "session")

    def show(self, record: Mapping[str, Any], text: str) -> None:
        """Print a record with C{--json}, else C{text}, if any."""
        if self.words.json:
            self.shell.say_json(record)
        elif text:
            # Also an id and a signal are the service's words, and it may be none of ours.
            self.shell.say(safe_text(text))
