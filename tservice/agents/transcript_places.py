"""Which folders hold the transcripts of which session: the agents' own variables move them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from tservice.agents.transcript_files import CODEX, PRIMARY, TranscriptFiles
from tservice.clis.interfaces import ICliRegistry
from tservice.sessions.interfaces import Session

_NONE: Mapping[str, str] = {}


class TranscriptPlaces:
    """The folders by what a session's pane was given, and by what every pane is given.

    C{CLAUDE_CONFIG_DIR} and C{CODEX_HOME} count where they reach the agent: from the service's own
    environment or the session's C{envOverrides}, as the mode's entry allows, or from that entry.

    @param home: of whoever the panes run as.
    """

    def __init__(self, home: Path, clis: ICliRegistry) -> None:
        self._home = home
        self._clis = clis

    def of(self, session: Session) -> TranscriptFiles:
        """Where the session's agent writes."""
        return self._files({session.mode: session.env_overrides})

    def every(self, sessions: Iterable[Session]) -> tuple[TranscriptFiles, ...]:
        """Where agents write that were told nothing, and where those of C{sessions} do."""
        places = [self._files({}), *map(self.of, sessions)]
        return tuple(dict.fromkeys(places))

    def _files(self, overrides: Mapping[str, Mapping[str, str]]) -> TranscriptFiles:
        def moved(mode: str, variable: str, usual: str) -> Path:
            environ = self._clis.pane_environment(mode, overrides.get(mode, _NONE))
            folder = environ.get(variable, "")
            # A relative one depends on where the agent is: nobody's transcripts are looked for.
            return Path(folder) if folder.startswith("/") else self._home / usual

        return TranscriptFiles(
            claude=moved(PRIMARY, "CLAUDE_CONFIG_DIR", ".claude") / "projects",
            codex=moved(CODEX, "CODEX_HOME", ".codex") / "sessions",
        )
