"""A place of its own for one agent: home, folder, network, stub model, pane.

::

    binary = str(install("claude", os.environ).binary)  # needs the network: do it first
    with loopback_only() as isolated, World("claude", folder, isolated=isolated) as world:
        with world.start(binary, trusted=True) as pane:
            pane.wait(CLAUDE_READY)
            pane.submit("SAY: hello")
        assert world.stub.turns()[0].prompt == "SAY: hello"

Keep C{folder} short: a Unix socket's path below it may have 107 bytes.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.agents.netns import dead_proxy
from tests.agents.panes import AgentPane
from tests.agents.recipes import RECIPES, RunLocation
from tests.agents.stub_model import StubProcess
from tests.waiting import PATIENCE

NOBODY = "http://127.0.0.1:9"
"""Where nobody listens."""


def base_env(home: Path, *, isolated: bool) -> dict[str, str]:
    """The whole environment of an agent: nothing of the machine's but the PATH."""
    env = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "SHELL": "/bin/sh",
        "TMPDIR": str(home / "tmp"),
    }
    return env if isolated else {**env, **dead_proxy()}


class AgentEnvironmentHarness:
    """One agent's surroundings; a context manager that leaves nothing running.

    @ivar place: home, working folder and the stub's address.
    """

    def __init__(
        self, cli: str, folder: Path | None = None, *, isolated: bool, served: bool = True
    ) -> None:
        """@param served: whether there is a stub model; who is played answers without one."""
        self.cli = cli
        self._scratch = ExitStack()
        if folder is None:
            made = tempfile.TemporaryDirectory(prefix="ts-", ignore_cleanup_errors=True)
            folder = Path(self._scratch.enter_context(made))
        self._folder = folder
        self._isolated = isolated
        self._stub = StubProcess() if served else None
        home, work = self._folder / "home", self._folder / "work"
        for each in (home / "tmp", work):
            each.mkdir(parents=True, exist_ok=True)
        self.place = RunLocation(home=home, work=work, url=self._stub.url if self._stub else NOBODY)

    @property
    def stub(self) -> StubProcess:
        """The stub model of a world that is served."""
        assert self._stub is not None, "this world has no model"
        return self._stub

    def __enter__(self) -> AgentEnvironmentHarness:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def env(self) -> dict[str, str]:
        """The base environment in this world."""
        return base_env(self.place.home, isolated=self._isolated)

    def make_git(self) -> None:
        """Make the working folder a git repository."""
        subprocess.run(["git", "init", "-q", str(self.place.work)], check=True)

    def start(
        self,
        binary: str,
        *arguments: str,
        trusted: bool = False,
        size: tuple[int, int] = (120, 40),
        env: Mapping[str, str] | None = None,
        **options: Any,
    ) -> AgentPane:
        """Seed the home and start the CLI in a pane.

        @param options: for the CLI's recipe.
        """
        launch = RECIPES[self.cli](self.place, trusted=trusted, **options)
        # A Node.js beside it is its own.
        path = f"{Path(binary).parent}:{os.environ['PATH']}"
        return self.pane(
            [binary, *launch.arguments, *arguments],
            size=size,
            env={"PATH": path, **launch.env, **(env or {})},
        )

    def pane(
        self,
        argv: Sequence[str],
        *,
        size: tuple[int, int] = (120, 40),
        env: Mapping[str, str] | None = None,
    ) -> AgentPane:
        """Start any program in a pane of this world."""
        return AgentPane(
            self._folder / "mux",
            argv,
            cwd=self.place.work,
            env={**self.env(), **(env or {})},
            size=size,
        )

    def close(self) -> None:
        """End the stub and whatever the CLI left running in the background."""
        if self._stub is not None:
            self._stub.close()
        deadline = time.monotonic() + PATIENCE
        while left := find_leftovers(self.place.home):
            for process in left:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            if time.monotonic() > deadline:
                raise AssertionError(f"{left} cannot be ended")
            time.sleep(0.01)
        self._scratch.close()


def find_leftovers(home: Path) -> list[int]:
    """Processes whose environment has this home: servers that a CLI left behind."""
    wanted = f"HOME={home}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            variables = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue  # it ended meanwhile, or is another user's
        if wanted in variables:
            found.append(int(entry.name))
    return found


def end_command(home: Path, *words: str) -> bool:
    """End a command that a CLI of this home runs, as somebody does who has had enough of it.

    @return: whether it was there; its shell may come to start it only after the CLI tells of it.
    """
    wanted = "".join(f"{word}\0" for word in words).encode()
    for process in find_leftovers(home):
        with suppress(OSError):  # another one that is over
            if Path(f"/proc/{process}/cmdline").read_bytes() == wanted:
                os.kill(process, signal.SIGTERM)
                return True
    return False
