"""C{tsctl files} on the real daemon."""

from __future__ import annotations

import os
import stat
import subprocess
import tarfile
from pathlib import Path

from tests.integration.files import files_of
from tests.integration.tsctl import TSCTL, TsctlCase


class TsctlFilesTests(TsctlCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = self.service.folder / "ws"
        self.here = self.service.folder / "here"
        (self.folder / "src").mkdir(parents=True)
        self.here.mkdir()
        (self.folder / "src/a.txt").write_text("content")
        (self.folder / ".hidden").touch()
        (self.folder / ".env").touch()
        self.session = files_of(self.service, self.folder).session

    def test_files_ls_lists_a_folder(self) -> None:
        head, row = self.tsctl("files", "ls", self.session).splitlines()
        self.assertEqual(["TYPE", "SIZE", "CHANGED", "NAME"], head.split())
        self.assertEqual(["dir", "src"], [row.split()[0], row.split()[-1]])
        self.assertIn(".hidden", self.tsctl("files", "ls", self.session, "--all"))
        row = self.tsctl("files", "ls", self.session, "src").splitlines()[1]
        self.assertEqual(["file", "7", "a.txt"], [row.split()[at] for at in (0, 1, -1)])
        found = self.json("files", "ls", self.session, "src")
        self.assertEqual("src/a.txt", found["tree"][0]["path"])
        self.assertIn("404", self.fails("files", "ls", self.session, "none"))

    def test_file_name_with_escape_sequences_is_printed_safely(self) -> None:
        (self.folder / "e\x1b]52;c;ZXZpbA==\x07vil").touch()
        self.assertNotIn("\x1b", self.tsctl("files", "ls", self.session))

    def test_files_get_writes_one_file_and_refuses_secrets(self) -> None:
        place = self.here / "b.txt"
        self.assertEqual(f"{place}\n", self.get("src/a.txt", "-o", str(place)))
        self.assertEqual("content", place.read_text())
        self.assertEqual(0o666 & ~_umask(), stat.S_IMODE(place.stat().st_mode))
        self.assertIn("exists already", self.fails(*self.words("src/a.txt", "-o", str(place))))
        (self.folder / "src/a.txt").write_text("new")
        self.get("src/a.txt", "-o", str(place), "--force")
        self.assertEqual("new", place.read_text())
        self.assertEqual(f"{self.here}/a.txt\n", self.get("src/a.txt", "-o", str(self.here)))
        self.assertIn("403", self.fails(*self.words(".env", "-o", str(self.here))))
        self.assertEqual(["a.txt", "b.txt"], sorted(os.listdir(self.here)))

    def test_get_packs_a_folder(self) -> None:
        place = self.here / "src.tar.gz"
        self.get("src", "-o", str(self.here))
        with tarfile.open(place) as found:
            self.assertEqual(["src", "src/a.txt"], found.getnames())

    def test_get_writes_a_file_to_stdout(self) -> None:
        content = os.urandom(1_000_000)
        (self.folder / "raw").write_bytes(content)
        words = [*TSCTL, *self.words("raw", "-o", "-")]
        found = subprocess.run(words, env=self.environ(), capture_output=True, check=True)
        self.assertEqual((content, b""), (found.stdout, found.stderr))

    def test_files_put_uploads_files(self) -> None:
        content = os.urandom(3_000_000)
        (self.here / "a b.bin").write_bytes(content)
        (self.here / "empty").touch()
        sent = (str(self.here / "a b.bin"), str(self.here / "empty"))
        first, second = self.tsctl("files", "put", self.session, *sent).splitlines()
        self.assertEqual(content, Path(first).read_bytes())
        self.assertTrue(first.endswith("-a_b.bin"), first)
        self.assertEqual(b"", Path(second).read_bytes())
        [kept] = self.json("files", "put", self.session, sent[1])["files"]
        self.assertEqual(0, kept["size"])

    def test_files_put_refuses_folders_and_wrong_images(self) -> None:
        self.assertIn("is not a file", self.fails("files", "put", self.session, str(self.here)))
        (self.here / "a.png").write_text("no image")
        line = self.fails("files", "put", self.session, str(self.here / "a.png"))
        self.assertIn("is named as a png image", line)
        with (self.here / "huge").open("wb") as stream:
            stream.truncate(101 * 1024 * 1024)
        line = self.fails("files", "put", self.session, str(self.here / "huge"))
        self.assertIn("413", line)
        self.assertEqual([".gitignore"], os.listdir(self.folder / ".service-uploads"))

    def words(self, path: str, *more: str) -> tuple[str, ...]:
        return ("files", "get", self.session, path, *more)

    def get(self, path: str, *more: str) -> str:
        return self.tsctl(*self.words(path, *more))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
