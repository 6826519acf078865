"""Reviews of real repositories, with sessions that only record what they are told."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve
from twisted.internet import reactor
from twisted.internet.task import Clock
from twisted.trial.unittest import TestCase

from tests.callers import make_caller
from tests.unit.git.random_repositories import run_git
from tests.unit.git.real_git import own_folder, real_service
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ErrorCode, ServiceError, make_not_found_error
from tservice.core.locations.workspace_bounds import ANYWHERE
from tservice.git.interfaces import WorkingCopy
from tservice.git.service import GitService, GitWorkspace
from tservice.review.comments import CommentService
from tservice.review.comparison.base_choice import BaseChooser
from tservice.review.comparison.changes import DiffOptions, FileDiff
from tservice.review.reverting import RevertService
from tservice.review.service import ReviewService
from tservice.review.store import ReviewStore
from tservice.sessions.interfaces import InputDelivery, InputRequest, Session
from tservice.sessions.record.model import NameSource, SessionStatus
from tservice.store.database import Database

ANN = make_caller(username="ann", admin=True)
SESSION_ID = "s1"


class RecordingSessions:
    """One session, whose inputs are recorded."""

    def __init__(self, folder: Path) -> None:
        self.session = Session(
            id=SESSION_ID,
            mode="primary",
            name="n",
            name_source=NameSource.MANUAL,
            working_dir=str(folder),
            created_at=1,
            last_activity_at=1,
            owner="ann",
        )
        self.inputs: list[InputRequest] = []
        self.delivery = InputDelivery(delivered=True)
        self.may_drive = True

    def set_busy(self, busy: bool = True) -> None:
        status = SessionStatus.BUSY if busy else SessionStatus.IDLE
        self.session = evolve(self.session, status=status)

    def get(self, session_id: str, caller: Identity | None = None) -> Session:
        if session_id != self.session.id:
            raise make_not_found_error("Session")
        return self.session

    def list(self, caller: Identity | None = None) -> list[Session]:
        return [self.session]

    def get_owner(self, session_id: str) -> str | None:
        return self.session.owner

    def check_sender(self, session_id: str, sender: Identity | None = None) -> None:
        if not self.may_drive:
            raise ServiceError(ErrorCode.FORBIDDEN, "not yours to drive")

    async def send_input(self, session_id: str, request: InputRequest) -> InputDelivery:
        known = any(each.client_id == request.client_id for each in self.inputs)
        if known:
            return InputDelivery(delivered=False, duplicate=True)
        self.inputs.append(request)
        return self.delivery


class FolderCopies:
    """The repositories of one folder."""

    def __init__(self, git: GitService, folder: Path) -> None:
        self.git, self.folder = git, folder

    async def open_working_copies(self, session_id: str) -> Sequence[WorkingCopy]:
        workspace = GitWorkspace(folder=str(self.folder), inside=ANYWHERE)
        return await self.git.open_working_copies(workspace)


def add_session_row(database: Database, session_id: str = SESSION_ID) -> None:
    """Add the least row on which the tables of reviews can stand."""
    columns = database.query_rows("PRAGMA table_info(sessions)")
    wanted = {
        each["name"]: "" if each["type"] == "TEXT" else 0 for each in columns if each["notnull"]
    }
    wanted["id"] = session_id
    names = ", ".join(wanted)
    marks = ", ".join("?" * len(wanted))
    database.execute(f"INSERT INTO sessions ({names}) VALUES ({marks})", [*wanted.values()])


class ReviewWorld:
    """Services over a folder."""

    def __init__(self, folder: Path, home: Path, copies: Any = None) -> None:
        """@param copies: opens the working copies; C{None} for those of this machine."""
        self.folder = folder
        self.clock = Clock()
        self.clock.advance(1_800_000_000)
        git, self.runner = real_service(reactor, home)
        self.sessions = RecordingSessions(folder)
        self.database = Database.open_in_memory()
        add_session_row(self.database)
        self.store = ReviewStore(self.database)
        self.made = 0
        copies = copies or FolderCopies(git, folder)
        sessions: Any = self.sessions
        self.bases = BaseChooser(self.clock, sessions, self.store)
        self.review = ReviewService(
            clock=self.clock, copies=copies, store=self.store, chosen_base=self.bases.find_chosen
        )
        self.template = ""
        self.comments = CommentService(
            clock=self.clock, review=self.review, store=self.store, sessions=sessions,
            make_id=self.make_id, template=lambda: self.template,
        )  # fmt: skip
        self.reverts = RevertService(
            clock=self.clock, review=self.review, store=self.store, sessions=sessions,
            make_id=self.make_id, can_run_commands=lambda path: path.endswith("/CLAUDE.md"),
        )  # fmt: skip

    def make_id(self) -> str:
        self.made += 1
        return f"c{self.made}"

    async def copy(self) -> WorkingCopy:
        return await self.review.open_copy(SESSION_ID, None)

    async def diff(self, path: str, base: str | None = None, **options: Any) -> FileDiff:
        wanted = DiffOptions(**{"context": 3, **options})
        return await self.review.read_file_diff(SESSION_ID, None, path, base, wanted)


class ReviewTestCase(TestCase):
    """Test with one repository, made by hand."""

    def setUp(self) -> None:
        top = own_folder(self)
        self.folder = top / "work"
        self.folder.mkdir(parents=True)
        run_git(self.folder, "init", "-q", "-b", "main")
        self.world = ReviewWorld(self.folder, top / "home", self.make_copies())

    def make_copies(self) -> Any:
        """Return what opens the working copies; C{None} for those of this machine."""
        return None

    async def tearDown(self) -> None:  # type: ignore[override]
        self.world.database.close()
        await self.world.runner.stop()

    def write(self, path: str, content: str | bytes) -> Path:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def commit(self, **files: str | bytes) -> str:
        for name, content in files.items():
            self.write(name, content)
        run_git(self.folder, "add", "-A")
        run_git(self.folder, "commit", "-q", "-m", "work")
        return run_git(self.folder, "rev-parse", "HEAD").decode().strip()

    async def refuse(self, status: int, work: Coroutine[Any, Any, object]) -> ServiceError:
        """Check that C{work} is refused with this status."""
        try:
            found = await work
        except ServiceError as error:
            self.assertEqual(status, error.status, error.message)
            return error
        raise AssertionError(f"not refused: {found}")
