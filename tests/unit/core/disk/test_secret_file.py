"""Secrets that are made once, and what may stand in their place."""

from __future__ import annotations

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tservice.core.disk.secret_file import load_or_create_secret
from tservice.core.kernel.errors import StartError


class KeptTextTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.folder = Path(self.mktemp()).absolute()
        self.folder.mkdir()
        self.path = self.folder / "key"

    def test_text_is_created_once(self) -> None:
        self.assertEqual("a", load_or_create_secret(self.path, lambda: "a"))
        self.assertEqual("a", load_or_create_secret(self.path, lambda: "b"))

    def test_obstacle_instead_of_the_file_is_named_and_kept(self) -> None:
        """A start says what is in its way, whatever it is, and leaves it as it is."""
        for target in ("absent", "key"):
            self.path.symlink_to(target)
            error = self.assertRaises(StartError, load_or_create_secret, self.path, lambda: "a")
            self.assertIn("key: ", str(error))
            self.assertEqual(Path(target), self.path.readlink())
            self.path.unlink()
        self.path.mkdir()
        self.assertIn(
            "key: ", str(self.assertRaises(StartError, load_or_create_secret, self.path, str))
        )
