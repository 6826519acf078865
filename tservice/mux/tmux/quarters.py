"""As whom a tmux server runs, and the files that it is started with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Protocol

from attrs import frozen

from tservice.core.files import FileError
from tservice.core.users.keyring import fresh_keyring
from tservice.core.users.osuser import OsUser, OsUsers, can_run
from tservice.core.users.sharedfolder import SharedFolder
from tservice.mux.interface import MuxError
from tservice.mux.tmux import keeper
from tservice.mux.tmux.sockets import OsUserSockets, SocketFolder, sockets_in
from tservice.mux.transport import ITransport, OsUserTransport

CONFIGURATION = Path(__file__).with_name("tmux.conf")
KEEPER = Path(keeper.__file__)


@frozen(kw_only=True)
class Quarters:
    """One user's.

    @ivar python: absolute path of the interpreter that runs C{keeper}.
    @ivar foreign: the transport's command begins with the rights of another user: it must not
        begin with the environment of the pane, which can make the loader run anything.
    @ivar apart: what is around the start of each process.
    """

    transport: ITransport
    folder: SocketFolder
    python: str
    configuration: Path = CONFIGURATION
    keeper: Path = KEEPER
    foreign: bool = False
    apart: Callable[[], AbstractContextManager[None]] = nullcontext


class IOsUserQuarters(Protocol):
    """The quarters of other users than this process."""

    def of(self, user: OsUser) -> Quarters:
        """C{user}'s.

        @raise MuxError: there cannot be any.
        """

    def found(self) -> frozenset[str]:
        """The session ids whose sockets are there, whoever's they are."""


@frozen(kw_only=True)
class OsUserQuarters:
    """Makes them, of files that every OS user can read.

    The package itself may lie where only root can go, so the keeper and tmux' configuration are
    copied into C{shared}.

    @ivar tmux: absolute path of the program, as those of C{setpriv} and C{setsid}.
    @ivar pythons: interpreters for the keeper, the best one first.
    """

    users: OsUsers
    shared: SharedFolder
    tmux: str
    setpriv: str
    setsid: str
    pythons: Sequence[str]

    def of(self, user: OsUser) -> Quarters:
        transport = OsUserTransport(self.tmux, self.setpriv, self.setsid, user, self.users)
        try:
            python = self.users.act(user, lambda: next(filter(can_run, self.pythons), None))
            self.shared.prepare()
            configuration, copied = self._copied(CONFIGURATION), self._copied(KEEPER)
        except (OSError, FileError) as error:
            raise MuxError(f"nothing can be put in place for {user.name}: {error}") from error
        if python is None:
            raise MuxError(f"{user.name} can run none of {', '.join(self.pythons)}")
        return Quarters(
            transport=transport,
            folder=OsUserSockets(
                self.shared.folder_of(user), lambda: self.shared.prepare_for(user)
            ),
            python=python,
            configuration=configuration,
            keeper=copied,
            foreign=True,
            apart=fresh_keyring,
        )

    def found(self) -> frozenset[str]:
        folders = self.shared.folders()
        return frozenset(name for folder in folders for name in sockets_in(folder))

    def _copied(self, file: Path) -> Path:
        return self.shared.put(file.name, file.read_text("utf-8"), 0o644)
