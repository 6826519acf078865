"""Codex and a daemon, in a folder that Codex trusts."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from twisted.trial.unittest import SkipTest

from tests.agents.cli_cache import CliUnavailable, install_cli, install_version
from tests.agents.contract_harness import skip_reason
from tests.agents.harness import AgentEnvironmentHarness
from tests.agents.netns import loopback_only
from tests.agents.recipes import RECIPES
from tests.integration.harness import DaemonHarness, name_pane_variables


@contextmanager
def serve_codex(
    version: str | None = None,
) -> Iterator[tuple[AgentEnvironmentHarness, DaemonHarness]]:
    """Start a daemon with Codex in its C{PATH}, against a stub model.

    @param version: Codex' exact version; the one of the cache where it is L{None}.
    @raise SkipTest: Codex cannot be installed here.
    """
    try:
        if version is None:
            binary = install_cli("codex", os.environ).binary
        else:
            binary = install_version("codex", version, os.environ).binary
    except CliUnavailable as error:
        reason = skip_reason(error, "codex")
        raise SkipTest(reason) if reason else error from error
    with ExitStack() as held:
        isolated = held.enter_context(loopback_only())
        made = tempfile.TemporaryDirectory(prefix="tw-", dir="/tmp", ignore_cleanup_errors=True)
        world = held.enter_context(
            AgentEnvironmentHarness("codex", Path(held.enter_context(made)), isolated=isolated)
        )
        daemon = DaemonHarness(PATH=f"{binary.parent}:{os.environ['PATH']}")
        held.callback(daemon.close)
        daemon.home = world.place.home
        env = RECIPES["codex"](world.place, trusted=True).env
        daemon.environment |= {**env, "SERVICE_PANE_ENV": name_pane_variables(*env)}
        daemon.start()
        yield world, daemon
