"""Every command of C{tsctl} that asks a service, on the real daemon."""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

from tests.integration.git_servers import make_repository
from tests.integration.harness import LOOPBACK, PATIENCE
from tests.integration.tsctl import TSCTL, CuttableRelay, TsctlCase, session_ids
from tests.waiting import wait_until
from tservice.client.commands.table import COMMANDS

EVIL = "e\x1b]52;c;ZXZpbA==\x07vil"


class TsctlSessionTests(TsctlCase):
    def test_session_is_created_listed_renamed_and_ended_by_name_or_id(self) -> None:
        """Made, listed, renamed, ended: by id, by its beginning, by name."""
        session = self.shell()
        self.assertRegex(session, r"\A[0-9a-f-]{36}\Z")
        head, row = self.tsctl("ls").splitlines()
        self.assertEqual(["ID", "STATUS", "MODE", "NAME", "MODEL", "ACTIVE", "FOLDER"],
                         head.split())  # fmt: skip
        self.assertEqual([session[:8], "shell", "one", str(self.service.home)],
                         [row.split()[at] for at in (0, 2, 3, 6)])  # fmt: skip
        self.assertEqual([session], [found["id"] for found in self.json("list")])
        self.assertEqual("", self.tsctl("rename", session[:4], "two"))
        self.assertEqual("two", self.json("ls")[0]["name"])
        self.assertEqual({"name": "one"}, self.json("rename", "two", "one"))
        self.assertEqual({"snooze": {}}, self.json("snooze", "one", "asks"))
        self.assertEqual({}, self.json("snooze", "one", "off"))
        self.assertEqual("", self.tsctl("kill", "one"))
        self.assertEqual([], session_ids(self.service))
        self.assertIn("no session matches 'one'", self.fails("kill", "one"))

    def test_ambiguous_session_name_is_refused_with_the_candidates(self) -> None:
        sessions = [self.shell("same"), self.shell("same")]
        line = self.fails("kill", "same")
        for session in sessions:
            self.assertIn(f"{session} (same)", line)
        self.assertEqual(sorted(sessions), sorted(session_ids(self.service)))
        self.fails("kill", sessions[0], "no such one")
        self.assertEqual(2, len(session_ids(self.service)))
        self.assertIn("no session matches", self.fails("read", sessions[0][:3]))
        self.tsctl("kill", *sessions)

    def test_start_runs_a_stopped_session_and_fails_twice(self) -> None:
        made = self.service.request("POST", "/api/sessions", {"mode": "shell"}).data()["session"]
        self.assertEqual("", self.tsctl("start", made["id"]))
        self.assertIn("409", self.fails("start", made["id"]))
        self.assertIsNotNone(self.json("ls")[0]["pid"])

    def test_new_session_with_a_prompt_and_a_wait_prints_its_state(self) -> None:
        # A shell is idle once, and that may be before anything is typed (protocol-signals).
        prompt = ("--prompt", "echo made-$((40+2))", "--timeout", "2")
        found = self.run_it("new", "--mode=shell", "--wait=idle,exit", *prompt)
        self.assertIn((found.returncode, found.stderr), ((0, ""), (1, "")))
        self.see(found.stdout.strip(), "from=buffer&match=made-42")
        found = self.run_it("new", "--wait", "shell", "--prompt", "sleep 100", "--timeout", "2")
        self.assertIn((found.returncode, found.stderr), ((0, ""), (1, "")))
        self.tsctl("new", "shell", "--prompt", "exit", "--wait=exit")
        self.assertEqual(3, len(session_ids(self.service)))

    def test_new_refuses_contradictory_arguments(self) -> None:
        for words, want in (
            (("shell", "--mode", "primary"), "MODE is 'shell' and --mode is 'primary'"),
            (("shell", "--dir", "/nowhere"), "INVALID_INPUT"),
            (("shell", "--dir", "/", "--case", "a"), "not allowed with"),
            (("no-such-mode",), "400"),
            (("shell", "--timeout", "0"), "'0' is not a whole number"),
        ):
            self.assertIn(want, self.fails("new", *words))
        self.assertEqual([], session_ids(self.service))

    def test_session_names_cannot_send_escape_sequences_to_the_terminal(self) -> None:
        session = self.shell()
        printing = f"printf '\\033]2;{EVIL}\\007'; printf '\\033[31mr\\033[0med\\n'\r"
        self.tsctl("send", "one", "--raw", printing)
        self.see(session, "from=buffer&match=red")
        for words in (("read", "one"), ("tail", "one"), ("ls",), ("read", "--full", "one")):
            self.assertNotRegex(self.tsctl(*words), r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", words)
        self.assertIn("\x1b[31mr", self.tsctl("read", "one", "--ansi"))


class TsctlTurnTests(TsctlCase):
    def test_send_types_text_and_reports_delivery(self) -> None:
        session = self.shell()
        self.assertEqual("", self.tsctl("send", "one", "echo a-$((1+1))"))
        self.see(session, "from=buffer&match=a-2")
        self.tsctl("send", "one", "-", stdin="echo b-$((1+1))\n")
        self.see(session, "from=buffer&match=b-2")
        self.tsctl("send", "one", "--raw", "echo c-$((1+1))\r")
        self.see(session, "from=buffer&match=c-2")
        found = self.json("send", "one", "true")
        self.assertTrue(found["delivered"])

    def test_send_with_wait_prints_the_reached_state(self) -> None:
        self.shell()
        self.assertEqual("exit\n", self.tsctl("send", "one", "exit 3", "--wait", "exit"))

    def test_wait_that_times_out_exits_with_1(self) -> None:
        self.shell()
        found = self.run_it("wait", "one", "--until", "exit", "--timeout", "1")
        self.assertEqual((1, "", ""), (found.returncode, found.stdout, found.stderr))
        found = self.run_it("send", "one", "true", "--wait", "exit", "--timeout", "1")
        self.assertEqual((1, ""), (found.returncode, found.stdout))
        self.assertIn("not one of", self.fails("wait", "one", "--until", "never"))

    def test_wait_for_several_sessions_names_the_first_that_ended(self) -> None:
        one, two = self.shell(), self.shell("two")
        self.tsctl("send", "one", "exit")
        self.assertEqual("exit\n", self.tsctl("wait", "one", "--until", "exit"))
        words = ("wait", "one", "two", "--until", "exit")
        self.assertEqual(f"{one} exit\n", self.tsctl(*words, "--any"))
        found = self.run_it(*words, "--all", "--timeout", "1", "--json")
        self.assertEqual(1, found.returncode)
        self.assertEqual({"signals": {one: "exit", two: None}}, json.loads(found.stdout))
        self.tsctl("send", "two", "exit")
        self.assertEqual({f"{one} exit", f"{two} exit"},
                         set(self.tsctl(*words, "--all").splitlines()))  # fmt: skip


class TsctlReadingTests(TsctlCase):
    def setUp(self) -> None:
        super().setUp()
        self.session = self.shell()
        self.tsctl("send", "one", "PS1='> '; seq 1 200; echo end-$((1+1))")
        self.see(self.session, "from=buffer&match=end-2")
        path = f"/api/sessions/{self.session}/terminal"
        shown = partial(self.service.request, "GET", path)
        wait_until("the prompt", lambda: shown().data()["terminalBuffer"].rstrip().endswith("\n>"))

    def test_read_prints_screen_buffer_or_lines(self) -> None:
        screen = self.tsctl("read", "one").splitlines()
        self.assertIn("200", screen)
        self.assertNotIn("5", screen)
        self.assertIn("5", self.tsctl("read", "one", "--full").splitlines())
        self.assertEqual(["199", "200", "end-2", ">"],
                         self.tsctl("read", "one", "--lines", "4").splitlines())  # fmt: skip
        self.assertEqual("visible", self.json("read", "one")["source"])
        self.fails("read", "one", "--full", "--lines", "4")

    def test_tail_prints_the_last_lines(self) -> None:
        self.assertEqual(["end-2", ">"], self.tsctl("tail", "one").splitlines()[-2:])
        self.assertEqual(10, len(self.tsctl("tail", "one").splitlines()))

    def test_last_fails_for_a_shell(self) -> None:
        """A shell writes no transcript."""
        self.assertIn("4", self.fails("last", "one"))

    def test_tail_continues_after_a_connection_cut(self) -> None:
        """Until the process ends, and without a number left out."""
        relay = CuttableRelay(self.service.url)
        self.addCleanup(relay.close)
        following = self.background("tail", "-f", "one", TSCTL_URL=relay.url)
        self.read_until(following.stdout, "end-2")
        self.tsctl("send", "one", 'for n in $(seq 5000); do echo "<$n>"; done')
        seen = self.read_until(following.stdout, "<1000>")
        self.assertGreater(relay.cut(), 0)
        seen += self.read_until(following.stdout, "<5000>")
        want = "".join(f"<{number}>\n" for number in range(1, 5001))
        self.assertIn(want, seen)
        self.tsctl("send", "one", "exit")
        _, errors = following.communicate(timeout=PATIENCE)
        self.assertEqual((0, ""), (following.returncode, errors))

    def test_tail_resumes_after_a_service_restart(self) -> None:
        following = self.background("tail", "-f", "one")
        self.read_until(following.stdout, "end-2")
        self.tsctl("send", "one", "echo before-$((1+1))")
        self.read_until(following.stdout, "before-2")
        self.service.stop()
        self.service.start(listen=(self.port.endpoint,))
        self.read_until(following.stderr, "some output is missing here")
        self.tsctl("send", "one", "echo after-$((1+1))")
        self.read_until(following.stdout, "after-2")


class TsctlWatchTests(TsctlCase):
    def test_ls_watch_prints_changes_until_the_service_stops(self) -> None:
        watching = self.background("ls", "--watch", "--json")
        assert watching.stdout is not None
        assert watching.stderr is not None
        self.assertEqual([], json.loads(watching.stdout.readline()))
        session = self.shell()
        names: list[Any] = []
        while names != [(session, "one")]:
            names = [(one["id"], one["name"]) for one in json.loads(watching.stdout.readline())]
        self.tsctl("kill", session)
        while json.loads(watching.stdout.readline()):
            pass
        self.service.stop()
        self.assertEqual(2, watching.wait(PATIENCE))
        self.assertRegex(watching.stderr.read(), r"\Atsctl: [^\n]*\n\Z")


class TsctlOtherCommandTests(TsctlCase):
    def test_approvals_command_reports_an_empty_inbox(self) -> None:
        session = self.shell()
        self.assertEqual("Nothing waits for a person.\n", self.tsctl("approvals"))
        self.assertEqual([], self.json("approvals"))
        for command in ("approve", "deny"):
            self.assertIn("nothing waits for a person in", self.fails(command, session))

    def test_cron_lists_and_runs_jobs(self) -> None:
        body = {
            "name": "nightly", "agentType": "shell", "workingDir": str(self.service.home),
            "promptMode": "inline_text", "promptText": "echo x", "inputMode": "paste",
            "scheduleType": "interval", "intervalMinutes": 60, "enabled": True,
            "concurrencyPolicy": "warn_only",
        }  # fmt: skip
        answer = self.service.request("POST", "/api/cron/jobs", body)
        job = answer.data()["job"]
        self.assertRegex(self.tsctl("cron", "ls"), rf"(?m)^{job['id'][:8]} +yes +nightly +shell ")
        self.assertEqual([job["id"]], [one["id"] for one in self.json("cron", "ls")])
        self.assertIn(self.tsctl("cron", "run", "nightly").strip(), session_ids(self.service))
        self.assertIn("no job matches", self.fails("cron", "run", "daily"))

    def test_cases_are_created_listed_and_removed(self) -> None:
        folder = Path(self.tsctl("cases", "new", "one").strip())
        self.assertTrue((folder / "CLAUDE.md").exists())
        there = self.service.folder / "there"
        make_repository(there)
        self.assertEqual(f"{there}\n", self.tsctl("cases", "link", "two", str(there)))
        cloned = self.tsctl("cases", "clone", "three", str(there)).strip()
        self.assertEqual("content\n", Path(cloned, "file").read_text())
        self.tsctl("new", "shell", "--case", "three", "--worktree", "fix/it")
        names = [case["name"] for case in self.json("cases", "ls")]
        self.assertEqual(["one", "three", "three-fix-it", "two"], names)
        self.assertRegex(self.tsctl("cases", "ls"), r"(?m)^three-fix-it +worktree +1 ")
        refused = self.run_it("cases", "rm", "three-fix-it")
        self.assertEqual(2, refused.returncode)
        self.assertIn("a session works in the case", refused.stderr)
        Path(cloned, "file").write_text("changed")
        for session in self.json("ls"):
            self.tsctl("kill", session["id"])
        self.tsctl("cases", "rm", "three-fix-it", "one", "two")
        self.assertIn("--force", self.tsctl("cases", "rm", "--help"))
        self.assertEqual(2, self.run_it("cases", "rm", "three").returncode)
        self.tsctl("cases", "rm", "--force", "three")
        self.assertEqual([], self.json("cases", "ls"))

    def test_checks_of_a_repository_are_read_approved_and_withdrawn(self) -> None:
        case = Path(self.tsctl("cases", "new", "site").strip())
        session = self.tsctl("new", "shell", "--case", "site").strip()
        self.assertEqual("state  none\n", self.tsctl("checks", "file", session))
        file = case / ".tservice.yaml"
        file.write_text("checks: [{name: tests, command: make test}]\n")
        shown = self.tsctl("checks", "file", session).split("\n")
        self.assertEqual("state  unapproved", shown[0])
        approved = shown[1].split()[1]
        self.assertEqual("checks: [{name: tests, command: make test}]", shown[2])
        self.assertEqual("1 check\n", self.tsctl("checks", "approve", session, approved))
        file.write_text("checks: [{name: tests, command: make \x1b[31mall}]\n")
        changed = self.tsctl("checks", "file", session)
        self.assertIn("state    invalid", changed)
        self.assertNotIn("\x1b", changed)
        file.write_text("checks: [{name: tests, command: make all}]\n")
        changed = self.tsctl("checks", "file", session)
        self.assertIn("+checks: [{name: tests, command: make all}]\n", changed)
        self.assertIn("hash", self.fails("checks", "approve", session, "x"))
        self.assertIn("changed", self.fails("checks", "approve", session, approved))
        self.tsctl("checks", "withdraw", session)
        self.assertEqual(
            "unapproved", json.loads(self.tsctl("checks", "file", session, "--json"))["state"]
        )

    def test_history_lists_conversations(self) -> None:
        self.assertRegex(self.tsctl("history"), r"\AID +MODE +CHANGED +TITLE +FOLDER\n\Z")
        self.assertEqual([], self.json("history", "anything"))

    def test_call_sends_any_api_request(self) -> None:
        found = self.tsctl("call", "post", "sessions", '{"mode": "shell"}')
        made = json.loads(found)["session"]["id"]
        self.assertEqual(made, json.loads(self.tsctl("call", "GET", f"/sessions/{made}"))["id"])
        self.tsctl("call", "PUT", f"/sessions/{made}/name", "-", stdin='{"name": "new"}')
        self.assertEqual("new", self.json("ls")[0]["name"])
        self.assertIn("body is not valid JSON", self.fails("call", "POST", "/sessions", "{"))
        self.assertIn("404", self.fails("call", "GET", "/nothing"))
        self.assertIn("printable ASCII", self.fails("call", "GET", "/a b\r\nX: y"))
        self.fails("call", "GE T", "/sessions")

    def test_completion_scripts_cover_every_command(self) -> None:
        """The scripts name every command, and bash and fish take and follow theirs."""
        self.shell()
        folder = self.service.folder
        (folder / "home/notes.txt").touch()
        for shell in ("bash", "zsh", "fish"):
            script = self.tsctl("completion", shell)
            for command in COMMANDS:
                self.assertIn(command.words[-1], script)
        for line, want in (
            ("tsctl a", {"approvals", "approve", "attach", "away"}),
            ("tsctl cron ", {"ls", "run"}),
            ("tsctl --at home new --w", {"--wait", "--worktree"}),
            ("tsctl cases ", {"ls", "new", "link", "clone", "prepare", "rm"}),
            ("tsctl completion ", {"bash", "zsh", "fish"}),
            ("tsctl kill ", set(session_ids(self.service))),
            ("tsctl send --timeout 5 ", set(session_ids(self.service))),
            ("tsctl new --wait = st", {"stop"}),
            (f"tsctl files put one {folder}/home/n", {f"{folder}/home/notes.txt"}),
            (f"tsctl files get one a -o {folder}/home/n", {f"{folder}/home/notes.txt"}),
            (f"tsctl cases new a --path {folder}/ho", {f"{folder}/home"}),
        ):
            self.assertEqual(want, self.completed(line), line)
        if shutil.which("fish") is None:
            return
        for line, want in (
            ("tsctl send one --wait i", {"idle"}),
            ("tsctl kill ", set(session_ids(self.service))),
            (f"tsctl files put one {folder}/home/n", {f"{folder}/home/notes.txt"}),
            (f"tsctl new --dir {folder}/ho", {f"{folder}/home/"}),
        ):
            self.assertEqual(want, self.completed_by_fish(line), line)

    def completed_by_fish(self, line: str) -> set[str]:
        program = (
            f"function tsctl; {' '.join(map(quoted, TSCTL))} $argv; end\n"
            f"tsctl completion fish | source; complete -C {quoted(line)}"
        )
        ended = subprocess.run(
            ["fish", "-c", program], env=self.environ(), capture_output=True, text=True,
            timeout=PATIENCE, check=False,
        )  # fmt: skip
        self.assertEqual("", ended.stderr)
        return {found.partition("\t")[0] for found in ended.stdout.splitlines()}

    def completed(self, line: str) -> set[str]:
        words = line.split(" ")
        program = (
            f'tsctl() {{ {" ".join(map(quoted, TSCTL))} "$@"; }}\n'
            'source <(tsctl completion bash)\n'
            f"COMP_WORDS=({' '.join(map(quoted, words))}); COMP_CWORD={len(words) - 1}\n"
            '_tsctl; printf "%s\\n" "${COMPREPLY[@]}"'
        )  # fmt: skip
        ended = subprocess.run(
            ["bash", "-c", program], env=self.environ(), capture_output=True, text=True,
            timeout=PATIENCE, check=False,
        )  # fmt: skip
        self.assertEqual("", ended.stderr)
        return set(ended.stdout.split())

    def test_wrong_usage_prints_a_hint_and_every_command_has_help(self) -> None:
        for words in ((), ("frob",), ("ls", "--frob"), ("cron",), ("read",), ("call", "GET")):
            self.assertIn("(see tsctl", self.fails(*words))
        self.assertRegex(self.tsctl("--version"), r"\Atsctl [0-9.]+\n\Z")
        for command in COMMANDS:
            self.assertIn("usage: tsctl", self.tsctl(*command.words, "--help"))


class TsctlConnectionTests(TsctlCase):
    """Where the service is, and who asks."""

    def test_unreachable_or_invalid_url_is_an_error(self) -> None:
        for url in ("http://127.0.0.1:1", f"unix:{self.service.folder}/none"):
            self.assertIn(f"cannot reach {url}", self.fails("ls", TSCTL_URL=url))
        self.assertIn("must be http", self.fails("ls", TSCTL_URL="nonsense"))

    def test_unix_socket_is_reached_by_its_configured_name(self) -> None:
        path = self.service.folder / "t.sock"
        self.service.stop()
        self.service.start(listen=(LOOPBACK, f"unix:{path}"))
        self.assertEqual([], json.loads(self.tsctl("ls", "--json", TSCTL_URL=f"unix:{path}")))
        config = self.service.home / ".config/tservice/tsctl.yaml"
        config.parent.mkdir(parents=True)
        config.write_text(f"here: {{url: 'unix:{path}'}}\n")
        config.chmod(0o600)
        nowhere = "http://127.0.0.1:1"
        self.tsctl("--at", "here", "ls", TSCTL_URL=nowhere)
        config.chmod(0o604)
        self.assertIn("must have mode 0600", self.fails("--at", "here", "ls"))

    def test_tsctl_uses_a_login_and_a_token(self) -> None:
        daemon = self.daemon(SERVICE_PASSWORD="long enough").start()
        environ = {"TSCTL_URL": daemon.url}
        self.assertIn("401: Unauthorized", self.fails("ls", **environ))
        self.assertIn("401", self.fails("ls", **environ, TSCTL_TOKEN="tsk_wrong"))
        self.tsctl("ls", **environ, TSCTL_PASSWORD="long enough")
        body = '{"name": "ci", "scopes": ["sessions:read"]}'
        made = self.tsctl("call", "POST", "/tokens", body, **environ, TSCTL_PASSWORD="long enough")
        path = daemon.home / "token"
        path.write_text(json.loads(made)["token"])
        path.chmod(0o600)
        self.tsctl("ls", **environ, TSCTL_TOKEN_FILE=str(path))
        self.assertIn("lacks the scope", self.fails("new", **environ, TSCTL_TOKEN_FILE=str(path)))

    def test_tls_certificate_is_pinned_by_fingerprint(self) -> None:
        daemon = self.daemon()
        self.tsctl("tls", "127.0.0.1", "--out", str(daemon.folder / "tls"))
        key, certificate = daemon.folder / "tls/key.pem", daemon.folder / "tls/certificate.pem"
        daemon.start(listen=(f"ssl:0:privateKey={key}:certKey={certificate}:interface=127.0.0.1",))
        url = daemon.url
        self.assertIn("is not trusted: set SSL_CERT_FILE", self.fails("ls", TSCTL_URL=url))
        self.tsctl("ls", TSCTL_URL=url, SSL_CERT_FILE=str(certificate))
        other = url.replace("127.0.0.1", "localhost")
        line = self.fails("ls", TSCTL_URL=other, SSL_CERT_FILE=str(certificate))
        self.assertIn("not for the name in TSCTL_URL", line)
        found = subprocess.run(
            ["openssl", "x509", "-in", str(certificate), "-noout", "-fingerprint", "-sha256"],
            capture_output=True, text=True, timeout=PATIENCE, check=True,
        )  # fmt: skip
        pin = found.stdout.strip().partition("=")[2]
        self.tsctl("ls", TSCTL_URL=other, TSCTL_FINGERPRINT=pin)
        line = self.fails("ls", TSCTL_URL=url, TSCTL_FINGERPRINT="00" * 32, TSCTL_TOKEN="tsk_a")
        self.assertIn("is not the pinned one", line)


def quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"
