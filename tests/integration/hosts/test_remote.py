"""Sessions on another machine: a real sshd on loopback, with a home of its own."""

from __future__ import annotations

import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from tests.integration.harness import job_in
from tests.integration.hosts.remote_case import RemoteCase
from tests.sshd import SshServer
from tservice.mux.terminfo import find_local_term


class RemoteTests(RemoteCase):
    """The tests are steps of one walk."""

    def test_remote_host_session_life_cycle(self) -> None:
        """One walk: the key of the host is the same for all."""
        self.a_key_is_trusted_by_a_person()
        self.a_life_there()
        self.a_session_of_somebody_else()
        self.a_host_behind_another()
        self.a_changed_key_is_refused_with_both()

    def a_key_is_trusted_by_a_person(self) -> None:
        host = self.host("keys")
        found = self.call("POST", f"/remote-hosts/{host}/check")
        self.assertEqual((False, "unknown"), (found["ok"], found["hostKey"]))
        self.assertTrue(found["fingerprint"].startswith("SHA256:"))
        wrong = {"fingerprint": "SHA256:wrong"}
        self.assertIn(
            found["fingerprint"], self.call("POST", f"/remote-hosts/{host}/trust", wrong, 409)
        )
        right = {"fingerprint": found["fingerprint"]}
        self.call("POST", f"/remote-hosts/{host}/trust", right)
        found = self.call("POST", f"/remote-hosts/{host}/check")
        self.assertEqual((True, "known"), (found["ok"], found["hostKey"]), found)
        self.assertRegex(found["tmux"], r"\d+\.\d+")
        self.assertIsInstance(found["latencyMs"], int)

    def a_life_there(self) -> None:
        """Made, typed into, taken up by the next service, over a cut, ended."""
        self.woken = self.daemon.folder / "woken"
        wake = self.daemon.folder / "wake"
        wake.write_text(f"#!/bin/sh\necho >> {self.woken}\n")
        wake.chmod(0o755)
        host = self.trusted("life", wakeCommand=str(wake))
        session = self.shell(host, "work")
        self.type(session, "echo at-$PWD; echo on-$TERM-$COLORTERM\r", 0)
        self.until(lambda: f"at-{self.sshd.home}/work" in self.screen(session), "the folder")
        self.until(
            lambda: f"on-{find_local_term()}-truecolor" in self.screen(session), "its terminal"
        )
        self.assertEqual(
            {"reachable": True, "wakeConfigured": "command"},
            self.call("GET", f"/sessions/{session}/reachability"),
        )
        status = self.call("GET", f"/sessions/{session}/git-status")
        self.assertEqual(("unsupported", "remote"), (status["state"], status["reason"]))
        self.assertIn("remote", self.call("GET", f"/sessions/{session}/files", status=400))
        pid = self.call("GET", f"/sessions/{session}")["pid"]
        self.daemon.restart()
        self.until(lambda: self.call("GET", f"/sessions/{session}")["pid"] == pid, "its pane")
        again = self.until(lambda: self.typed(session, "echo again\r", 0), "its terminal")
        self.assertTrue(again["duplicate"])
        # Where its pane is not taken up yet it is kept until it is.
        self.type(session, "echo after-$((20+3))\r", 1)
        self.until(lambda: "after-23" in self.screen(session), "the answer")
        self.cut(session)
        self.assertIn("uses this host", self.call("DELETE", f"/remote-hosts/{host}", status=422))
        self.a_job_there()
        self.call("DELETE", f"/sessions/{session}")
        self.assertEqual(
            {"woke": True, "reachable": True, "wakeConfigured": "command"},
            self.call("POST", f"/remote-hosts/{host}/wake"),
        )
        self.assertIn("case work", self.call("DELETE", f"/remote-hosts/{host}", status=422))
        self.call("DELETE", "/cases/work")
        self.call("DELETE", f"/remote-hosts/{host}")
        # A server takes its socket away itself, a moment behind its session.
        self.until(lambda: not list(self.sshd.sockets.glob("tmux-*/*")), "the end of all servers")

    def a_job_there(self) -> None:
        prompt = "echo $PWD-$((6*7)) > heard; touch said"
        job = self.call("POST", "/cron/jobs", job_in("work", prompt))["job"]
        run = self.call("POST", f"/cron/jobs/{job['id']}/run")["run"]
        folder = self.sshd.home / "work"
        self.until((folder / "said").exists, "what it was told")
        self.assertEqual(f"{folder}-42\n", (folder / "heard").read_text())
        found = self.call("GET", f"/sessions/{run['sessionId']}")
        self.assertEqual(("remote", "work"), (found["location"], found["caseName"]))
        self.call("DELETE", f"/cron/jobs/{job['id']}")
        self.call("DELETE", f"/sessions/{run['sessionId']}")

    def cut(self, session: str) -> None:
        """The way is lost and comes back; what was printed meanwhile is there."""
        before = self.call("GET", f"/sessions/{session}")
        self.sshd.stop()
        self.until(
            lambda: self.call("GET", f"/sessions/{session}/reachability")["reachable"] is False,
            "the loss",
        )
        now = self.call("GET", f"/sessions/{session}")
        self.assertEqual(
            (before["pid"], before["status"]), (now["pid"], now["status"]), "unknown is not dead"
        )
        last = self.call("GET", f"/sessions/{session}/terminal?full=1")
        self.assertIn("after-23", last["terminalBuffer"])
        self.assertTrue(last["stale"])
        self.assertLess(abs(last["staleAt"] / 1000 - time.time()), 300)
        self.assertEqual({"buffered": True}, self.type(session, "echo kept-$((2+5))\r", 2))
        self.until(self.woken.exists, "the wake")
        self.sshd.start()
        self.until(
            lambda: self.call("GET", f"/sessions/{session}/reachability")["reachable"], "the way"
        )
        self.until(lambda: "after-23" in self.screen(session), "the screen")
        self.assertNotIn("stale", self.call("GET", f"/sessions/{session}/terminal"))
        self.until(lambda: "kept-7" in self.screen(session), "what was kept")
        self.assertTrue(self.type(session, "echo kept-$((2+5))\r", 2)["duplicate"])
        told = self.until(lambda: self.typed(session, "echo back-$((40+2))\r", 3), "the pane")
        self.assertTrue(told["delivered"])
        self.until(lambda: "back-42" in self.screen(session), "the answer")
        self.a_wait_wakes(session)

    def a_wait_wakes(self, session: str) -> None:
        """It is typed once the host is up; so is whatever a person wakes it for."""
        self.sshd.stop()
        self.until(
            lambda: self.call("GET", f"/sessions/{session}/reachability")["reachable"] is False,
            "the loss",
        )
        self.woken.unlink()
        body = {
            "input": "echo wait-$((3+4))\r",
            "useMux": True,
            "wait": "exit",
            "waitTimeout": 1000,
        }
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(self.call, "POST", f"/sessions/{session}/input", body)
            self.until(self.woken.exists, "the wake")
            self.sshd.start()
            self.assertTrue(answer.result()["delivered"])
        self.until(lambda: "wait-7" in self.screen(session), "the answer")
        self.assertEqual(
            {"woke": True, "reachable": True, "wakeConfigured": "command"},
            self.call("POST", f"/sessions/{session}/wake"),
        )

    def tmux(self, *words: str) -> str:
        """What somebody's own tmux there says."""
        env = {**os.environ, "TMUX_TMPDIR": str(self.sshd.sockets), "HOME": str(self.sshd.home)}
        command = ["tmux", "-u", "-f", "/dev/null", *words]
        return subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout

    def a_session_of_somebody_else(self) -> None:
        """Attached to, beside another client, which alone decides on its size; never ended."""
        host = self.trusted("somebody's")
        listing = f"/remote-hosts/{host}/sessions"
        self.assertEqual([], self.call("GET", listing)["sessions"])
        self.tmux("new-session", "-d", "-s", "mi", "-x", "90", "-y", "20", "sh")
        self.tmux("new-window", "-d", "-t", "=mi:", "sh")
        self.tmux("new-session", "-d", "-s", "mine", "-x", "100", "-y", "30", "sh")
        sessions = self.call("GET", listing)["sessions"]
        self.assertEqual(
            [("mi", 0, 2, 90, 20), ("mine", 0, 1, 100, 30)],
            [tuple(each[k] for k in ("name", "attached", "windows", "cols", "rows"))
             for each in sessions],
        )  # fmt: skip
        there = {"hostId": host, "remoteSessionName": "min"}
        wanted = {"attachRemoteSession": there, "start": True}
        self.assertIn("no tmux session min ", self.call("POST", "/sessions", wanted, 422))
        there["remoteSessionName"] = "mine"
        session = self.call("POST", "/sessions", wanted)["session"]
        self.assertEqual(
            ("remote", {"hostId": host, "name": "mine", "owned": False}, "shell"),
            (session["location"], session["remote"], session["mode"]),
        )
        self.assertEqual((100, 30), (session["cols"], session["rows"]))
        self.beside_another_client(str(session["id"]))
        self.its_pane_ends({**wanted, "attachRemoteSession": {**there, "remoteSessionName": "mi"}})
        self.tmux("kill-server")

    def its_pane_ends(self, wanted: object) -> None:
        """The other window of it runs on."""
        session = self.call("POST", "/sessions", wanted)["session"]["id"]
        self.type(session, "exit\r", 1)
        self.until(lambda: self.call("GET", f"/sessions/{session}")["pid"] is None, "the end")
        shown = ("display-message", "-p", "-t", "=mi:", "#{window_index}")
        self.until(lambda: self.tmux(*shown) == "1\n", "the other window")
        self.call("DELETE", f"/sessions/{session}")

    def beside_another_client(self, session: str) -> None:
        self.type(session, "echo theirs-$((2*4)) '%0'\r", 1)
        self.until(lambda: "theirs-8 %0" in self.screen(session), "the answer")
        prompt = {"input": "echo pasted '%0'\r", "useMux": True, "clientId": "c", "seq": 2}
        self.call("POST", f"/sessions/{session}/input", prompt)
        self.until(lambda: "\npasted %0" in self.screen(session), "the paste")
        size = ("display-message", "-p", "-t", "=mine:", "#{window_width}x#{window_height}")
        with subprocess.Popen(
            ["tmux", "-u", "-C", "attach-session", "-t", "=mine"],
            env={**os.environ, "TMUX_TMPDIR": str(self.sshd.sockets)},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        ) as other:
            assert other.stdin is not None
            other.stdin.write("refresh-client -C 150x50\n")
            other.stdin.flush()
            self.until(lambda: self.tmux(*size) == "150x50\n", "the other's size")
            told = self.call("POST", f"/sessions/{session}/resize", {"cols": 60, "rows": 15})
            self.assertEqual({"cols": 150, "rows": 50}, told)
            self.assertEqual("150x50\n", self.tmux(*size))
            other.stdin.close()
        self.until(lambda: self.tmux(*size) == "60x15\n", "the size that is wanted here")
        self.daemon.restart()
        self.until(lambda: self.typed(session, "echo again\r", 2), "its terminal")
        self.type(session, "echo more-$((3*5))\r", 3)
        self.until(lambda: "more-15" in self.screen(session), "the answer")
        self.call("DELETE", f"/sessions/{session}")
        self.assertEqual("mi\nmine\n", self.tmux("list-sessions", "-F", "#{session_name}"))
        self.until(lambda: "\n" not in self.tmux("list-clients"), "the client's end")

    def a_host_behind_another(self) -> None:
        """The key of it is shown through the other one, and so goes all that it is told."""
        user, jump = os.environ.get("USER", "root"), f"127.0.0.1:{self.sshd.port}"
        with closing(SshServer(self.daemon.folder / "behind")) as inner:
            there = {"port": inner.port, "identityFile": str(inner.key)}
            host = self.host("behind", **there, jumpHost=f"{user}@{jump}")
            self.agent.add(self.sshd.key)
            found = self.call("POST", f"/remote-hosts/{host}/check")
            self.assertEqual((False, "unknown"), (found["ok"], found["hostKey"]), found)
            shown = {"fingerprint": found["fingerprint"]}
            self.call("POST", f"/remote-hosts/{host}/trust", shown)
            body = {"name": "behind", "hostId": host, "remotePath": str(inner.home)}
            self.call("POST", "/cases/remote-link", body)
            wanted = {"caseName": "behind", "mode": "shell", "start": True}
            session = str(self.call("POST", "/sessions", wanted)["session"]["id"])
            self.type(session, "echo in-$HOME\r", 1)
            self.until(lambda: f"in-{inner.home}" in self.screen(session), "the home there")
            self.sshd.stop()
            path = f"/sessions/{session}/reachability"
            self.until(lambda: self.call("GET", path)["reachable"] is False, "the loss")
            self.sshd.start()
            self.type(session, "echo then-$((4*4))\r", 2)
            self.until(lambda: "then-16" in self.screen(session), "the answer")
            self.call("DELETE", f"/sessions/{session}")
            self.call("DELETE", "/cases/behind")
            self.call("DELETE", f"/remote-hosts/{host}")

    def a_changed_key_is_refused_with_both(self) -> None:
        host = self.trusted("changed")
        old = self.call("POST", f"/remote-hosts/{host}/check")["fingerprint"]
        self.sshd.stop()
        self.sshd.make_key("host")
        self.sshd.start()
        (self.sshd.home / "other").mkdir()
        body = {"name": "other", "hostId": host, "remotePath": "~/other"}
        self.call("POST", "/cases/remote-link", body)
        found = self.call("POST", f"/remote-hosts/{host}/check")
        self.assertEqual((False, "changed"), (found["ok"], found["hostKey"]))
        self.assertEqual(old, found["knownFingerprint"])
        wanted = {"caseName": "other", "mode": "shell", "start": True}
        why = self.call("POST", "/sessions", wanted, 422)
        self.assertIn(old, why)
        self.assertIn(found["fingerprint"], why)
