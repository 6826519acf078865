"""The namespace, the cache of CLIs and the worlds, on the machine itself."""

from __future__ import annotations

import errno
import os
import socket
import stat
from pathlib import Path

import pytest
from twisted.trial.unittest import SkipTest, SynchronousTestCase

from tests.agents import cli_cache
from tests.agents.cli_cache import (
    CLIS,
    CliUnavailable,
    cache_root,
    install_cli,
    is_required,
    version_numbers,
)
from tests.agents.harness import AgentEnvironmentHarness, base_env, find_leftovers
from tests.agents.mcp_form import FormMcpServer
from tests.agents.netns import can_isolate, dead_proxy, interface_names, loopback_only
from tests.waiting import wait_until

pytestmark = pytest.mark.essential


class NetworkNamespaceTests(SynchronousTestCase):
    def test_loopback_namespace_is_left_afterwards(self) -> None:
        if not can_isolate():
            raise SkipTest("not root: agents run without a network namespace")
        # Its interfaces come and go with the containers of tests beside this one.
        before = os.readlink("/proc/thread-self/ns/net")
        with loopback_only() as isolated:
            self.assertNotEqual(before, os.readlink("/proc/thread-self/ns/net"))
            self.assertTrue(isolated)
            self.assertEqual(["lo"], interface_names())
            with self.assertRaises(OSError) as raised:
                socket.create_connection(("192.0.2.1", 80), 1)
            self.assertEqual(errno.ENETUNREACH, raised.exception.errno)
        self.assertEqual(before, os.readlink("/proc/thread-self/ns/net"))

    def test_child_processes_and_the_test_share_the_loopback(self) -> None:
        if not can_isolate():
            raise SkipTest("not root: agents run without a network namespace")
        with loopback_only() as isolated, AgentEnvironmentHarness("pi", isolated=isolated) as world:
            self.assertEqual([], world.stub.turns())


class WorldTests(SynchronousTestCase):
    def test_isolated_environment_has_no_variable_of_the_machine(self) -> None:
        env = base_env(Path("/h"), isolated=True)
        self.assertEqual({"HOME", "PATH", "LANG", "TERM", "COLORTERM", "SHELL", "TMPDIR"}, set(env))

    def test_unisolated_environment_has_a_refusing_proxy(self) -> None:
        env = base_env(Path("/h"), isolated=False)
        self.assertEqual(dead_proxy(), {key: env[key] for key in dead_proxy()})

    def test_processes_left_by_a_client_are_ended(self) -> None:
        with AgentEnvironmentHarness("pi", isolated=True) as world:
            home = world.place.home
            # Before it is on its own it would end with the terminal.
            up = "until [ -e up ]; do sleep 0.05; done"
            script = f"setsid sh -c 'touch up; exec sleep 600' & {up}"
            with world.pane(["sh", "-c", script]) as pane:
                pane.wait_dead()
            # The pane may be over before C{touch} is, and a program that starts has no environment.
            wait_until("the one that stays", lambda: len(find_leftovers(home)) == 1)
        self.assertEqual([], find_leftovers(home))


class CacheTests(SynchronousTestCase):
    def test_cli_versions_compare_by_number(self) -> None:
        self.assertLess(version_numbers("1.9.0"), version_numbers("1.10.0-beta.1"))

    def test_cache_folder_is_below_home_or_configured(self) -> None:
        self.assertEqual(Path("/x"), cache_root({"HOME": "/h", "TSERVICE_TEST_CACHE": "/x"}))
        self.assertEqual(Path("/h/.cache/tservice-agents"), cache_root({"HOME": "/h"}))

    def test_only_listed_clients_are_required(self) -> None:
        self.assertTrue(is_required("pi", {"TSERVICE_REQUIRE_CLIS": "claude,pi"}))
        self.assertFalse(is_required("pi", {}))

    def env(self, npm: str) -> dict[str, str]:
        """An environment whose npm is this shell script."""
        program = Path("bin/npm").absolute()
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\n{npm}\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        path = f"{program.parent}:{os.environ['PATH']}"
        return {"HOME": str(Path.cwd()), "PATH": path}

    def test_missing_npm_makes_the_client_unavailable(self) -> None:
        with self.assertRaisesRegex(CliUnavailable, "no npm on the PATH"):
            install_cli("pi", {"HOME": str(Path.cwd()), "PATH": "/nonexistent"})

    def test_install_failure_quotes_the_output_of_npm(self) -> None:
        with self.assertRaisesRegex(CliUnavailable, "ended with 7: no such thing"):
            install_cli("pi", self.env("echo no such thing; exit 7"))

    def test_npm_installation_past_its_timeout_is_ended(self) -> None:
        late = cli_cache.CachedCli(name="late", package="late", minimum="1", timeout=0.2)
        self.patch(cli_cache, "CLIS", {"late": late})
        with self.assertRaisesRegex(CliUnavailable, "took over 0 s"):
            install_cli("late", self.env("sleep 60"))

    def test_client_is_installed_once(self) -> None:
        package = f"node_modules/{CLIS['pi'].package}"
        about = '{\\"version\\": \\"99.0.0\\"}'
        env = self.env(
            f"echo run >> $HOME/runs; mkdir -p {package} node_modules/.bin;"
            f' echo "{about}" > {package}/package.json; touch node_modules/.bin/pi'
        )
        self.assertEqual("99.0.0", install_cli("pi", env).version)
        self.assertEqual("99.0.0", install_cli("pi", env).version)
        self.assertEqual("run\n", Path("runs").read_text())

    def test_too_old_version_is_refused(self) -> None:
        package = f"node_modules/{CLIS['pi'].package}"
        about = '{\\"version\\": \\"0.1.0\\"}'
        env = self.env(
            f"mkdir -p {package} node_modules/.bin;"
            f' echo "{about}" > {package}/package.json; touch node_modules/.bin/pi'
        )
        with self.assertRaisesRegex(CliUnavailable, "of 1.6.0 or newer"):
            install_cli("pi", env)


class FormServerTests(SynchronousTestCase):
    def test_form_server_tool_call_asks_and_answers(self) -> None:
        server = FormMcpServer()
        (asked,) = server.receive({"id": 1, "method": "tools/call", "params": {}})
        self.assertEqual("elicitation/create", asked["method"])
        (answer,) = server.receive({"id": asked["id"], "result": {"action": "decline"}})
        self.assertEqual(1, answer["id"])
        self.assertIn("decline", answer["result"]["content"][0]["text"])
