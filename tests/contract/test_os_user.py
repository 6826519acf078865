"""The suite on panes of another user of this machine."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from tests.contract.suite import TmuxContract
from tests.integration.mux.harness import TMUX
from tests.integration.osusers.harness import OsUserFactory
from tservice.core.locations.location import LocationKind
from tservice.core.users.os_users import OsUser, make_user_prefix
from tservice.core.users.shared_folder import SharedFolder
from tservice.mux.tmux.setup import OsUserSetups, ServerSetups
from tservice.runtime.os_user_wiring import PYTHONS

pytestmark = pytest.mark.extended


class RunningPeople(OsUserFactory):
    """Users as whom something is run."""

    @property
    def prefix(self) -> Callable[[OsUser], Sequence[str]]:
        setsid, setpriv = (shutil.which(name) or name for name in ("setsid", "setpriv"))
        return lambda user: make_user_prefix(setsid, setpriv, user)


class OsUserMultiplexerTests(TmuxContract):
    """Each test has a user of its own."""

    def setUp(self) -> None:
        people = RunningPeople()
        self.addCleanup(people.close)
        self.pane_place = people.place(people.make())
        self._base: Path = people.folder / "shared"
        super().setUp()

    def setups(self) -> Mapping[LocationKind, ServerSetups]:
        shared = SharedFolder(self.folder, self._base)
        pythons = (sys.executable, *PYTHONS)
        return {LocationKind.OS_USER: OsUserSetups(shared=shared, tmux=TMUX, pythons=pythons)}


del TmuxContract  # or it would be collected as a test of its own
