"""The hook's and the status line's shell text, run for real."""

from __future__ import annotations

import json
import shutil
from unittest import mock

import pytest

from tests.held_port import HeldPort
from tests.unit.agents.hooks.shell_case import PAYLOAD, ShellCase
from tests.unit.agents.shell_runner import (
    SECRET,
    SHELLS,
    LoopbackServer,
    make_tool_folder,
    run_shell,
    self_signed,
)
from tests.waiting import PATIENCE, wait_until
from tservice.agents.hooks import hook_script as commands
from tservice.agents.hooks import statusline
from tservice.agents.hooks.hook_script import build_hook_command, is_own_hook
from tservice.agents.hooks.statusline import OWN_LINE, build_status_command, is_own_status
from tservice.agents.model import HookEvent

HELD = int(2 * PATIENCE)
"""Seconds that no command may be held up: L{run_shell} ends it before they are over."""
HANGS = 4
"""Seconds in which a line of the user's own must have printed what it prints before it hangs."""


class HookCommandTests(ShellCase):
    """L{build_hook_command}."""

    command = build_hook_command(HookEvent.STOP)

    def fire(self, shell: str = "sh", given: bytes = b"{}", **env: str) -> None:
        """Run it.  It must be silent and succeed.

        What came of it is there then: only of a service that stands still it is not waited for.
        """
        # An agent that was held up for as long as that would not be done in time.
        with mock.patch.multiple(commands, PATIENCE=HELD, BOUND=HELD, CONNECT=HELD):
            patient = build_hook_command(HookEvent.STOP)
        self.fired(patient, shell, given, **env)

    def fired(self, command: str, shell: str, given: bytes, **env: str) -> None:
        done = run_shell(shell, command, given, {**self.env, **env})
        self.assertEqual((0, b"", b""), (done.returncode, done.stdout, done.stderr))

    def test_hook_command_posts_from_every_shell(self) -> None:
        for shell in SHELLS:
            self.fire(shell, json.dumps(PAYLOAD, indent=1).encode())
            posted = self.server.posted.pop()
            self.assertEqual("/base/api/hook-event", posted.path)
            self.assertEqual((SECRET, "application/json"), (posted.secret, posted.content_type))
            self.assertEqual(
                {"event": "stop", "sessionId": "11111111-2222", "data": PAYLOAD},
                json.loads(posted.body),
            )

    def test_empty_hook_input_is_posted(self) -> None:
        self.fire(given=b"")
        self.assertIsNone(json.loads(self.server.posted[0].body)["data"])

    def test_large_hook_payload_is_posted(self) -> None:
        text = "x" * 2_000_000
        self.fire(given=json.dumps({"prompt": text}).encode())
        self.assertEqual(text, json.loads(self.server.posted[0].body)["data"]["prompt"])

    def test_hook_events_keep_their_order(self) -> None:
        for number in range(10):
            self.fire(given=json.dumps({"n": number}).encode())
        found = [json.loads(posted.body)["data"]["n"] for posted in self.server.posted]
        self.assertEqual(list(range(10)), found)

    def test_hook_command_needs_only_sh_and_curl(self) -> None:
        path = make_tool_folder(self.folder / "bin", ["sh", "curl"])
        done = run_shell(
            "dash" if "dash" in SHELLS else "sh",
            self.command,
            b'{"a":\n1}',
            {
                **self.env,
                "PATH": path,
            },
        )
        self.assertEqual(0, done.returncode)
        wait_until("what was sent", lambda: self.server.posted)
        self.assertEqual({"a": 1}, json.loads(self.server.posted[0].body)["data"])

    def test_hook_command_without_curl_succeeds_silently(self) -> None:
        self.fire(PATH=make_tool_folder(self.folder / "bin", ["sh", "cat", "sleep"]))

    def test_hook_secret_is_on_no_command_line(self) -> None:
        """A stand-in for curl notes what it was given."""
        folder = self.folder / "bin"
        path = make_tool_folder(folder, ["sh", "cat", "sleep"])
        noted = self.folder / "noted"
        (folder / "curl").write_text(
            '#!/bin/sh\n{ echo "argv: $*"; env; echo FD; cat /dev/fd/3; echo IN; cat; } >"$NOTED"\n'
        )
        (folder / "curl").chmod(0o755)
        self.fire(PATH=path, NOTED=str(noted), given=b'{"a":1}')
        seen, _, given = noted.read_text().partition("FD\n")
        self.assertNotIn(SECRET, seen)
        self.assertIn("/base/api/hook-event", seen)
        self.assertIn(SECRET, given.partition("IN\n")[0])
        self.assertNotIn(SECRET, self.command)

    def test_hook_command_ignores_an_agent_of_another_origin(self) -> None:
        for missing in ("SERVICE_SESSION_ID", "SERVICE_API_URL", "SERVICE_HOOK_SECRET_FILE"):
            env = {name: value for name, value in self.env.items() if name != missing}
            done = run_shell("sh", self.command, b"{}", env)
            self.assertEqual((0, b"", b""), (done.returncode, done.stdout, done.stderr))
        self.fire(SERVICE_HOOK_SECRET_FILE=str(self.folder / "none"))
        self.assertEqual([], self.server.posted)

    def test_hook_command_succeeds_while_the_service_is_down(self) -> None:
        held = HeldPort()
        self.addCleanup(held.close)
        self.fire(SERVICE_API_URL=f"http://127.0.0.1:{held.number}")

    @pytest.mark.long
    def test_stalled_service_does_not_delay_the_agent(self) -> None:
        """The agent goes on; the event arrives when the service does."""
        self.server.hold.clear()
        # The request itself would hold the agent up for longer than it may run.
        with mock.patch.multiple(commands, BOUND=HELD, CONNECT=HELD):
            command = build_hook_command(HookEvent.STOP)
        self.fired(command, "sh", b'{"late":1}')
        self.assertEqual([], self.server.posted)
        self.assertTrue(self.server.begun.wait(PATIENCE), "nothing was sent")
        self.server.close()
        self.assertEqual({"late": 1}, json.loads(self.server.posted[0].body)["data"])
        self.server = LoopbackServer()

    def test_certificate_of_the_service_is_accepted_on_loopback(self) -> None:
        secure = LoopbackServer(self_signed(self.folder))
        self.addCleanup(secure.close)
        self.fire(SERVICE_API_URL=secure.url)
        self.assertEqual(SECRET, secure.posted[0].secret)

    def test_certificate_of_another_host_is_checked(self) -> None:
        """Only loopback is trusted unseen; a name that looks like it is not."""
        folder = self.folder / "bin"
        path = make_tool_folder(folder, ["sh", "cat", "sleep"])
        noted = self.folder / "noted"
        (folder / "curl").write_text('#!/bin/sh\necho "$*" >"$NOTED"\n')
        (folder / "curl").chmod(0o755)
        trusted = ("127.0.0.1:1", "127.0.0.9", "localhost", "localhost:1", "[::1]:1", "[::1]")
        others = (
            *("127.0.0.1.example:1", "localhost.example", "10.0.0.1:1", "box.example:127"),
            *("127.0.0.1@box.example", "localhost:x@box.example", "[::2]:1", "[::1].example"),
        )
        for hosts, word in ((trusted, " --insecure "), (others, " --no-insecure ")):
            for host in hosts:
                self.fire(PATH=path, NOTED=str(noted), SERVICE_API_URL=f"https://{host}/x")
                self.assertIn(word, noted.read_text(), host)

    def test_hook_command_ignores_proxies_and_settings_of_the_user(self) -> None:
        home = self.folder / "home"
        home.mkdir()
        (home / ".curlrc").write_text('url = "http://127.0.0.1:1/"\nproxy = "http://127.0.0.1:1"\n')
        proxy = "http://127.0.0.1:1"
        self.fire(HOME=str(home), http_proxy=proxy, HTTP_PROXY=proxy, ALL_PROXY=proxy)
        self.assertEqual(1, len(self.server.posted))

    def test_own_hook_command_is_recognized(self) -> None:
        for event in HookEvent:
            self.assertTrue(is_own_hook(build_hook_command(event)))
        for other in ("mine", None, "curl x/api/hook-event", build_status_command(None)):
            self.assertFalse(is_own_hook(other))


class StatusCommandTests(ShellCase):
    """L{build_status_command}."""

    def show(
        self, own: str | None, shell: str = "sh", seconds: float = PATIENCE, **env: str
    ) -> bytes:
        """What the footer gets, however long this machine takes over it."""
        with (
            mock.patch.object(statusline, "BOUND", PATIENCE),
            mock.patch.object(commands, "CONNECT", PATIENCE),
        ):
            command = build_status_command(own, seconds)
        done = run_shell(shell, command, json.dumps(PAYLOAD).encode(), {**self.env, **env})
        self.assertEqual((0, b""), (done.returncode, done.stderr))
        return done.stdout

    def posted(self) -> object:
        """What the service got; it may come a moment after the line."""
        wait_until("what was sent", lambda: self.server.posted)
        found = self.server.posted.pop()
        self.assertEqual(("/base/api/status-telemetry", SECRET), (found.path, found.secret))
        return json.loads(found.body)

    def test_status_line_of_the_service_is_printed(self) -> None:
        for shell in SHELLS:
            self.assertEqual(b"a line", self.show(None, shell))
            self.assertEqual({"sessionId": "11111111-2222", "data": PAYLOAD}, self.posted())

    def test_status_line_of_the_user_is_printed_too(self) -> None:
        own = 'tr a-z A-Z | cut -c2-16; echo "it\'s $((1 + 1))"'
        for shell in SHELLS:
            self.assertEqual(b"\"HOOK_EVENT_NAM\nit's 2\n", self.show(own, shell))
            self.assertEqual({"sessionId": "11111111-2222", "data": PAYLOAD}, self.posted())

    def test_status_line_of_the_user_works_without_the_service(self) -> None:
        own = "echo mine"
        self.assertEqual(b"mine\n", self.show(own, SERVICE_API_URL="http://127.0.0.1:1"))
        self.assertEqual(b"mine\n", self.show(own, SERVICE_SESSION_ID=""))
        self.assertEqual(b"", self.show(None, SERVICE_SESSION_ID=""))
        self.assertEqual([], self.server.posted)

    @pytest.mark.long
    def test_hanging_user_status_line_is_ended(self) -> None:
        self.assertEqual(b"a\n", self.show(f"echo a; exec sleep {HELD}", seconds=HANGS))
        self.assertEqual({"sessionId": "11111111-2222", "data": PAYLOAD}, self.posted())

    @pytest.mark.long
    def test_hanging_user_status_line_is_ended_without_timeout_command(self) -> None:
        path = make_tool_folder(self.folder / "bin", ["sh", "curl", "cat", "sleep"])
        own = f"echo a; exec sleep {HELD}"
        self.assertEqual(b"a\n", self.show(own, seconds=HANGS, PATH=path))
        self.assertIsNone(shutil.which("timeout", path=path))

    def test_own_status_command_is_recognized(self) -> None:
        self.assertTrue(is_own_status(build_status_command(None)))
        self.assertTrue(is_own_status(build_status_command("mine")))
        self.assertFalse(is_own_status(build_hook_command(HookEvent.STOP)))
        self.assertLess(OWN_LINE, 20)
