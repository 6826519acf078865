"""Tests for L{tservice.files.model}."""

from __future__ import annotations

import re
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.secret_names import HARMLESS, NAMES
from tservice.core.disk.files import ENVIRONMENT_NAMES, PUBLIC_NAMES, SECRET_NAMES
from tservice.files.model import (
    GENERATED_NAME,
    detect_image_type,
    get_claimed_image_type,
    is_secret_file,
    sanitize_file_name,
)

ROOT = Path(__file__).resolve().parents[3]


class FileNameTests(SynchronousTestCase):
    def test_secret_names_of_known_scanners_are_secret(self) -> None:
        self.assertGreaterEqual(len(set(NAMES)), 60)
        for name in (*NAMES, ".env.local", ".ENV", "tls.KEY", "credentials-prod.json"):
            for path in (name, name.upper(), f"/home/ann/{name}", f"a\nb/{name}"):
                self.assertTrue(is_secret_file(path), path)

    def test_docs_list_the_secret_file_names(self) -> None:
        listed = re.findall(r"``([^`]+)``", (ROOT / "docs" / "howto" / "files.rst").read_text())
        for names in (*SECRET_NAMES.values(), ENVIRONMENT_NAMES, PUBLIC_NAMES):
            self.assertEqual(set(), {*names.split()} - {*listed})

    def test_names_that_only_resemble_secrets_are_harmless(self) -> None:
        for name in (*HARMLESS, "key", "pem", "my-credentials.json", "identity", ".ssh/", "a.pem/"):
            self.assertFalse(is_secret_file(name), name)

    def test_only_environment_files_can_be_revealed(self) -> None:
        for name in (".env.local", "a/prod.env"):
            self.assertTrue(is_secret_file(name), name)
            self.assertFalse(is_secret_file(name, reveal=True), name)
        for name in ("server.pem", "id_rsa", "credentials.json", ".env.pem", ".aws/credentials"):
            self.assertTrue(is_secret_file(name, reveal=True), name)

    def test_temporary_upload_names_are_swept(self) -> None:
        for name in (
            "paste-1795343126502-5387500d.png",
            "upload-1795343126408-a75ea516-a b\n.txt",
            "screenshot-1795343126876-0a9f4be2.png",
            ".upload-0123456789abcdef.part",
        ):
            self.assertTrue(GENERATED_NAME.fullmatch(name), name)
        for name in (
            ".gitignore", "paste.png", "paste-1-5387500d.png", "upload-notes.txt",
            "my-paste-1795343126502-5387500d.png", ".upload-x.part",
            "paste-1795343126502-zzzzzz.png",
        ):  # fmt: skip
            self.assertIsNone(GENERATED_NAME.fullmatch(name), name)

    def test_uploaded_file_names_are_sanitised(self) -> None:
        for sent, kept in (
            ("a b.txt", "a_b.txt"),
            ("../../etc/passwd", "passwd"),
            ("C:\\Users\\x\\y.png", "y.png"),
            ("..", "file"),
            ("", "file"),
            (None, "file"),
            ("a\nb\0c\x1b[2J", "a_b_c__2J"),
            ("übung.txt", "übung.txt"),
            ("u\u0308bung.txt", "übung.txt"),
            ("แก้ไข.txt", "แก้ไข.txt"),
            ("修复 登录.png", "修复_登录.png"),
            (".bashrc", "bashrc"),
            ("$(id);`id`", "__id___id_"),
        ):
            self.assertEqual(kept, sanitize_file_name(sent), sent)
        self.assertLessEqual(len(sanitize_file_name("ü" * 400 + ".txt").encode()), 150)
        self.assertTrue(sanitize_file_name("ü" * 400 + ".txt").endswith(".txt"))


class ImageTypeTests(SynchronousTestCase):
    def test_image_type_is_read_from_the_first_bytes(self) -> None:
        for head, kind in (
            (b"\x89PNG\r\n\x1a\n...", "png"),
            (b"\xff\xd8\xff\xe0", "jpg"),
            (b"GIF87a", "gif"),
            (b"RIFF\0\0\0\0WEBPVP8 ", "webp"),
            (b"\0\0\0\x18ftypheic\0\0", "heic"),
            (b"BM\x36\0\0\0\0\0\0\0\x36\0\0\0", "bmp"),
        ):
            self.assertEqual(kind, detect_image_type(head))

    def test_other_content_has_no_image_type(self) -> None:
        for head in (b"", b"BM", b"BM is a text about cars", b"RIFF\0\0\0\0WAVE", b"<svg>",
                     b"\x89PNG",
                     b"\0\0\0\x18ftypmp42"):  # fmt: skip
            self.assertIsNone(detect_image_type(head), head)

    def test_image_type_is_read_from_the_name(self) -> None:
        self.assertEqual("jpg", get_claimed_image_type("a.JPEG"))
        self.assertIsNone(get_claimed_image_type("png"))
        self.assertIsNone(get_claimed_image_type("a.png.txt"))
