"""What one OS user prepares so that root does it the favour of reaching what is another's."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Coroutine
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote
from uuid import uuid4

from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from tests.integration.git_servers import HttpBackend, make_repository
from tests.integration.osusers.harness import (
    ADMIN,
    MultiuserDaemon,
    OsUserFactory,
    processes_of,
    run_as,
    wait_until,
)
from tests.runtime_harness import unbounded
from tservice.agents.hooks.hook_config_writer import FileRefusedError, HookConfigWriter
from tservice.agents.transcripts.files import TranscriptLocations
from tservice.agents.transcripts.model import ReadPosition
from tservice.agents.transcripts.reader import read_new_lines
from tservice.agents.transcripts.transcript_homes import TranscriptHomes
from tservice.core.locations.workspace_bounds import ANYWHERE
from tservice.core.users.file_identity import IdentityChangeError, call_as_user
from tservice.core.users.os_users import OsUser, can_run_program
from tservice.mux.interface import Liveness
from tservice.mux.local_transport import LocalTransport, OsUserTransport
from tservice.mux.transport import ServerReachability
from tservice.sessions.life.priority import confine_to_location
from tservice.sessions.record.model import NameSource, Session

_T = TypeVar("_T")

GIT = shutil.which("git")
CONVERSATION = "0a1b2c3d-0000-4000-8000-00000000000a"


class HostileOsUserTests(SynchronousTestCase):
    """C{ann} lays traps; the parts of the service work on real files as her."""

    def setUp(self) -> None:
        self.people = OsUserFactory()
        self.addCleanup(self.people.close)
        self.ann, self.ben = self.people.make(), self.people.make()

    def as_ann(self, script: str) -> None:
        found = run_as(self.ann, "sh", "-ec", script)
        self.assertEqual(0, found.returncode, found.stderr)

    def as_ben(self, script: str) -> None:
        found = run_as(self.ben, "sh", "-ec", script)
        self.assertEqual(0, found.returncode, found.stderr)

    def test_user_rights_are_held_only_within_the_call(self) -> None:
        """Within the call those of the user; before, after, and after an error those of root."""
        self.as_ben("echo x >note")
        note = self.ben.home / "note"
        self.assertEqual("x\n", note.read_text())
        self.assertRaises(PermissionError, call_as_user, self.ann, note.read_text)
        self.assertEqual("x\n", call_as_user(self.ben, note.read_text))
        self.assertEqual("x\n", note.read_text())
        made = self.ann.home / "made"
        call_as_user(self.ann, lambda: made.write_text("y"))
        self.assertEqual((self.ann.uid, self.ann.gid), (made.stat().st_uid, made.stat().st_gid))
        self.assertRaises(PermissionError, call_as_user, self.ann, lambda: os.chown(made, 0, 0))
        self.assertRaises(PermissionError, call_as_user, self.ann, Path("/etc/shadow").read_bytes)

    def test_acting_as_a_user_cannot_be_nested(self) -> None:
        """The end of the inner one would give root's rights to the rest of the outer one."""

        def outer() -> None:
            self.assertRaises(IdentityChangeError, call_as_user, self.ben, list)
            self.assertRaises(PermissionError, Path("/etc/shadow").read_bytes)

        call_as_user(self.ann, outer)
        self.assertTrue(Path("/etc/shadow").read_bytes())

    def test_groups_of_root_are_dropped_and_those_of_the_user_count(self) -> None:
        """The groups of root are not kept, those of the user count."""
        folder = self.people.folder / "team"
        folder.mkdir(mode=0o750)
        os.chown(folder, 0, self.ben.gid)
        self.assertRaises(PermissionError, call_as_user, self.ann, lambda: os.listdir(folder))
        member = evolve(self.ann, groups=(self.ann.gid, self.ben.gid))
        self.assertEqual([], call_as_user(member, lambda: os.listdir(folder)))
        before = os.getgroups()
        self.assertEqual([self.ann.gid], call_as_user(self.ann, os.getgroups))
        self.assertEqual(before, os.getgroups())

    def test_program_only_another_user_can_run_is_not_found(self) -> None:
        """What only somebody else can run is not found."""
        self.as_ben("printf '#!/bin/sh\\n' >tool; chmod 700 tool")
        tool = self.ben.home / "tool"
        self.assertTrue(call_as_user(self.ben, lambda: can_run_program(tool)))
        self.assertFalse(call_as_user(self.ann, lambda: can_run_program(tool)))

    def test_hook_configuration_through_links_touches_no_foreign_file(self) -> None:
        """Wherever ann's links lead, nothing of ben's and nothing of root's is written or read."""
        line = json.dumps({"statusLine": {"type": "command", "command": "b"}})
        self.as_ben(f"umask 022; mkdir .claude; echo '{line}' >.claude/settings.json")
        target = self.people.folder / "roots"
        target.mkdir(mode=0o700)
        for script in (
            f"ln -s {target} .claude",
            f"ln -s {self.ben.home}/.claude .claude",
            f"mkdir .claude; ln -s {target}/new .claude/settings.local.json",
            f"mkdir .claude; ln {self.ann.home}/x .claude/y; chmod 0 .claude",
        ):
            self.as_ann(f"rm -rf .claude x; echo >x; {script}")
            with self.assertRaises(FileRefusedError):
                call_as_user(self.ann, self._configure)
            self.assertEqual([], os.listdir(target))
            self.assertEqual(["settings.json"], os.listdir(self.ben.home / ".claude"))
            self.as_ann("chmod -fR u+rwx .claude || true")
        link = f"ln -s {self.ben.home}/.claude/settings.json .claude/settings.json"
        self.as_ann(f"rm -rf .claude; mkdir .claude; {link}")
        call_as_user(self.ann, self._configure)
        made = self.ann.home / ".claude" / "settings.local.json"
        self.assertEqual(self.ann.uid, made.stat().st_uid)
        self.assertNotIn("'b'", json.loads(made.read_text())["statusLine"]["command"])

    def _configure(self) -> None:
        HookConfigWriter(self.ann.home).write_config(
            self.ann.home, hooks=True, telemetry=True, environ={}, inside=ANYWHERE
        )

    def now(self, work: Coroutine[Any, Any, _T]) -> _T:
        """The answer of a transport that need not wait."""
        found: _T = self.successResultOf(Deferred.fromCoroutine(work))
        return found

    def session_of(self, user: OsUser) -> Session:
        """One that was made for that user."""
        return Session(
            id="s",
            mode="primary",
            name="n",
            name_source=NameSource.MANUAL,
            working_dir="/w",
            created_at=1,
            last_activity_at=1,
            os_user=user.id,
        )

    def test_transcript_linked_to_a_foreign_file_is_not_read(self) -> None:
        """A transcript that is somebody else's file is not read."""
        line = json.dumps({"type": "user", "sessionId": CONVERSATION, "cwd": "/"})
        self.as_ben(f"umask 0; echo '{line}' >{CONVERSATION}.jsonl")
        homes = TranscriptHomes(
            own=TranscriptLocations.from_home(Path("/root")),
            places=self.people.places(),
            inside=unbounded,
        )
        session = self.session_of(self.ann)
        folder = TranscriptLocations.from_home(self.ann.home).get_claude_folder("/w")
        for script in (
            f"mkdir -p {folder}; ln -s {self.ben.home}/{CONVERSATION}.jsonl {folder}/",
            f"mkdir -p {folder.parent}; ln -s {self.ben.home} {folder}",
        ):
            self.as_ann(f"rm -rf .claude; {script}")
            path = folder / f"{CONVERSATION}.jsonl"
            turn = partial(read_new_lines, ReadPosition(path=""), path, "primary")
            read = homes.bind_to_location_rights(session, turn)
            self.assertRaises(OSError, read)
            found = homes.bind_to_location_rights(
                session, homes.get_transcript_locations(session).list_all
            )
            self.assertEqual([], found())

    def test_process_of_another_user_is_neither_signalled_nor_reniced(self) -> None:
        """A pane's word for its process is not taken: neither signals nor priorities follow it."""
        told: list[tuple[int, int]] = []
        renice = confine_to_location(
            lambda *given: told.append(given), self.people.place(self.ann).id
        )
        for pid in (os.getpid(), 1, *self._sleepers(self.ben)):
            transport = OsUserTransport("/t", self.people.place(self.ann))
            self.assertIsNone(self.now(transport.acquire_process(pid)), pid)
            self.assertRaises(PermissionError, renice, pid, 19)
            self.assertEqual([], told)
        own = self._sleepers(self.ann)[0]
        renice(own, 19)
        self.assertRaises(PermissionError, renice, own, -1)
        self.assertEqual([(own, 19)], told)
        transport = OsUserTransport("/t", self.people.place(self.ann))
        held = self.now(transport.acquire_process(own))
        assert held is not None
        self.now(held.kill())
        wait_until(
            lambda: self.now(held.get_liveness()) is Liveness.DEAD, "the end of her own process"
        )
        held.close()

    def _sleepers(self, user: OsUser) -> list[int]:
        run_as(user, "sh", "-c", "sleep 300 >/dev/null 2>&1 </dev/null &")
        wait_until(lambda: processes_of(user.uid), "a process")
        return processes_of(user.uid)

    def test_socket_of_another_user_is_not_reached(self) -> None:
        """Ann does not reach ben's server, nor does anybody by a link in the place of hers."""
        socket = self.ben.home / "s"
        found = run_as(self.ben, "tmux", "-S", str(socket), "-f", "/dev/null", "new-session", "-d")
        self.assertEqual(0, found.returncode, found.stderr)
        self.as_ann(f"ln -s {socket} s")
        link = self.ann.home / "s"
        local, anns = LocalTransport("/t"), OsUserTransport("/t", self.people.place(self.ann))
        self.assertIs(ServerReachability.HERE, self.now(local.check_reachability(socket)))
        self.assertIs(ServerReachability.UNKNOWN, self.now(anns.check_reachability(socket)))
        for transport in (local, anns):
            self.assertIs(ServerReachability.GONE, self.now(transport.check_reachability(link)))


class TrappedServiceTests(SynchronousTestCase):
    """The same against the whole service."""

    def setUp(self) -> None:
        self.people = OsUserFactory()
        self.addCleanup(self.people.close)
        self.ann, self.ben = self.people.make(), self.people.make()
        self.bin = self.people.folder / "bin"
        self.bin.mkdir(mode=0o755)
        self.service = MultiuserDaemon(PATH=f"{self.bin}:{os.environ['PATH']}")
        self.addCleanup(self.service.close)
        self.service.account("ann", self.ann.name)

    def as_user(self, user: OsUser, script: str) -> None:
        found = run_as(user, "sh", "-ec", script)
        self.assertEqual(0, found.returncode, found.stderr)

    def test_working_dir_must_be_enterable_by_the_os_user(self) -> None:
        """It must be one that the user may enter, by whatever way."""
        self.as_user(self.ann, f"ln -s {self.ben.home} way; mkdir ok shut; chmod 0 shut")
        data = self.service.daemon.data
        for folder in (self.ben.home, self.ann.home / "way", data, "/root", self.ann.home / "shut",
                       self.ann.home / "none"):  # fmt: skip
            body = {"mode": "shell", "start": True, "workingDir": str(folder)}
            found = self.service.ask("ann", "POST", "/api/sessions", body)
            self.assertEqual(400, found.status, folder)
            self.assertTrue(found.json()["error"].startswith("workingDir: "), found.body)
        self.service.shell("ann", workingDir=str(self.ann.home / "ok"))

    def test_cases_are_created_in_the_home_of_the_os_user(self) -> None:
        """They are in the user's home, made as the user; a link in their place leads nowhere."""
        body = {"mode": "shell", "caseName": "first"}
        made = self.service.good("ann", "POST", "/api/quick-start", body)
        folder = self.ann.home / "service-cases" / "first"
        self.assertEqual(str(folder), made["casePath"])
        for each in (folder, folder / "CLAUDE.md", folder / "AGENTS.md"):
            self.assertEqual(self.ann.uid, each.stat().st_uid)
        data = self.service.daemon.data
        self.as_user(self.ann, f"rm -rf service-cases; ln -s {data} service-cases")
        before = sorted(os.listdir(data))
        found = self.service.ask("ann", "POST", "/api/quick-start", body)
        self.assertEqual(422, found.status, found.body)
        self.assertIn("Permission denied", found.json()["error"])
        self.assertEqual(before, sorted(os.listdir(data)))

    def test_clones_and_worktrees_run_git_as_their_user(self) -> None:
        """Git of the user, in the user's home; ben's is not to be had, nor what root may read."""
        ran = self.people.folder / "ran"
        ran.touch()
        ran.chmod(0o666)
        (self.bin / "git").write_text(f'#!/bin/sh\nid -ru >>{ran}\nexec {GIT} "$@"\n')
        (self.bin / "git").chmod(0o755)
        web = HttpBackend(self.people.folder / "remotes")
        self.addCleanup(web.close)
        make_repository(self.people.folder / "remotes" / "plain")
        where = f"http://{web.USER}:{quote(web.PASSWORD, safe='')}@{web.host}/plain/.git"
        self.service.good("ann", "POST", "/api/cases/clone", {"name": "one", "repository": where})
        self.service.good("ann", "POST", "/api/cases/one/worktree", {"branch": "b"})
        cases = self.ann.home / "service-cases"
        for folder in (cases / "one", cases / "one-b"):
            for path in (folder, *folder.rglob("*")):
                self.assertEqual(self.ann.uid, path.lstat().st_uid, path)
        found = self.service.ask(
            "ann", "POST", "/api/cases/clone", {"name": "two", "repository": "/etc"}
        )
        self.assertEqual(403, found.status, found.body)
        self.service.good("ann", "DELETE", "/api/cases/one-b")
        self.service.good("ann", "DELETE", "/api/cases/one")
        self.assertEqual([".trash"], os.listdir(cases))
        self.assertEqual({str(self.ann.uid)}, set(ran.read_text().split()))
        for path in (self.ben.home, Path("/root")):
            found = self.service.ask("ann", "GET", f"/api/cases/browse?path={path}")
            self.assertEqual(422, found.status, found.body)

    def test_repository_is_read_as_the_os_user(self) -> None:
        """Her repository is read as ann; one that leads into ben's shows nothing of it."""
        make = "git init -q r; cd r; git -c user.name=x -c user.email=x@x commit -q --allow-empty"
        self.as_user(self.ben, f"umask 022; {make} -m secret-of-ben; echo x >secret-file")
        self.as_user(self.ann, f"{make} -m hers; echo x >mine")
        self.as_user(self.ann, f"mkdir w; echo 'gitdir: {self.ben.home}/r/.git' >w/.git")
        self.as_user(self.ann, f"ln -s {self.ben.home}/r link")
        found = self._status("r")
        self.assertEqual("ok", found["repos"][0]["status"]["state"], found)
        self.assertEqual(["mine"], [it["path"] for it in found["repos"][0]["status"]["files"]])
        for folder in ("w", "."):
            found = self._status(folder)
            self.assertNotIn("secret", json.dumps(found), found)

    def _status(self, folder: str) -> dict[str, Any]:
        session = self.service.shell("ann", workingDir=str(self.ann.home / folder))
        found = self.service.good("ann", "GET", f"/api/sessions/{session}/git-status?fresh=1")
        return dict(found)

    def test_git_runs_as_the_reading_user(self) -> None:
        """Every git process is ann's, whatever a repository of hers may have it start."""
        ran = self.people.folder / "ran"
        ran.touch()
        ran.chmod(0o666)
        (self.bin / "git").write_text(f'#!/bin/sh\nid -ru >>{ran}\nexec {GIT} "$@"\n')
        (self.bin / "git").chmod(0o755)
        self.as_user(self.ann, "git init -q r; echo x >r/mine")
        self.assertEqual("ok", self._status("r")["state"])
        self.assertEqual({str(self.ann.uid)}, set(ran.read_text().split()))

    def test_service_starts_despite_traps_in_the_sockets_folder(self) -> None:
        """A folder, a link or a file in the place of a socket: the service starts all the same."""
        sessions = [self.service.shell("ann") for _ in range(3)]
        self.service.daemon.kill()
        place = self.service.shared / str(self.ann.uid)
        for session, trap in zip(sessions, ("mkdir", "ln -s /etc/passwd", ": >"), strict=True):
            path = place / f"{session}.sock"
            self.as_user(self.ann, f"tmux -S {path} kill-server; rm -f {path}; {trap} {path}")
        self.as_user(self.ann, f"mkdir {place}/{uuid4()}.sock")
        self.service.daemon.start()
        self.assertTrue(Path("/etc/passwd").exists())
        self.assertEqual(3, len(self.service.good(ADMIN, "GET", "/api/sessions")))
        again = self.service.shell("ann")
        self.assertTrue(self.service.pid("ann", again))
