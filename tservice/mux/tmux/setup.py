"""Setups that describe how tmux servers run in a location."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Protocol

from attrs import frozen

from tservice.core.disk.files import FileError
from tservice.core.locations.location import Location
from tservice.core.users.keyring import use_fresh_keyring
from tservice.core.users.os_users import can_run_program
from tservice.core.users.shared_folder import SharedFolder
from tservice.mux.interface import MuxError, PaneSpec
from tservice.mux.local_transport import OsUserTransport
from tservice.mux.terminfo import find_local_term
from tservice.mux.tmux import keeper
from tservice.mux.tmux.environment import build_environment
from tservice.mux.tmux.sockets import OsUserSockets, ServerSockets, find_sockets
from tservice.mux.transport import ChildSpec, TmuxTransport

CONFIGURATION = Path(__file__).with_name("tmux.conf")
KEEPER = Path(keeper.__file__)


def report_no_problem() -> str | None:
    """Return C{None}, because no problem is known."""
    return None


class ServerSetup(Protocol):
    """Setup of tmux servers in one location.

    @ivar transport: the connection to the location.
    @ivar sockets: the sockets of the location's servers.
    @ivar is_foreign: true if commands run with the rights of another user, or on another host.
    @ivar refuses_duplicates: true if the child of L{build_start_child} fails when a server of the
        session runs. In this case no prior check is needed.
    @ivar start_context: returns the context manager in which each process is started.
    @ivar is_owned: true if the servers belong to this service. Other servers are attached to and
        never ended.
    @ivar find_trouble: returns the reason why the location cannot start a process; C{None} if no
        problem is known.
    """

    @property
    def is_owned(self) -> bool: ...
    @property
    def transport(self) -> TmuxTransport: ...
    @property
    def sockets(self) -> ServerSockets: ...
    @property
    def is_foreign(self) -> bool: ...
    @property
    def refuses_duplicates(self) -> bool: ...
    @property
    def start_context(self) -> Callable[[], AbstractContextManager[None]]: ...
    @property
    def find_trouble(self) -> Callable[[], str | None]: ...

    def build_start_child(
        self, socket_path: Path, spec: PaneSpec, token: bytes, preface: bytes
    ) -> ChildSpec:
        """Return a child that starts a server with C{spec} in it, and is its first client.

        @param token: unguessable word that authenticates the keeper's messages in the output.
        @param preface: path of the file that the keeper prints first; empty for none.
        @raise MuxError: the server cannot be described.
        """


@frozen(kw_only=True)
class LocalSetup:
    """Setup for a location on this machine.

    @ivar sockets: the sockets of the location's servers.
    @ivar python: absolute path of the interpreter that runs C{keeper}.
    @ivar program: path of the compiled keeper; C{None} if C{keeper} is run by C{python}.
    @ivar is_foreign: true if the transport's command starts with the rights of another user. That
        command must not get the pane's environment, which could make the loader run any code.
    @ivar start_context: returns the context manager in which each process is started.
    @ivar terminal: returns the C{TERM} of the location's panes.
    """

    transport: TmuxTransport
    sockets: ServerSockets
    python: str
    configuration: Path = CONFIGURATION
    keeper: Path = KEEPER
    is_foreign: bool = False
    start_context: Callable[[], AbstractContextManager[None]] = nullcontext
    program: Path | None = None
    refuses_duplicates: bool = False
    is_owned: bool = True
    find_trouble: Callable[[], str | None] = report_no_problem
    terminal: Callable[[], str] = find_local_term

    def build_start_child(
        self, socket_path: Path, spec: PaneSpec, token: bytes, preface: bytes
    ) -> ChildSpec:
        """See L{ServerSetup.build_start_child}."""
        size = ("-x", str(spec.cols), "-y", str(spec.rows))
        session = ("-C", "new-session", *size, "-c", "/", "--", *self.keeper_command)
        return self.transport.build_child(
            socket_path,
            ("-f", str(self.configuration), *session),
            build_environment(
                spec, token, foreign=self.is_foreign, preface=preface, terminal=self.terminal()
            ),
        )

    @property
    def keeper_command(self) -> tuple[str, ...]:
        """Command line of the keeper."""
        if self.program is not None:
            # Two words, because tmux passes a single word to a shell.
            return (str(self.program), "keep")
        return (self.python, "-I", "-S", str(self.keeper))


class ServerSetups(Protocol):
    """Provider of the L{ServerSetup} of each location of one kind, such as local or remote."""

    async def get_setup(self, place: Location) -> ServerSetup:
        """Return the setup for the location C{place}.

        @raise MuxError: the location cannot have a setup.
        """

    async def find_session_ids(self) -> frozenset[str]:
        """Return the ids of the sessions that have a socket in any of the locations."""


@frozen
class LocalSetups:
    """Setup for the service's own location, which is the only one of its kind."""

    setup: LocalSetup

    async def get_setup(self, place: Location) -> LocalSetup:
        return self.setup

    async def find_session_ids(self) -> frozenset[str]:
        return await self.setup.sockets.find_session_ids()


@frozen(kw_only=True)
class OsUserSetups:
    """Setups for locations of OS users.

    The package itself may be in a folder that only root can read. So the keeper and tmux's
    configuration are copied into C{shared}, which every OS user can read.

    @ivar tmux: absolute path of the tmux program.
    @ivar pythons: interpreters for the keeper, in order of preference.
    """

    shared: SharedFolder
    tmux: str
    pythons: Sequence[str]

    async def get_setup(self, place: Location) -> LocalSetup:
        user = place.user
        try:
            python = place.run_file_work(lambda: next(filter(can_run_program, self.pythons), None))
            self.shared.create_folder()
            configuration, copied = self._copy_file(CONFIGURATION), self._copy_file(KEEPER)
        except (OSError, FileError) as error:
            raise MuxError(f"the files for {place.title} cannot be written: {error}") from error
        if python is None:
            raise MuxError(f"{place.title} can run none of {', '.join(self.pythons)}")
        return LocalSetup(
            transport=OsUserTransport(self.tmux, place),
            sockets=OsUserSockets(
                self.shared.get_user_folder(user),
                lambda: self.shared.create_user_folder(user),
                place.run_file_work,
            ),
            python=python,
            configuration=configuration,
            keeper=copied,
            is_foreign=True,
            start_context=use_fresh_keyring,
        )

    async def find_session_ids(self) -> frozenset[str]:
        folders = self.shared.list_user_folders()
        return frozenset(name for folder in folders for name in find_sockets(folder))

    def _copy_file(self, file: Path) -> Path:
        return self.shared.write_file(file.name, file.read_text("utf-8"), 0o644)
