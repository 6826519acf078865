"""A tmux session that the service did not make, on a user's own server (protocol-remote)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from attrs import field, frozen

from tservice.mux.far import programs
from tservice.mux.far.runner import FarError, IFar
from tservice.mux.far.shell import line, words
from tservice.mux.far.transport import FarTransport, child_of
from tservice.mux.interface import MuxError, PaneSpec
from tservice.mux.tmux.setup import no_trouble
from tservice.mux.transport import Child, HeldProcess, Reachability

MOST_LISTED = 200
"""Sessions of a server that are shown; more are left out."""

NAME_LENGTH = 128
"""Characters of a name that can be attached to; a session with a longer one is left out."""

_SHOWN = re.compile(r"([0-9]{1,10}) ([0-9]{1,12}) ([0-9]{1,10}) ([0-9]{1,6}) ([0-9]{1,6}) (.*)")
"""More digits than these no tmux has; what the far end says need not be tmux' word."""

_FIELDS = (
    "#{session_attached} #{session_created} #{session_windows} #{window_width} #{window_height} "
    "#{session_name}"
)

LIST = line(
    programs.NEEDS_TMUX,
    b"tmux -u -N list-sessions -F " + words(_FIELDS.encode()) + b" 2>&1 || :",
)
"""A line that prints what L{listed} reads."""


@frozen(kw_only=True)
class Listed:
    """A session of a server.

    @ivar attached: how many clients look at it.
    @ivar created: Unix milliseconds.
    @ivar cols: of its window, as C{rows}.
    """

    name: str
    attached: int
    created: int
    windows: int
    cols: int
    rows: int


def listed(out: bytes) -> list[Listed]:
    """The sessions in an answer to L{LIST}; none where no server runs."""
    found = []
    for text in out.decode("utf-8", "replace").split("\n"):
        shown = _SHOWN.fullmatch(text)
        if shown is None or not 0 < len(shown[6]) <= NAME_LENGTH:
            continue
        attached, created, windows, cols, rows = map(int, shown.groups()[:5])
        name = shown[6]
        found.append(
            Listed(
                name=name, attached=attached, created=created * 1000, windows=windows,
                cols=cols, rows=rows,
            )
        )  # fmt: skip
    return found[:MOST_LISTED]


@frozen
class AttachedTransport(FarTransport):
    """To the user's own server.

    @ivar name: of the session, matched exactly.
    """

    name: str

    def child(
        self, socket_path: Path, arguments: Sequence[str], env: Mapping[bytes, bytes]
    ) -> Child:
        if "attach-session" in arguments:
            # Others decide on its size as long as they look at it.
            arguments = ("-N", "-C", "attach-session", "-f", "ignore-size", "-t", self._target)
        become = b"exec " + words(*map(os.fsencode, ("tmux", "-u", *arguments)))
        return child_of(self.far, line(programs.OF_THE_WAY, become))

    async def reach(self, socket_path: Path) -> Reachability:
        try:
            answer = await self.far.run(_has(self._target))
        except FarError:
            return Reachability.UNKNOWN
        said = {programs.REACHED: Reachability.HERE, programs.ENDED: Reachability.GONE}
        return said.get(answer.out, Reachability.UNKNOWN)

    async def hold(self, pid: int) -> HeldProcess | None:
        return None

    async def hold_server(self, socket_path: Path) -> HeldProcess | None:
        return None

    @property
    def _target(self) -> str:
        return f"={self.name}"


def _has(target: str) -> bytes:
    ask = words(*map(os.fsencode, ("tmux", "-u", "-N", "has-session", "-t", target)))
    return line(
        programs.NEEDS_TMUX,
        b"tservice_said=$(%b 2>&1) && { echo here; exit 0; }" % ask,
        b'case $tservice_said in *"no server running"*|*"error connecting"*|*"can\'t find"*) '
        b'echo gone;; *) echo "$tservice_said" >&2; exit 75;; esac',
    )


@frozen
class NoSockets:
    """Nothing there is the service's."""

    async def prepare(self) -> None:
        """Nothing to make."""

    def socket(self, session_id: str) -> Path:
        """Names the session in messages alone."""
        return Path(session_id)

    async def clear(self, session_id: str) -> None:
        """Nothing to remove."""

    async def put_preface(self, session_id: str, data: bytes) -> Path:
        raise OSError("it runs already")

    async def found(self) -> frozenset[str]:
        return frozenset()


@frozen(kw_only=True)
class AttachedSetup:
    """One such session's."""

    far: IFar
    name: str
    foreign: bool = True
    refuses: bool = True
    trouble: Callable[[], str | None] = no_trouble
    owned: bool = False
    apart: Callable[[], AbstractContextManager[None]] = nullcontext
    sockets: NoSockets = field(factory=NoSockets)
    transport: AttachedTransport = field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "transport", AttachedTransport(self.far, self.name))

    def start(self, socket_path: Path, spec: PaneSpec, token: bytes, preface: bytes) -> Child:
        raise MuxError("a session that is attached to is not started")
