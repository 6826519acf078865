"""Tests for L{tservice.files.reading.archive} and L{tservice.files.reading.open_files}."""

from __future__ import annotations

import io
import os
import tarfile
import threading
from contextlib import ExitStack
from typing import Any

from attrs import evolve
from twisted.internet.defer import CancelledError, Deferred

from tests.unit.core.workers.held_work import PATIENCE
from tests.unit.files.harness import WorkspaceCase, open_descriptors
from tservice.core.kernel.errors import ServiceError, make_failure_error
from tservice.files.reading.archive import PIECE, pack_folder
from tservice.files.reading.open_files import FileInfo, Opened, OpenFile, OpenFolder, open_path
from tservice.files.workers import FileResourceHolder


class PackTests(WorkspaceCase):
    def pack(self, path: str = ".") -> tarfile.TarFile:
        with self.beneath().resolve_path(path) as spot:
            data = b"".join(pack_folder(spot, "ws", self.closed))
        return tarfile.open(fileobj=io.BytesIO(data))

    def test_archive_contains_files_folders_and_links(self) -> None:
        self.put("a/b.txt", "content").chmod(0o750)
        self.put("empty", "")
        self.put("a/" + "long" * 30 + "/" + "ü" * 60, "long")
        self.link("link", "a/b.txt")
        with self.pack() as found:
            self.assertCountEqual(
                ["ws", "ws/a", "ws/a/" + "long" * 30, "ws/a/" + "long" * 30 + "/" + "ü" * 60,
                 "ws/a/b.txt", "ws/empty", "ws/link"],
                found.getnames(),
            )  # fmt: skip
            member = found.getmember("ws/a/b.txt")
            self.assertEqual((0o750, 7), (member.mode, member.size))
            content = found.extractfile(member)
            assert content is not None
            self.assertEqual(b"content", content.read())
            self.assertEqual("a/b.txt", found.getmember("ws/link").linkname)

    def test_secrets_closed_folders_and_special_files_are_left_out(self) -> None:
        for name in (".env", "sub/server.pem", "data/x", "kept"):
            self.put(name)
        os.mkfifo(self.folder / "fifo")
        self.link("out", self.outside)
        with self.pack() as found:
            self.assertEqual(["ws", "ws/kept", "ws/out", "ws/sub"], sorted(found.getnames()))
            self.assertTrue(found.getmember("ws/out").issym())

    def test_file_that_changes_while_packed_keeps_the_archive_valid(self) -> None:
        shrinks = self.put("a", b"x" * 3 * PIECE)
        self.put("b", "after")
        with self.beneath().resolve_path(".") as spot:
            pieces = pack_folder(spot, "ws", self.closed)
            data = b"".join(next(pieces) for _ in range(3))
            shrinks.write_bytes(b"")
            data += b"".join(pieces)
        with tarfile.open(fileobj=io.BytesIO(data)) as found:
            self.assertEqual(3 * PIECE, found.getmember("ws/a").size)
            content = found.extractfile("ws/b")
            assert content is not None
            self.assertEqual(b"after", content.read())

    def test_abandoned_archive_closes_its_files(self) -> None:
        self.put("a/b/c", b"x" * PIECE)
        before = open_descriptors()
        with self.beneath().resolve_path(".") as spot:
            pieces = pack_folder(spot, "ws", self.closed)
            next(pieces)
            next(pieces)
            pieces.close()
        self.assertEqual(before + 1, open_descriptors())  # the workspace itself


class OpenedFileTests(WorkspaceCase):
    def opening(self, path: str, *, folders: bool = False) -> Deferred[Opened]:
        handle = FileResourceHolder(self.worker)
        self.addCleanup(lambda: self.wait(handle.close()))

        def work(held: ExitStack) -> Opened:
            return open_path(held, handle, str(self.folder), path, self.closed, folders=folders)

        return Deferred.fromCoroutine(handle.run_with_resources(work))

    def open(self, path: str, *, folders: bool = False) -> Opened:
        return self.successResultOf(self.opening(path, folders=folders))

    def wait(self, work: Any) -> Any:
        return self.successResultOf(Deferred.fromCoroutine(work))

    def test_opened_file_is_read_in_parts(self) -> None:
        self.put("a.html", "0123456789")
        file = self.open("a.html")
        assert isinstance(file, OpenFile)
        self.assertEqual("text/html; charset=utf-8", file.about.media_type)
        self.assertEqual(b"2345", self.wait(file.read_chunk(2, 4)))
        self.assertEqual(b"89", self.wait(file.read_chunk(8, 100)))

    def test_executable_page_types_are_served_as_plain_text(self) -> None:
        """An address of a file is of the page's own origin, whose scripts and sheets it takes."""
        for name in ("a.js", "a.mjs", "a.css", "a.es", "a.JS", "a.txt"):
            info = FileInfo(name=name, size=0, tag="", modified=0.0)
            self.assertEqual("text/plain; charset=utf-8", info.media_type, name)
        self.assertEqual("image/svg+xml", evolve(info, name="a.svg").media_type)

    def test_etag_changes_with_the_content(self) -> None:
        path = self.put("a", "1")
        tags: set[str] = set()
        for content in ("1", "22", "33"):
            path.write_text(content)
            os.utime(path, ns=(0, len(tags)))
            file = self.open("a")
            assert isinstance(file, OpenFile)
            tags.add(file.about.tag)
        self.assertEqual(3, len(tags))

    def test_folder_is_opened_only_as_an_archive(self) -> None:
        self.put("sub/a", b"x" * 3 * PIECE)
        self.failureResultOf(self.opening("sub"), ServiceError)
        folder = self.open("sub", folders=True)
        assert isinstance(folder, OpenFolder)
        self.assertEqual("sub", folder.name)
        data = b""
        while piece := self.wait(folder.read_chunk()):
            data += piece
        with tarfile.open(fileobj=io.BytesIO(data)) as found:
            self.assertEqual(["sub", "sub/a"], found.getnames())

    def test_archive_is_named_after_the_workspace_folder(self) -> None:
        folder = self.open(".", folders=True)
        assert isinstance(folder, OpenFolder)
        self.assertEqual("ws", folder.name)


class HandleTests(WorkspaceCase):
    """What stays open, and is closed whatever happens."""

    def setUp(self) -> None:
        super().setUp()
        self.handle = FileResourceHolder(self.worker)
        self.closed_ones: list[str] = []

    def use(self, work: Any) -> Deferred[Any]:
        return Deferred.fromCoroutine(self.handle.run_with_resources(work))

    def close(self) -> None:
        self.successResultOf(Deferred.fromCoroutine(self.handle.close()))

    def test_handle_is_closed_once(self) -> None:
        self.use(lambda held: held.callback(self.closed_ones.append, "a"))
        self.close()
        self.close()
        self.assertEqual(["a"], self.closed_ones)
        self.failureResultOf(self.use(lambda held: None), CancelledError)

    def test_handle_closed_during_use_closes_afterwards(self) -> None:
        def work(held: Any) -> None:
            self.close()
            self.assertEqual([], self.closed_ones)
            held.callback(self.closed_ones.append, "late")

        self.use(work)
        self.assertEqual(["late"], self.closed_ones)

    def test_unused_handle_closes_without_a_thread(self) -> None:
        """Nor in the reactor's, for a close waits for a mount that is dead."""
        closed = threading.Event()
        closers: list[threading.Thread] = []

        def close() -> None:
            closers.append(threading.current_thread())
            closed.set()

        self.use(lambda held: held.callback(close))
        self.door.run = self.crowded  # type: ignore[method-assign]
        self.close()
        self.assertTrue(closed.wait(PATIENCE))
        self.assertIsNot(threading.main_thread(), closers[0])

    def crowded(self, work: Any, place: str = "", **told: str | None) -> Deferred[Any]:
        made: Deferred[Any] = Deferred()
        made.errback(make_failure_error("too many requests wait"))
        return made

    def test_system_error_becomes_a_service_error(self) -> None:
        for error, code in (
            (FileNotFoundError(2, "x"), "NOT_FOUND"),
            (NotADirectoryError(20, "x"), "NOT_FOUND"),
            (PermissionError(13, "x"), "FORBIDDEN"),
            (OSError(40, "loop"), "INVALID_INPUT"),
            (OSError(36, "long"), "INVALID_INPUT"),
            (OSError(24, "files"), "OPERATION_FAILED"),
        ):

            def work(held: Any, error: OSError = error) -> None:
                raise error

            found = self.failureResultOf(self.use(work), ServiceError).value
            self.assertEqual(code, found.code.value, error)

    def test_session_works_in_its_own_location(self) -> None:
        self.use(lambda held: None)
        self.assertEqual([str(self.folder)], self.door.places)
