"""Cases from repositories elsewhere, by the real daemon and the real git."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import signal
import stat
import subprocess
import threading
from http.client import RemoteDisconnected
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

from tests.integration.events import EventLog
from tests.integration.git_harness import DaemonGitCase
from tests.integration.git_servers import (
    GitDaemon,
    HttpBackend,
    PasswordProxy,
    RepositoryRedirector,
    commit_files,
    make_repository,
    run_git,
)
from tests.integration.harness import DaemonAnswer
from tests.waiting import wait_until
from tservice.git.status.inspector import CONFIG_SECONDS


class CloneServerTests(DaemonGitCase):
    """Behind a password, and from a daemon."""

    web: ClassVar[HttpBackend]
    git_daemon: ClassVar[GitDaemon]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.web = HttpBackend(cls.remotes)
        cls.addClassCleanup(cls.web.close)
        cls.git_daemon = GitDaemon(cls.remotes)
        cls.addClassCleanup(cls.git_daemon.close)

    def test_credentials_of_a_clone_address_are_used_but_not_kept(self) -> None:
        web = self.web
        where = f"http://{web.USER}:{quote(web.PASSWORD, safe='')}@{web.host}/plain/.git"
        answer = self.clone("basic", where)
        found = answer.data()
        self.assertEqual(
            (f"http://{web.host}/plain/.git", "main"), (found["repository"], found["ref"])
        )
        self.assertEqual("content\n", (self.cases / "basic" / "file").read_text())
        for path in (self.cases / "basic" / ".git").rglob("*"):
            if path.is_file():
                self.assertNotIn(b"s3cret", path.read_bytes(), path)
        self.assertNotIn("s3cret", self.daemon.log + answer.body.decode())
        origin = run_git(self.cases / "basic", "remote", "get-url", "origin")
        self.assertEqual(f"http://{web.host}/plain/.git\n", origin)

    def test_clone_never_prompts_for_credentials(self) -> None:
        for where, word in (
            (f"http://{self.web.host}/plain/.git", "not allowed"),
            (f"http://ann:wr0ngword@{self.web.host}/plain/.git", "not allowed"),
            (f"http://tokenword@{self.web.host}/plain/.git", "not allowed"),
            (f"git://127.0.0.1:{self.git_daemon.port}/none", "not found"),
            ("git://127.0.0.1:1/x", "cannot connect"),
            ("http://127.0.0.1:1/x", "cannot connect"),
            (str(self.remotes / "none"), "not found"),
        ):
            text = self.refused(self.clone("nobody", where), 422, word)
            self.assertNotIn("wr0ngword", text)
            self.assertNotIn("tokenword", text)
        self.refused(self.clone("nobody", str(self.remotes / "plain"), ref="none"), 422, "ref")
        self.assertFalse((self.cases / "nobody").exists())
        self.assertEqual([], self.left())

    def test_clone_uses_the_credential_helper_of_the_user(self) -> None:
        web = self.web
        store = self.daemon.home / ".git-credentials"
        store.write_text(f"http://{web.USER}:{quote(web.PASSWORD, safe='')}@{web.host}\n")
        config = self.daemon.home / ".gitconfig"
        config.write_text("[credential]\n\thelper = store\n")
        self.addCleanup(config.unlink)
        self.clone("helped", f"http://{web.host}/plain/.git").data()
        # Those of an address are not handed to it, whichever addresses it is configured for.
        store.write_text("")
        config.write_text(
            f'[credential]\n\thelper = store\n[credential "http://{web.host}"]\n\thelper = store\n'
        )
        where = f"http://{web.USER}:{quote(web.PASSWORD, safe='')}@{web.host}/plain/.git"
        self.clone("unkept", where).data()
        self.assertEqual("", store.read_text())

    def redirector(self, *, protected: bool = False) -> RepositoryRedirector:
        found = RepositoryRedirector(self.web.host, protected=protected)
        self.addCleanup(found.close)
        return found

    def redirected_address(self, redirector: RepositoryRedirector) -> str:
        """Return an address with the password, which even the server behind it would take."""
        word = quote(self.web.PASSWORD, safe="")
        return f"http://{self.web.USER}:{word}@{redirector.host}/plain/.git"

    def test_password_of_a_clone_address_is_not_sent_to_a_redirect(self) -> None:
        for protected in (False, True):
            with self.subTest(protected=protected):
                del self.web.asked[:]
                redirector = self.redirector(protected=protected)
                answer = self.clone("sent-on", self.redirected_address(redirector))
                self.assertEqual({None}, set(self.web.asked))
                self.refused(answer, 422, "not allowed")
                self.assertNotIn("s3cret", answer.body.decode())
                # A server that asks for the password itself still gets it.
                self.assertEqual(protected, any(redirector.asked))
        self.assertEqual([], self.left())

    def test_password_of_a_clone_address_is_not_sent_to_a_proxy(self) -> None:
        """Git asks its helpers for the password of a proxy too."""
        proxy = PasswordProxy()
        self.addCleanup(proxy.close)
        config = self.daemon.home / ".gitconfig"
        config.write_text(
            f"[http]\n\tproxy = http://{self.web.USER}@{proxy.host}\n\tproxyAuthMethod = basic\n"
        )
        self.addCleanup(config.unlink)
        word = quote(self.web.PASSWORD, safe="")
        answer = self.clone("proxied", f"http://{self.web.USER}:{word}@example.org/x.git")
        self.assertEqual(422, answer.status, answer.body)
        leaked = base64.b64encode(f"{self.web.USER}:{self.web.PASSWORD}".encode()).decode()
        self.assertNotIn(f"Basic {leaked}", proxy.asked)

    def test_redirect_gets_the_stored_password_for_its_host(self) -> None:
        web = self.web
        store = self.daemon.home / ".git-credentials"
        store.write_text(f"http://{web.USER}:{quote(web.PASSWORD, safe='')}@{web.host}\n")
        self.addCleanup(store.unlink)
        config = self.daemon.home / ".gitconfig"
        config.write_text("[credential]\n\thelper = store\n")
        self.addCleanup(config.unlink)
        self.clone("kept-there", f"http://bob:other@{self.redirector().host}/plain/.git").data()
        self.assertNotIn("bob", store.read_text())

    def test_clone_from_a_git_daemon_by_tag_and_shallow(self) -> None:
        source = self.remotes / "plain"
        run_git(source, "tag", "-f", "v1")
        commit_files(source, later="later\n")
        where = f"git://127.0.0.1:{self.git_daemon.port}/plain"
        found = self.clone("tagged", where, ref="v1", description="old").data()
        self.assertEqual(("v1", "old"), (found["ref"], found["case"]["description"]))
        self.assertFalse((self.cases / "tagged" / "later").exists())
        self.clone("shallow", where, shallow=True).data()
        count = run_git(self.cases / "shallow", "rev-list", "--count", "HEAD")
        self.assertEqual("1\n", count)

    def test_empty_repository_is_cloned_with_its_branch(self) -> None:
        (self.remotes / "empty").mkdir()
        run_git(self.remotes / "empty", "init", "-q", "--bare", "-b", "trunk")
        self.assertEqual("trunk", self.clone("empty", str(self.remotes / "empty")).data()["ref"])


class HostileCloneTests(DaemonGitCase):
    """A repository that chooses what the user's configuration would run."""

    def setUp(self) -> None:
        self.marks = self.daemon.folder / "marks"
        self.marks.mkdir(exist_ok=True)
        home = self.daemon.home
        hooks = home / "template" / "hooks"
        hooks.mkdir(parents=True, exist_ok=True)
        (hooks / "post-checkout").write_text(f"#!/bin/sh\ntouch {self.marks}/hook\n")
        (hooks / "post-checkout").chmod(0o755)
        (home / ".gitconfig").write_text(
            f"[init]\n\ttemplateDir = {home}/template\n"
            f'[filter "evil"]\n\tsmudge = touch {self.marks}/filter; cat\n\trequired = true\n'
            f"[core]\n\tfsmonitor = touch {self.marks}/fsmonitor\n"
            f"[core]\n\taskPass = touch {self.marks}/askpass\n"
            "[submodule]\n\trecurse = true\n[protocol]\n\tallow = always\n"
        )
        self.addCleanup((home / ".gitconfig").unlink)
        for mark in self.marks.iterdir():
            mark.unlink()

    def hostile(self) -> Path:
        path = self.remotes / "hostile"
        if not path.exists():
            make_repository(path, **{".gitattributes": "* filter=evil\n", "file": "x\n"})
            head = run_git(path, "rev-parse", "HEAD").strip()
            command = f"ext::sh -c touch% {self.marks}/submodule"
            (path / ".gitmodules").write_text(
                f'[submodule "s"]\n\tpath = s\n\turl = "{command}"\n\tupdate = checkout\n'
            )
            (path / "out").symlink_to("/etc/passwd")
            run_git(path, "update-index", "--add", "--cacheinfo", f"160000,{head},s")
            commit_files(path)
        return path

    def test_hostile_repository_runs_no_code_when_cloned(self) -> None:
        source = self.hostile()
        found = self.clone("hostile", str(source)).data()
        self.assertEqual([], os.listdir(self.marks))
        self.assertEqual(2, len(found["warnings"]), found["warnings"])
        case = self.cases / "hostile"
        self.assertTrue((case / "out").is_symlink())
        self.assertEqual([], [p.name for p in (case / ".git").glob("hooks/*")])
        # Neither when it is looked through.
        self.ask("DELETE", "/hostile").data()
        self.assertEqual([], os.listdir(self.marks))

    def test_plain_git_runs_the_traps(self) -> None:
        """The control: the traps are real."""
        target = self.daemon.folder / "control"
        subprocess.run(
            ["git", "clone", "-q", str(self.hostile()), str(target)],
            env={"PATH": os.environ["PATH"], "HOME": str(self.daemon.home)},
            capture_output=True,
            check=False,
        )
        self.assertLessEqual({"hook", "filter"}, set(os.listdir(self.marks)))

    def test_worktrees_run_nothing_of_the_repository(self) -> None:
        source = self.remotes / "own"
        if not source.exists():
            make_repository(source, **{".gitattributes": "* filter=evil\n", "file": "x\n"})
        hook = source / ".git" / "hooks" / "post-checkout"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {self.marks}/hook\n")
        hook.chmod(0o755)
        run_git(source, "config", "filter.evil.smudge", f"touch {self.marks}/filter; cat")
        run_git(source, "config", "core.fsmonitor", f"touch {self.marks}/fsmonitor")
        self.ask("POST", "/link", {"name": "own", "path": str(source)}).data()
        case = self.ask("POST", "/own/worktree", {"branch": "b"}).data()["case"]
        self.assertEqual("x\n", Path(case["path"], "file").read_text())
        self.ask("DELETE", "/own-b").data()
        self.assertEqual([], os.listdir(self.marks))


class SlowCloneTests(DaemonGitCase):
    """Over an ssh of the test's own, which waits until it is let go on."""

    def setUp(self) -> None:
        self.gate = self.daemon.folder / f"gate-{self.id().rpartition('.')[2]}"
        os.mkfifo(self.gate)
        self.note = self.daemon.folder / "ssh-note"
        program = self.daemon.folder / "slow-ssh"
        program.write_text(
            "#!/bin/sh\n"
            f'printf "%s\\n" "$SSH_AUTH_SOCK" "$@" "$$" >{self.note}.new\n'
            f"mv {self.note}.new {self.note}\n"
            f"read line <{self.gate}\n"
            'for last; do :; done; exec sh -c "$last"\n'
        )
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        config = self.daemon.home / ".gitconfig"
        config.write_text(f"[core]\n\tsshCommand = {program}\n[ssh]\n\tvariant = simple\n")
        self.addCleanup(config.unlink)
        self.addCleanup(lambda: self.note.unlink(missing_ok=True))
        self.answers: list[DaemonAnswer] = []

    def begin(self, name: str) -> threading.Thread:
        """Clone in a thread; returns once ssh runs."""
        where = f"git@example.org:{self.remotes}/plain"

        def ask() -> None:
            with contextlib.suppress(RemoteDisconnected):
                self.answers.append(self.clone(name, where))

        thread = threading.Thread(target=ask)
        thread.start()
        wait_until("ssh runs", self.note.exists)
        return thread

    def alive(self) -> bool:
        try:
            os.kill(int(self.note.read_text().split()[-1]), 0)
        except ProcessLookupError:
            return False
        return True

    def test_slow_clone_is_listed_announced_and_completed(self) -> None:
        with EventLog(self.daemon.url) as log:
            thread = self.begin("slow")
            [case] = [case for case in self.ask("GET").data() if case["name"] == "slow"]
            self.assertEqual({"phase": "connecting", "percent": None}, case["cloning"])
            self.assertEqual(429, self.clone("second", str(self.remotes / "plain")).status)
            self.gate.write_text("go\n")
            thread.join()
            made = self.answers[0].data()["case"]
            wait_until("it was told", lambda: log.named("case:created"))
            self.assertEqual([made], [heard.data for heard in log.named("case:created")])
            phases = {heard.data["phase"] for heard in log.named("case:cloneProgress")}
            self.assertLessEqual(phases, {"counting", "compressing", "receiving", "resolving"})
        self.assertEqual("/nowhere/agent", self.note.read_text().split("\n")[0])

    def test_cancelled_clone_leaves_nothing(self) -> None:
        thread = self.begin("cancelled")
        self.ask("POST", "/clone/cancelled/cancel").data()
        thread.join()
        self.refused(self.answers[0], 422, "cancelled")
        self.assertEqual([], self.left())
        wait_until("ssh is gone", lambda: not self.alive())
        self.assertEqual(404, self.ask("GET", "/cancelled").status)

    def test_stopped_service_ends_the_clone(self) -> None:
        self.begin("stopped")
        self.daemon.stop()
        self.assertEqual([], self.left())
        wait_until("ssh is gone", lambda: not self.alive())
        self.daemon.start()
        self.assertEqual(404, self.ask("GET", "/stopped").status)

    def test_killed_service_removes_the_clone_on_its_next_start(self) -> None:
        self.begin("killed")
        self.assertEqual([".cloning-killed"], self.left())
        self.daemon.restart(number=signal.SIGKILL)
        wait_until("it is swept", lambda: not self.left())
        wait_until("ssh is gone", lambda: not self.alive())
        self.assertEqual([], [c for c in self.ask("GET").data() if c["name"] == "killed"])


class ClonedWorkTests(DaemonGitCase):
    """What would be lost, and worktrees."""

    def clone_of(self, name: str) -> Path:
        source = self.remotes / name
        if not source.exists():
            make_repository(source)
        self.clone(name, str(source)).data()
        return self.cases / name

    def test_removal_of_a_clone_with_unsaved_work_is_refused(self) -> None:
        case = self.clone_of("unsaved")
        (case / ".claude").mkdir()
        (case / ".claude" / "settings.local.json").write_text("{}")
        (case / "nested" / ".hidden").mkdir(parents=True)
        steps = (
            ("1 uncommitted change", lambda: (case / "new").write_text("x"),
             lambda: (case / "new").unlink()),
            ("1 uncommitted change", lambda: (case / "file").write_text("changed"),
             lambda: run_git(case, "checkout", "-q", "file")),
            ("1 unpushed commit", lambda: commit_files(case, more="x"),
             lambda: run_git(case, "reset", "-q", "--hard", "HEAD~1")),
            ("1 unpushed commit", lambda: self.on_branch(case),
             lambda: run_git(case, "branch", "-q", "-D", "side")),
            ("1 stash", lambda: self.stash(case), lambda: run_git(case, "stash", "drop", "-q")),
            ("nested/.hidden/in has 1 uncommitted change", lambda: self.nested(case),
             lambda: self.denest(case)),
        )  # fmt: skip
        for word, spoil, mend in steps:
            spoil()
            (case / ".claude").mkdir(exist_ok=True)
            (case / ".claude" / "settings.local.json").write_text("{}")
            self.refused(self.ask("DELETE", "/unsaved"), 409, word)
            self.assertTrue(case.exists())
            mend()
        self.ask("DELETE", "/unsaved").data()
        self.assertFalse(case.exists())

    def test_worktree_elsewhere_keeps_its_repository(self) -> None:
        case = self.clone_of("depended")
        (case / ".git" / "info" / "exclude").write_text("inside\n")
        run_git(case, "worktree", "add", "-q", str(case / "inside"))
        run_git(case, "worktree", "add", "-q", str(self.daemon.folder / "away"))
        self.refused(self.ask("DELETE", "/depended"), 409, "it has 1 worktree elsewhere;")
        run_git(case, "worktree", "remove", str(self.daemon.folder / "away"))
        self.ask("DELETE", "/depended").data()

    def on_branch(self, case: Path) -> None:
        run_git(case, "checkout", "-q", "-b", "side")
        commit_files(case, more="x")
        run_git(case, "checkout", "-q", "main")

    def stash(self, case: Path) -> None:
        (case / "file").write_text("changed")
        run_git(case, "stash", "-q")

    def nested(self, case: Path) -> None:
        (case / ".git" / "info" / "exclude").write_text("nested\n")
        inner = make_repository(case / "nested" / ".hidden" / "in")
        (inner / "file").write_text("changed")

    def denest(self, case: Path) -> None:
        run_git(case / "nested" / ".hidden" / "in", "checkout", "-q", "file")

    def test_clean_repository_without_a_remote_is_removed(self) -> None:
        self.ask("POST", "", {"name": "alone"}).data()
        case = self.cases / "alone"
        run_git(case, "init", "-q", "-b", "main")
        self.refused(self.ask("DELETE", "/alone"), 409, "uncommitted")
        commit_files(case)
        self.ask("DELETE", "/alone").data()
        [trashed] = [p for p in (self.cases / ".trash").iterdir() if p.name.startswith("alone-")]
        self.assertTrue((trashed / "CLAUDE.md").exists())

    def test_worktrees_are_created_from_local_and_remote_branches(self) -> None:
        case = self.clone_of("tree")
        run_git(case, "branch", "there")
        run_git(self.remotes / "tree", "branch", "far")
        run_git(case, "fetch", "-q")
        for branch, start in (("new", None), ("there", None), ("far", None), ("old/x", "main")):
            body = {"branch": branch, **({} if start is None else {"from": start})}
            made = self.ask("POST", "/tree/worktree", body).data()["case"]
            head = run_git(Path(made["path"]), "rev-parse", "--abbrev-ref", "HEAD").strip()
            self.assertEqual(branch, head)
        upstream = run_git(self.cases / "tree-far", "rev-parse", "--abbrev-ref", "far@{upstream}")
        self.assertEqual("origin/far\n", upstream)
        again = {"branch": "there", "from": "main"}
        run_git(case, "branch", "two")
        for body, status, word in (
            ({"branch": "main"}, 409, "main"),
            ({**again, "branch": "two"}, 409, "leave from out"),
            ({"branch": "b", "from": "none"}, 422, "none"),
        ):
            self.refused(self.ask("POST", "/tree/worktree", body), status, word)
        self.assertFalse((self.cases / "tree-b").exists())
        self.assertNotIn("b\n", run_git(case, "branch", "--format=%(refname:short)").split())
        (self.cases / "tree-new" / "file").write_text("changed")
        self.refused(self.ask("DELETE", "/tree-new"), 409, "1 uncommitted change")
        self.ask("DELETE", "/tree-new?force=1").data()
        self.ask("DELETE", "/tree-far").data()
        self.assertIn("new", run_git(case, "branch", "--format=%(refname:short)").split())
        # One that somebody removed by hand is only forgotten.
        subprocess.run(["rm", "-rf", str(self.cases / "tree-there")], check=True)
        self.ask("DELETE", "/tree-there").data()
        self.assertEqual(2, run_git(case, "worktree", "list", "--porcelain").count("worktree "))

    def test_session_whose_worktree_fails_leaves_nothing(self) -> None:
        case = self.clone_of("undone")
        body = {"mode": "shell", "caseName": "undone", "worktree": {"branch": "b"}}
        for more in ({"mode": "nope"}, {"parentSessionId": "nobody"}):
            answer = self.daemon.request("POST", "/api/quick-start", {**body, **more})
            self.assertIn(answer.status, (400, 404))
        self.assertEqual(["main"], run_git(case, "branch", "--format=%(refname:short)").split())
        self.assertEqual(1, run_git(case, "worktree", "list", "--porcelain").count("worktree "))
        made = self.daemon.request("POST", "/api/sessions", {**body, "start": True}).data()
        self.assertEqual("undone-b", made["session"]["caseName"])
        self.refused(self.ask("DELETE", "/undone-b"), 409, "a session works")
        self.daemon.request("DELETE", f"/api/sessions/{made['session']['id']}").data()
        self.ask("DELETE", "/undone-b").data()

    def test_clone_with_a_pipe_as_git_configuration_times_out(self) -> None:
        """Of the repository, and of the user; nothing is left of what was asked for."""
        case = self.clone_of("piped")
        os.mkfifo(case / ".git" / "pipe")
        run_git(case, "config", "include.path", "pipe")
        word = f"git timed out after {CONFIG_SECONDS:g} s"
        self.refused(self.ask("POST", "/piped/worktree", {"branch": "b"}), 422, word)
        self.refused(self.ask("DELETE", "/piped"), 409, word)
        config = self.daemon.home / ".gitconfig"
        config.write_text(f"[include]\n\tpath = {case}/.git/pipe\n")
        self.addCleanup(config.unlink)
        self.refused(self.clone("piped-too", str(self.remotes / "plain")), 422, word)
        self.assertEqual([], [name for name in os.listdir(self.cases) if name.startswith("piped-")])
        self.assertEqual([], self.left())

    def test_new_case_contains_the_hook_settings(self) -> None:
        """A scaffolded folder holds hooks that agents understand."""
        self.ask("POST", "", {"name": "hooked"}).data()
        file = self.cases / "hooked" / ".claude" / "settings.local.json"
        self.assertIn("Stop", json.loads(file.read_text())["hooks"])
