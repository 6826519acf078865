"""A real CLI in the real daemon, for what runs long."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from attrs import field, frozen

from tests.agents.cli_cache import install_cli, install_version
from tests.agents.harness import AgentEnvironmentHarness
from tests.agents.netns import loopback_only
from tests.agents.recipes import RECIPES
from tests.integration.harness import PATIENCE, DaemonHarness, name_pane_variables

HELD = 3 * PATIENCE
"""Seconds for which the service may hold a prompt, and then wait for what comes of it."""


@frozen(kw_only=True)
class ClientManner:
    """What a session of one CLI needs.

    @ivar waits: until when a prompt that waits does.
    """

    mode: str
    params: dict[str, str] = field(factory=dict)
    pane_env: tuple[str, ...] = ()
    waits: str = "idle"


MANNERS = {
    "claude": ClientManner(mode="primary", waits="stop,idle"),
    "codex": ClientManner(mode="codex", pane_env=("STUB_KEY",)),
    "gemini": ClientManner(mode="gemini"),
    "opencode": ClientManner(mode="opencode"),
    "pi": ClientManner(mode="pi", params={"provider": "stub", "model": "stub-model"}),
    "qwen": ClientManner(mode="qwen", params={"approvalMode": "default"}),
    "copilot": ClientManner(mode="copilot"),
}


@frozen(kw_only=True)
class StressHarness:
    """One daemon, one stub, one CLI."""

    cli: str
    world: AgentEnvironmentHarness
    daemon: DaemonHarness
    env: dict[str, str]

    @property
    def manner(self) -> ClientManner:
        """What its sessions need."""
        return MANNERS[self.cli]

    def call(self, method: str, path: str, **body: Any) -> Any:
        """A request that must succeed."""
        return self.daemon.request(method, path, body or None, patience=HELD).data()

    def session(self) -> str:
        """Start one; its id."""
        created = self.call(
            "POST",
            "/api/sessions",
            mode=self.manner.mode,
            workingDir=str(self.world.place.work),
            envOverrides=self.env,
            params=dict(self.manner.params),
            start=True,
        )
        found: str = created["session"]["id"]
        return found


@contextmanager
def serve_cli(cli: str, version: str | None = None) -> Iterator[StressHarness]:
    """Everything, in a folder that C{cli} trusts.

    @param version: C{None} for the one that the tests know.
    @raise CliUnavailable: it cannot be installed.
    """
    with serve_each_cli(cli, 1, version) as (place,):
        yield place


@contextmanager
def serve_each_cli(
    cli: str, count: int, version: str | None = None
) -> Iterator[list[StressHarness]]:
    """So many of them, each with a home, a folder, a stub and a daemon of its own.

    @raise CliUnavailable: it cannot be installed.
    """
    if version is None:
        binary = install_cli(cli, os.environ).binary
    else:
        binary = install_version(cli, version, os.environ).binary
    with ExitStack() as held:
        isolated = held.enter_context(loopback_only())
        yield [held.enter_context(_placed(cli, binary, isolated)) for _ in range(count)]


@contextmanager
def _placed(cli: str, binary: Path, isolated: bool) -> Iterator[StressHarness]:
    with ExitStack() as held:
        made = tempfile.TemporaryDirectory(prefix="tp-", ignore_cleanup_errors=True)
        world = held.enter_context(
            AgentEnvironmentHarness(cli, Path(held.enter_context(made)), isolated=isolated)
        )
        world.make_git()
        launch = RECIPES[cli](world.place, trusted=True)
        own = {name: launch.env[name] for name in MANNERS[cli].pane_env}
        daemon = DaemonHarness(PATH=f"{binary.parent}:{os.environ['PATH']}", **own)
        held.callback(daemon.close)
        daemon.environment |= {"SERVICE_PANE_ENV": name_pane_variables(*own)}
        daemon.home = world.place.home
        daemon.start()
        env = {name: value for name, value in launch.env.items() if name not in own}
        yield StressHarness(cli=cli, world=world, daemon=daemon, env=env)
