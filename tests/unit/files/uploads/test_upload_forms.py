"""Tests for L{tservice.files.uploads.upload_forms}: what is kept of a form, however it arrives."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from contextlib import ExitStack
from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import example_count
from tests.unit.files.harness import WorkspaceCase, open_descriptors
from tservice.core.kernel.errors import ServiceError
from tservice.files.model import GENERATED_NAME
from tservice.files.uploads import upload_forms
from tservice.files.uploads.upload_forms import (
    StoredUpload,
    UploadReceiver,
    UploadRules,
    check_free_space,
    open_uploads_folder,
    parse_boundary,
)

PNG = b"\x89PNG\r\n\x1a\n" + b"p" * 100
FILES = UploadRules(field="file", most=3, size=1000, kind="upload")
IMAGE = UploadRules(field="image", most=1, size=1000, kind="paste", images=True)

Part = tuple[str, str | None, bytes]


def form(parts: Sequence[Part], end: bytes = b"--BB--\r\n") -> bytes:
    """Parts of name, file name and content."""
    found = b""
    for name, filename, content in parts:
        named = "" if filename is None else f'; filename="{filename}"'
        head = f'Content-Disposition: form-data; name="{name}"{named}\r\n\r\n'
        found += b"--BB\r\n" + head.encode() + content + b"\r\n"
    return found + end


class BoundaryTests(WorkspaceCase):
    def test_boundary_is_read_from_the_content_type(self) -> None:
        self.assertEqual("a b", parse_boundary('Multipart/Form-Data; boundary="a b"'))

    def test_other_content_types_are_refused(self) -> None:
        for kind in (None, "", "multipart/form-data", "application/json; boundary=x",
                     "multipart/mixed; boundary=x", "multipart/form-data; boundary=",
                     "multipart/form-data; boundary=ü",
                     f"multipart/form-data; boundary={'x' * 201}",
                     ):  # fmt: skip
            with self.assertRaises(ServiceError) as caught:
                parse_boundary(kind)
            self.assertTrue(caught.exception.message.startswith("content-type: "), kind)


class DiskRoomTests(WorkspaceCase):
    """A disk, by what C{fstatvfs} tells of it."""

    def refused(self, free: int, size: int) -> bool:
        block = 1000
        told = os.statvfs_result(
            (block, block, size // block, size // block, free // block, 0, 0, 0, 0, 255)
        )
        try:
            check_free_space(told)
        except ServiceError as error:
            self.assertEqual("OPERATION_FAILED", error.code.value)
            self.assertIn("less than 1 GB or 5 % of it is free", error.message)
            return True
        return False

    def test_less_than_one_gigabyte_free_is_refused(self) -> None:
        self.assertFalse(self.refused(10**9, 10 * 10**9))
        self.assertTrue(self.refused(10**9 - 1000, 10 * 10**9))

    def test_less_than_five_percent_free_is_refused(self) -> None:
        self.assertFalse(self.refused(50 * 10**9, 10**12))
        self.assertTrue(self.refused(50 * 10**9 - 1000, 10**12))

    def test_file_system_without_figures_is_accepted(self) -> None:
        self.assertFalse(self.refused(0, 0))

    def test_disk_that_fills_during_the_upload_refuses_it(self) -> None:
        rooms = iter([10**9, 10**9, 0])

        def tell_room(folder: int) -> os.statvfs_result:
            free = next(rooms) // 1000
            return os.statvfs_result((1000, 1000, 10**7, 10**7, free, 0, 0, 0, 0, 255))

        self.patch(os, "fstatvfs", tell_room)
        receiver = UploadReceiver.create("BB", FILES, lambda: 0)
        with ExitStack() as held:
            receiver.open_folder(held, os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY))
            data = form([("file", "a.txt", b"x" * 500)], b"")
            receiver.process_bytes(data[:100])
            self.assertEqual(1, len(os.listdir(self.folder)))
            self.assertRaises(ServiceError, receiver.process_bytes, data[100:])
        self.assertEqual([], os.listdir(self.folder))


class ReceiverTests(WorkspaceCase):
    def setUp(self) -> None:
        super().setUp()
        self.into = self.folder / "into"
        self.into.mkdir()

    def receive(
        self, data: bytes, rules: UploadRules = FILES, step: int = 10_000
    ) -> list[StoredUpload]:
        receiver = UploadReceiver.create("BB", rules, lambda: 1_700_000_000_000)
        with ExitStack() as held:
            receiver.open_folder(held, os.open(self.into, os.O_RDONLY | os.O_DIRECTORY))
            for at in range(0, len(data), step):
                receiver.process_bytes(data[at : at + step])
            return receiver.store_files()

    def refused(self, data: bytes, rules: UploadRules = FILES) -> str:
        with self.assertRaises(ServiceError) as caught:
            self.receive(data, rules)
        self.assertEqual([], os.listdir(self.into))
        return f"{caught.exception.status} {caught.exception.message}"

    def test_files_are_received_with_safe_names(self) -> None:
        found = self.receive(form([("file", "a.txt", b"one"), ("file", "../b.txt", b"")]))
        self.assertEqual([3, 0], [each.size for each in found])
        names = [each.filename for each in found]
        self.assertRegex(names[0], r"\Aupload-1700000000000-[0-9a-f]{8}-a\.txt\Z")
        self.assertRegex(names[1], r"-b\.txt\Z")
        self.assertEqual(sorted(names), sorted(os.listdir(self.into)))
        self.assertEqual(b"one", (self.into / names[0]).read_bytes())
        self.assertTrue(all(GENERATED_NAME.fullmatch(name) for name in names))
        self.assertEqual(0o644, stat.S_IMODE((self.into / names[0]).stat().st_mode))

    @settings(max_examples=example_count(60))
    @given(st.binary(max_size=900), st.integers(1, 300))
    def test_form_is_received_in_any_pieces(self, content: bytes, step: int) -> None:
        content = content.replace(b"\r\n--BB", b"")
        [kept] = self.receive(form([("file", "a", content)]), step=step)
        file = self.into / kept.filename
        self.assertEqual(content, file.read_bytes())
        file.unlink()

    def test_data_after_the_closing_boundary_is_ignored(self) -> None:
        self.assertEqual(1, len(self.receive(form([("file", "a", b"x")]) + b"\r\nmore", step=7)))

    def test_image_is_received_with_its_type(self) -> None:
        [kept] = self.receive(form([("image", "holiday.gif", PNG)]), IMAGE)
        self.assertRegex(kept.filename, r"\Apaste-1700000000000-[0-9a-f]{8}\.png\Z")

    def test_other_content_is_no_image(self) -> None:
        wanted = "400 image: must be a png, jpg, gif, webp, bmp or heic image"
        for content in (b"", b"text", b"<svg/>", b"x" * 900):
            self.assertEqual(wanted, self.refused(form([("image", "a.png", content)]), IMAGE))

    def test_content_must_match_the_image_name(self) -> None:
        for content in (b"text", PNG):
            found = self.refused(form([("file", "a.jpg", content)]))
            self.assertEqual("400 file: is named as a jpg image, but is not one", found)
        self.receive(form([("file", "a.png", PNG)]))

    def test_too_many_or_too_large_files_are_refused(self) -> None:
        four = form([("file", "a", b"x")] * 4)
        self.assertEqual("400 file: must be at most 3 files", self.refused(four))
        large = form([("file", "a", b"x" * 1001)])
        self.assertEqual("413 file: must be at most 1000 bytes", self.refused(large))
        self.receive(form([("file", "a", b"x" * 1000)]))

    def test_other_fields_are_refused(self) -> None:
        self.assertEqual(
            "400 image: is not a known field", self.refused(form([("image", "a", b"x")]))
        )
        self.assertEqual("400 file: must be a file", self.refused(form([("file", None, b"x")])))
        self.assertEqual("400 file: is required", self.refused(form([])))

    def test_malformed_forms_are_refused(self) -> None:
        for data in (
            b"",
            b"x" * 500,
            form([("file", "a", b"x")], end=b""),
            form([("file", "a", b"x")], end=b"--BB"),
            b"--BB\r\n\r\nx\r\n--BB--\r\n",
            b"--BB\r\nA: " + b"x" * 5000 + b"\r\n\r\nx\r\n--BB--\r\n",
            b"--BB\r\n" + b"A: b\r\n" * 20 + b"\r\nx\r\n--BB--\r\n",
        ):
            self.assertTrue(self.refused(data).startswith("400 body: must be a whole"), data[:40])

    def test_form_is_received_completely_or_not_at_all(self) -> None:
        found = self.refused(form([("file", "a", b"x"), ("file", "b.png", b"no image")]))
        self.assertTrue(found.startswith("400 "))
        names: list[bytes] = []

        def name_anew(folder: int, temporary: bytes, name: bytes) -> None:
            if names:
                raise OSError(28, "full")
            names.append(name)
            os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)

        with mock.patch.object(upload_forms, "rename_exclusively", name_anew):
            self.assertRaises(
                OSError, self.receive, form([("file", "a", b"x"), ("file", "b", b"y")])
            )
        self.assertEqual([], os.listdir(self.into))

    def test_interrupted_form_leaves_nothing(self) -> None:
        before = open_descriptors()
        receiver = UploadReceiver.create("BB", FILES, lambda: 0)
        with ExitStack() as held:
            receiver.open_folder(held, os.open(self.into, os.O_RDONLY | os.O_DIRECTORY))
            receiver.process_bytes(form([("file", "a", b"x" * 500)])[:400])
            [name] = os.listdir(self.into)
            self.assertTrue(GENERATED_NAME.fullmatch(name), "a crash leaves what the sweep finds")
        self.assertEqual([], os.listdir(self.into))
        self.assertEqual(before, open_descriptors())


class UploadFolderTests(WorkspaceCase):
    def open(self) -> None:
        top = os.open(self.folder, os.O_PATH | os.O_DIRECTORY)
        try:
            os.close(open_uploads_folder(top, ".service-uploads"))
        finally:
            os.close(top)

    def test_gitignore_of_the_upload_folder_is_written_once(self) -> None:
        self.open()
        ignore = self.folder / ".service-uploads/.gitignore"
        self.assertEqual("*\n", ignore.read_text())
        ignore.write_text("mine")
        self.open()
        self.assertEqual("mine", ignore.read_text())

    def test_obstacle_named_like_the_upload_folder_is_refused(self) -> None:
        for make in (
            lambda path: path.write_text("x"),
            lambda path: os.symlink(self.outside, path),
            lambda path: os.mkfifo(path),
        ):
            path = self.folder / ".service-uploads"
            make(path)
            with self.assertRaises(ServiceError) as caught:
                self.open()
            self.assertEqual(400, caught.exception.status)
            path.unlink()
        self.assertEqual(["secret.txt"], os.listdir(self.outside))

    def test_link_instead_of_gitignore_is_not_followed(self) -> None:
        (self.folder / ".service-uploads").mkdir()
        os.symlink(self.outside / "new", self.folder / ".service-uploads/.gitignore")
        self.open()
        self.assertEqual(["secret.txt"], os.listdir(self.outside))
