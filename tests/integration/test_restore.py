"""The machine goes down under the real daemon, and its sessions come back (protocol-restore)."""

from __future__ import annotations

import re
import shutil
import signal
import stat
import subprocess
import time
from typing import Any

import pytest
from twisted.trial.unittest import SynchronousTestCase

from tests.integration.mount_namespace import mount_obstacle
from tests.integration.rebooting import TRIAL, NamespaceDaemon, RebootDaemon
from tests.run_figures import report_figure
from tests.waiting import wait_until

AGENT = """#!/bin/sh
printf '%s\\n' "$*" >> "$HOME/started"
[ -e "$HOME/broken" ] && { echo 'no such conversation'; exit 1; }
printf 'agent of %s\\n> ' "$*"
exec cat
"""


class DaemonRestoreCase(SynchronousTestCase):
    """A daemon with a played agent, of a CLI whose conversations it takes at their word."""

    daemon: RebootDaemon

    def setUp(self) -> None:
        super().setUp()
        self.daemon = self.machine()
        self.addCleanup(self.daemon.close)
        programs = self.daemon.home / ".local" / "bin"
        programs.mkdir(parents=True)
        (programs / "agy").write_text(AGENT)
        (programs / "agy").chmod(0o755)
        self.work = self.daemon.folder / "work"
        self.work.mkdir()
        self.daemon.start()

    def machine(self) -> RebootDaemon:
        return RebootDaemon()

    def call(self, method: str, path: str, body: Any = None) -> Any:
        return self.daemon.request(method, f"/api/{path}", body).data()

    def make(self, **more: Any) -> str:
        body = {"mode": "shell", "workingDir": str(self.work), "start": True, **more}
        found: str = self.call("POST", "sessions", body)["session"]["id"]
        return found

    def agent(self, conversation: str = "c0ffee-1", **more: Any) -> str:
        return self.make(mode="antigravity", resumeSessionId=conversation, **more)

    def type(self, session: str, line: str) -> None:
        self.call("POST", f"sessions/{session}/input", {"input": line + "\r"})

    def text(self, session: str, query: str = "?full=1") -> str:
        """What its terminal holds, without colours."""
        found = self.call("GET", f"sessions/{session}/terminal{query}")["terminalBuffer"]
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", found)

    def shows(self, session: str, text: str) -> None:
        wait_until(f"{text!r} in {session}", lambda: text in self.text(session))

    def offered(self) -> list[str]:
        return [each["id"] for each in self.call("GET", "reboot-restore")["sessions"]]

    def restore(self, *ids: str) -> dict[str, Any]:
        body = {"sessionIds": list(ids)} if ids else {}
        found: dict[str, Any] = self.call("POST", "reboot-restore/restore", body)
        return found

    def outcomes(self, *ids: str) -> dict[str, str]:
        return {each["sessionId"]: each["outcome"] for each in self.restore(*ids)["entries"]}


class RebootTests(DaemonRestoreCase):
    def test_sessions_are_offered_and_restored_after_power_loss(self) -> None:
        """All that a user sees: an offer, everything back, the text of before above."""
        shell, agent = self.make(name="build"), self.agent()
        self.call("PUT", f"sessions/{shell}/pin", {"pinned": True})
        self.type(shell, "printf '\\033[32mgre''en\\033[0m\\n'")
        self.shows(shell, "green")
        self.shows(agent, "agent of --conversation c0ffee-1")
        # In good order, so that all of it is on disk; then everything is gone.
        begun = time.time()
        self.daemon.reboot(signal.SIGTERM)

        offer = self.call("GET", "reboot-restore")
        asked = time.time()
        self.assertEqual([shell, agent], [each["id"] for each in offer["sessions"]])
        self.assertEqual([False, True], [each["resumes"] for each in offer["sessions"]])
        self.assertEqual([True, True], [each["scrollback"] for each in offer["sessions"]])
        day_before = offer["expiresAt"] / 1000 - 86400
        self.assertTrue(begun - 1 <= day_before <= asked + 1, (begun, day_before, asked))
        dead = self.call("GET", f"sessions/{shell}")
        self.assertEqual((None, True, "build"), (dead["pid"], dead["pinned"], dead["name"]))

        found = self.restore()
        self.assertEqual((2, 0), (found["restored"], found["skipped"]))
        self.assertEqual([True, True], [each["scrollbackRestored"] for each in found["entries"]])
        above = r"(?s)green.*── the machine restarted; above is what"
        wait_until("what was there", lambda: re.search(above, self.text(shell)))
        self.type(shell, "echo $((6 * 7))-again")
        self.shows(shell, "42-again")
        begins = "agent of --conversation c0ffee-1\n> "
        wait_until("the agent", lambda: self.text(agent, "").startswith(begins))
        history = self.text(agent)
        self.assertEqual(2, history.count("agent of --conversation c0ffee-1"))
        # It prints before it is idle again.
        wait_until(
            "an idle shell", lambda: self.call("GET", f"sessions/{shell}")["status"] == "idle"
        )
        record = self.call("GET", f"sessions/{shell}")
        self.assertEqual((True, "build"), tuple(record[n] for n in ("pinned", "name")))
        self.assertEqual([], self.offered())
        self.assertEqual([], list((self.daemon.data / "mux").glob("*.preface")))

    def test_panes_that_end_before_the_daemon_are_restored_after_a_reboot(self) -> None:
        """A shutdown takes what it finds in any order."""
        first, second = self.make(), self.agent()
        ended = self.make()
        self.type(ended, "exit 0")
        wait_until("its end", lambda: self.call("GET", f"sessions/{ended}")["pid"] is None)
        for session in (first, second):
            self.daemon.end_server(self.daemon.data / "mux" / f"{session}.sock")
        wait_until(
            "their loss", lambda: {each["pid"] for each in self.call("GET", "sessions")} == {None}
        )
        self.daemon.reboot(signal.SIGTERM)
        self.assertEqual([first, second], self.offered())

    @pytest.mark.extended
    def test_failed_restores_are_offered_again(self) -> None:
        agent, lost, shell = self.agent(), self.make(), self.make()
        elsewhere = self.daemon.folder / "elsewhere"
        elsewhere.mkdir()
        gone = self.make(workingDir=str(elsewhere))
        self.daemon.reboot()
        (self.daemon.home / "broken").touch()
        shutil.rmtree(elsewhere)
        expected = {agent: "agent-failed", gone: "workspace-missing"}
        self.assertEqual(expected, self.outcomes(agent, gone))
        self.assertEqual([agent, lost, shell, gone], self.offered())
        self.assertFalse((self.daemon.data / "mux" / f"{agent}.sock").exists())
        (self.daemon.home / "broken").unlink()
        elsewhere.mkdir()
        found = self.outcomes()
        self.assertEqual({"restored"}, set(found.values()))
        self.assertEqual(4, len(found))

    @pytest.mark.extended
    def test_sessions_are_restored_automatically_one_agent_at_a_time(self) -> None:
        """One agent at a time, and no longer than three seconds between them."""
        self.call("PUT", "settings", {"autoRestoreEnabled": True})
        agents = [self.agent(f"c0ffee-{number}") for number in range(2)]
        self.daemon.reboot()

        def running() -> int:
            return sum(1 for each in self.call("GET", "sessions") if each["pid"] is not None)

        wait_until("one", lambda: running() == 1)
        wait_until("all", lambda: running() == 2)
        wait_until("the end", lambda: not self.call("GET", "reboot-restore")["restoring"])
        started = (self.daemon.home / "started").read_text().split("\n")[2:4]
        self.assertEqual([f"--conversation c0ffee-{number}" for number in range(2)], started)
        self.assertEqual([[], 2], [self.offered(), len(agents)])

    def test_kept_scrollback_is_bounded_private_and_removed_when_disabled(self) -> None:
        """Bounded and private, and gone when it is switched off."""
        shell = self.make()
        self.type(shell, "seq 1 9000; echo d''one")
        self.shows(shell, "done")
        began = time.monotonic()
        self.daemon.restart()
        report_figure(f"a restart that saves 5,000 rows: {time.monotonic() - began:.2f} s")
        folder = self.daemon.data / "scrollback"
        (file,) = folder.iterdir()
        self.assertEqual(f"{shell}.gz", file.name)
        modes = [stat.S_IMODE(each.stat().st_mode) for each in (folder, file)]
        self.assertEqual([0o700, 0o600], modes)
        rows = subprocess.run(["gzip", "-dc", str(file)], capture_output=True, check=True).stdout
        self.assertEqual(5000, len(rows.split(b"\r\n")))
        self.assertIn(b"\r\n9000\r\n", rows)
        self.call("PUT", "settings", {"keepScrollbackEnabled": False})
        wait_until("nothing kept", lambda: not list(folder.iterdir()))


@pytest.mark.extended
class RebootNamespaceTests(DaemonRestoreCase):
    """The kernel's own file has another boot id."""

    def machine(self) -> RebootDaemon:
        why = mount_obstacle(*TRIAL)
        if why is not None:
            report_figure(f"the kernel's own boot id: not played, {why}")
        return RebootDaemon() if why else NamespaceDaemon()

    def test_changed_boot_id_offers_a_restore_and_a_daemon_kill_does_not(self) -> None:
        """The daemon is killed too.  A kill of it alone is no reboot, before or after."""
        shell = self.make()
        self.daemon.reboot()
        self.bad_requests()
        self.assertEqual({shell: "restored"}, self.outcomes())
        self.daemon.restart(number=signal.SIGKILL)
        self.assertEqual([], self.offered())
        self.assertEqual({"restored": 0, "skipped": 0, "entries": []}, self.restore())
        self.assertEqual({"dismissed": 0}, self.call("POST", "reboot-restore/dismiss"))

    def bad_requests(self) -> None:
        """Each is told field and rule, and changes nothing."""
        bad: list[Any] = [
            {"sessionIds": "all"},
            {"ids": []},
            {"sessionIds": [1]},
            {"sessionIds": [""]},
        ]
        for body in bad:
            answer = self.daemon.request("POST", "/api/reboot-restore/restore", body)
            self.assertEqual(400, answer.status, body)
            self.assertIn(next(iter(body)), answer.json()["error"])
