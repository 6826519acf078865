"""Two users of this machine, made for a test and removed after it."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest import SkipTest

from tests.integration.events import EventLog
from tests.integration.harness import PATIENCE, DaemonHarness
from tests.runtime_harness import HERE, places_of
from tests.unit.http.gate_harness import basic_headers
from tservice.core.locations.location import HookAccess, Location, make_os_user_location
from tservice.core.locations.location_registry import LocationRegistry
from tservice.core.users.file_identity import call_as_user
from tservice.core.users.os_users import OsUser, OsUsers, OsUserSupport
from tservice.core.users.shared_folder import SharedFolder

ADMIN, PASSWORD = "chief", "correct horse"
NUMBERS = range(10_000, 60_000)
"""Of users: so many that one is hardly given twice in a run."""
TAKEN = 4
"""useradd's word for a number that another user has."""
LOCKED = -1
"""Another test's useradd or userdel has the list for longer than this one waited for it."""


def os_user_obstacle() -> str | None:
    """Why this machine cannot have such tests; C{None}: it can."""
    if os.geteuid() != 0:
        return "OS users can only be made by root"
    missing = [name for name in ("useradd", "userdel", "setpriv", "setsid") if not _which(name)]
    return f"missing: {', '.join(missing)}" if missing else None


def _which(name: str) -> str | None:
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


class OsUserFactory:
    """As many OS users as are asked for, with homes below a folder of the test's own."""

    def __init__(self) -> None:
        """@raise SkipTest: this machine cannot have them; says why."""
        reason = os_user_obstacle()
        if reason is not None:
            raise SkipTest(reason)
        self.folder = Path(tempfile.mkdtemp(prefix="tsu"))
        self.folder.chmod(0o711)
        self.made: list[OsUser] = []
        self.users = OsUsers(OsUserSupport(obstacle=None, act=call_as_user))

    def make(self, shell: str = "/bin/sh") -> OsUser:
        """A new user with an empty home, mode 0700."""
        name = f"tsu{secrets.token_hex(4)}"
        home = self.folder / name
        words = ["--home-dir", str(home), "--create-home", "--skel", "/nonexistent"]
        words = [str(_which("useradd")), *words, "--shell", shell, "--user-group", name]
        # Not the next free one: whoever removes a user before the end of a test would have it
        # given to another test's, whose processes are then taken for that user's.
        wait_until(
            lambda: _run(*words, "--uid", str(secrets.choice(NUMBERS))) not in (TAKEN, LOCKED),
            "a number of one's own, and the lock of the list of users",
        )
        entry = pwd.getpwnam(name)
        user = OsUser(
            name=name,
            uid=entry.pw_uid,
            gid=entry.pw_gid,
            groups=(entry.pw_gid,),
            home=home,
            shell=shell,
        )
        self.made.append(user)
        home.chmod(0o700)
        return user

    @property
    def hooks(self) -> Callable[[OsUser], HookAccess]:
        """They have no secrets of this service."""
        return lambda user: HookAccess(secret_file=user.home / "none", put=lambda: None)

    @property
    def prefix(self) -> Callable[[OsUser], Sequence[str]]:
        return lambda user: ["/bin/false"]

    def places(self) -> LocationRegistry:
        """Of everybody on this machine."""
        return places_of(HERE, self)

    def place(self, user: OsUser) -> Location:
        """That user's."""
        return self.places().find_earlier_location(make_os_user_location(user.name, user.uid))

    def remove(self, user: OsUser) -> None:
        """Forget the account; what runs as that user runs on."""
        # userdel refuses while processes run; the line is all that matters.
        wait_until(
            lambda: _run(_which("userdel"), "--force", user.name) != LOCKED,
            "the lock of the list of users",
        )

    def close(self) -> None:
        """End every process of theirs, and remove them."""
        for user in self.made:
            end_processes(user.uid)
            if any(entry.pw_uid == user.uid for entry in pwd.getpwall()):
                self.remove(user)
        shutil.rmtree(self.folder)


def run_as(user: OsUser, *argv: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    """A real process of C{user}, with nothing of root's."""
    return subprocess.run(
        argv,
        user=user.uid,
        group=user.gid,
        extra_groups=list(user.groups),
        env={"PATH": "/usr/bin:/bin", "HOME": str(user.home)},
        cwd=user.home,
        input=text,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def processes_of(uid: int) -> list[int]:
    """The living processes that really are that user's."""
    return [
        int(entry.name)
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and _lives_as(entry / "status", uid)
    ]


def _lives_as(status: Path, uid: int) -> bool:
    try:
        lines = status.read_text().splitlines()
    except OSError:
        return False
    words = {line.partition(":")[0]: line.split()[1:] for line in lines}
    return words["Uid"][0] == str(uid) and words["State"][0] != "Z"


def end_processes(uid: int) -> None:
    """End what runs as a user that a test made."""
    for _ in range(int(PATIENCE / 0.02)):
        left = processes_of(uid)
        if not left:
            return
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        threading.Event().wait(0.02)
    raise AssertionError(f"processes of {uid} go on: {processes_of(uid)}")


class MultiuserDaemon:
    """A daemon in multi-user mode, as root."""

    def __init__(self, **environment: str) -> None:
        self.daemon = DaemonHarness(
            SERVICE_MULTIUSER="1",
            SERVICE_USERNAME=ADMIN,
            SERVICE_PASSWORD=PASSWORD,
            **environment,
        )
        self.shared = SharedFolder(self.daemon.data).path
        self.daemon.start()

    def ask(self, name: str, method: str, path: str, body: Any = None) -> Any:
        """What C{name} is answered."""
        return self.daemon.request(method, path, body, basic_headers(name, PASSWORD))

    def good(self, name: str, method: str, path: str, body: Any = None) -> Any:
        """The payload of a success."""
        return self.ask(name, method, path, body).data()

    def events(self, name: str) -> EventLog:
        """The events that C{name} is sent."""
        return EventLog(self.daemon.url, basic_headers(name, PASSWORD))

    def account(self, name: str, os_user: str, **more: Any) -> Any:
        """An account that may start shells."""
        body = {"username": name, "password": PASSWORD, "canBypassPermissions": True, **more}
        return self.good(ADMIN, "POST", "/api/admin/users", {**body, "osUser": os_user})["user"]

    def shell(self, name: str, **more: Any) -> str:
        """A shell that runs; its session's id."""
        body = {"mode": "shell", "start": True, **more}
        return str(self.good(name, "POST", "/api/sessions", body)["session"]["id"])

    def pid(self, name: str, session: str) -> int:
        """The process in a session's pane."""
        return int(self.good(name, "GET", f"/api/sessions/{session}")["pid"])

    def type(self, name: str, session: str, line: str) -> None:
        """Have the shell run a line."""
        self.good(name, "POST", f"/api/sessions/{session}/input", {"input": line + "\r"})

    def screen(self, name: str, session: str) -> str:
        """What a session's terminal shows."""
        found = self.good(name, "GET", f"/api/sessions/{session}/terminal")
        return str(found["terminalBuffer"])

    def shows(self, name: str, session: str, text: str) -> None:
        """Wait until a session's terminal shows C{text}."""
        wait_until(lambda: text in self.screen(name, session), f"{text!r} on the screen")

    def secret(self, user: OsUser) -> str:
        """The hook secret of an OS user."""
        return (self.shared / f"{user.uid}.hook-secret").read_text().strip()

    def hook(self, session: str, secret: str) -> int:
        """The status that a hook event gets."""
        body = {"event": "stop", "sessionId": session, "data": {}}
        headers = {"X-Service-Hook-Secret": secret}
        return self.daemon.request("POST", "/api/hook-event", body, headers).status

    def close(self) -> None:
        """End it, and remove what it left for OS users; their processes are theirs to end."""
        self.daemon.close()
        shutil.rmtree(self.shared, ignore_errors=True)


def wait_until(true: Callable[[], object], what: str) -> None:
    """Wait for C{true}.

    @raise AssertionError: in vain.
    """
    for _ in range(int(PATIENCE / 0.05)):
        if true():
            return
        threading.Event().wait(0.05)
    raise AssertionError(f"waited in vain for {what}")


def _run(*argv: Any) -> int:
    """The status, where it is no error that counts here."""
    found = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE, check=False)
    if found.returncode and "cannot lock" in found.stderr:
        return LOCKED
    # 8: userdel's word for "the user is logged in", said although the line was removed.
    if found.returncode not in (0, 8, TAKEN) and "userdel" not in str(argv[0]):
        raise AssertionError(f"{argv}: {found.stderr}")
    return found.returncode
