"""Attaches to an existing tmux session on a user's own tmux server (protocol-remote)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from attrs import field, frozen

from tservice.mux.interface import MuxError, PaneSpec
from tservice.mux.remote import remote_programs
from tservice.mux.remote.runner import RemoteEnd, RemoteError
from tservice.mux.remote.shell_quoting import join_shell_commands, quote_words
from tservice.mux.remote.transport import RemoteTransport, build_remote_child
from tservice.mux.tmux.setup import report_no_problem
from tservice.mux.transport import ChildSpec, HeldProcess, ServerReachability

MOST_LISTED = 200
"""Maximum number of listed sessions of a server. Further sessions are left out."""

NAME_LENGTH = 128
"""Maximum number of characters in a session's name. Sessions with longer names are left out."""

_SHOWN = re.compile(r"([0-9]{1,10}) ([0-9]{1,12}) ([0-9]{1,10}) ([0-9]{1,6}) ([0-9]{1,6}) (.*)")
"""Pattern of one line of the session list. The limits on digits exceed anything that tmux prints,
because the remote output may not come from tmux.
"""

_FIELDS = (
    "#{session_attached} #{session_created} #{session_windows} #{window_width} #{window_height} "
    "#{session_name}"
)

LIST = join_shell_commands(
    remote_programs.NEEDS_TMUX,
    b"tmux -u -N list-sessions -F " + quote_words(_FIELDS.encode()) + b" 2>&1 || :",
)
"""Shell command that lists the tmux sessions. L{parse_session_list} parses the output."""


@frozen(kw_only=True)
class ListedSession:
    """Session of a user's own tmux server, as listed by tmux.

    @ivar attached: the number of attached clients.
    @ivar created: time of creation in Unix milliseconds.
    @ivar cols: columns of the session's window.
    @ivar rows: rows of the session's window.
    """

    name: str
    attached: int
    created: int
    windows: int
    cols: int
    rows: int


def parse_session_list(out: bytes) -> list[ListedSession]:
    """Parse the output of L{LIST}. The result is empty if no tmux server runs."""
    found = []
    for text in out.decode("utf-8", "replace").split("\n"):
        shown = _SHOWN.fullmatch(text)
        if shown is None or not 0 < len(shown[6]) <= NAME_LENGTH:
            continue
        attached, created, windows, cols, rows = map(int, shown.groups()[:5])
        name = shown[6]
        found.append(
            ListedSession(
                name=name, attached=attached, created=created * 1000, windows=windows,
                cols=cols, rows=rows,
            )
        )  # fmt: skip
    return found[:MOST_LISTED]


@frozen
class AttachedTransport(RemoteTransport):
    """Transport to a user's own tmux server.

    @ivar name: the name of the tmux session, which must match exactly.
    """

    name: str

    def build_child(
        self, socket_path: Path, arguments: Sequence[str], env: Mapping[bytes, bytes]
    ) -> ChildSpec:
        if "attach-session" in arguments:
            # Other clients determine the session's size while they are attached.
            arguments = (
                "-N",
                "-C",
                "attach-session",
                "-f",
                "ignore-size",
                "-t",
                self._session_target,
            )
        become = b"exec " + quote_words(*map(os.fsencode, ("tmux", "-u", *arguments)))
        return build_remote_child(
            self.remote, join_shell_commands(remote_programs.OF_THE_WAY, become)
        )

    async def check_reachability(self, socket_path: Path) -> ServerReachability:
        try:
            answer = await self.remote.run_program(_has_session_line(self._session_target))
        except RemoteError:
            return ServerReachability.UNKNOWN
        said = {
            remote_programs.REACHED: ServerReachability.HERE,
            remote_programs.ENDED: ServerReachability.GONE,
        }
        return said.get(answer.out, ServerReachability.UNKNOWN)

    async def acquire_process(self, pid: int) -> HeldProcess | None:
        return None

    async def acquire_server(self, socket_path: Path) -> HeldProcess | None:
        return None

    @property
    def _session_target(self) -> str:
        return f"={self.name}"


def _has_session_line(target: str) -> bytes:
    ask = quote_words(*map(os.fsencode, ("tmux", "-u", "-N", "has-session", "-t", target)))
    return join_shell_commands(
        remote_programs.NEEDS_TMUX,
        b"tservice_said=$(%b 2>&1) && { echo here; exit 0; }" % ask,
        b'case $tservice_said in *"no server running"*|*"error connecting"*|*"can\'t find"*) '
        b'echo gone;; *) echo "$tservice_said" >&2; exit 75;; esac',
    )


@frozen
class NoSockets:
    """Empty socket store, for servers that the service does not own."""

    async def prepare_folder(self) -> None:
        """Do nothing, because the service creates no sockets here."""

    def get_socket_path(self, session_id: str) -> Path:
        """Return a path that identifies the session in messages. No socket exists at this path."""
        return Path(session_id)

    async def remove_socket(self, session_id: str) -> None:
        """Do nothing, because the service creates no sockets here."""

    async def put_preface(self, session_id: str, data: bytes) -> Path:
        raise OSError("the program is already running")

    async def find_session_ids(self) -> frozenset[str]:
        return frozenset()


@frozen(kw_only=True)
class AttachedSetup:
    """Setup for attaching to one session on a user's own tmux server.

    @ivar name: the name of the tmux session.
    """

    remote: RemoteEnd
    name: str
    is_foreign: bool = True
    refuses_duplicates: bool = True
    find_trouble: Callable[[], str | None] = report_no_problem
    is_owned: bool = False
    start_context: Callable[[], AbstractContextManager[None]] = nullcontext
    sockets: NoSockets = field(factory=NoSockets)
    transport: AttachedTransport = field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "transport", AttachedTransport(self.remote, self.name))

    def build_start_child(
        self, socket_path: Path, spec: PaneSpec, token: bytes, preface: bytes
    ) -> ChildSpec:
        raise MuxError("an attached session cannot be started, only adopted")
