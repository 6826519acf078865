"""Credentials in the home folders of containers, whatever was put there inside."""

from __future__ import annotations

import os
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tservice.containers.folders import open_folder, write_credentials

NAME = ".local/share/opencode/auth.json"


class ContainerCredentialTests(SynchronousTestCase):
    def setUp(self) -> None:
        base = Path(self.mktemp()).absolute()
        self.home, self.other = base / "home", base / "other"
        for folder in (self.home, self.other):
            folder.mkdir(parents=True)
        self.file = self.home / NAME

    def put(self, *, mounted: bool = False) -> None:
        with open_folder(self.home) as home:
            write_credentials(home, {NAME: b"" if mounted else b"ours"}, mounted=mounted)

    def test_existing_credential_file_is_kept(self) -> None:
        self.put()
        self.assertEqual(b"ours", self.file.read_bytes())
        self.file.write_bytes(b"refreshed")
        for mounted in (False, True):
            self.put(mounted=mounted)
            self.assertEqual(b"refreshed", self.file.read_bytes())
        self.assertEqual([self.file], list(self.file.parent.iterdir()))

    def test_obstacles_on_the_credential_path_are_set_aside(self) -> None:
        """At each step of the way; a link is not followed, and what a file held is kept."""
        for number, place in enumerate((self.home / ".local", self.home / ".local/share"), 1):
            for put in (
                lambda at: at.symlink_to(self.other),
                lambda at: at.write_text("kept"),
                os.mkfifo,
            ):
                self.put()
                place.rename(self.home / f"before-{number}-{len(os.listdir(self.home))}")
                put(place)
                self.put()
                self.assertEqual(b"ours", self.file.read_bytes())
            aside = [place.with_name(f"{place.name}.aside-{each}") for each in (1, 2, 3)]
            self.assertEqual(["kept"], [it.read_text() for it in aside if it.is_file()])
            self.assertEqual(self.other, aside[0].readlink())
        self.assertEqual([], list(self.other.iterdir()))

    def test_copied_credential_replaces_an_empty_mount_point(self) -> None:
        """That is an empty file, with which nobody signs in."""
        self.put(mounted=True)
        self.assertEqual(b"", self.file.read_bytes())
        self.put()
        self.assertEqual(b"ours", self.file.read_bytes())

    def test_link_instead_of_a_copied_credential_stays(self) -> None:
        self.file.parent.mkdir(parents=True)
        self.file.symlink_to(self.other / "own")
        self.put()
        self.assertEqual(self.other / "own", self.file.readlink())
        self.assertEqual([], list(self.other.iterdir()))

    def test_mount_point_of_a_credential_becomes_a_file(self) -> None:
        """An engine would make one where a link leads, and cannot mount a file at a folder."""
        self.file.parent.mkdir(parents=True)
        for put in (
            lambda: self.file.symlink_to(self.other / "own"),
            lambda: (self.file / "kept").mkdir(parents=True),
        ):
            put()
            self.put(mounted=True)
            self.assertEqual((b"", False), (self.file.read_bytes(), self.file.is_symlink()))
            self.file.unlink()
        self.assertTrue(self.file.with_name("auth.json.aside-2").joinpath("kept").is_dir())
        self.assertEqual([], list(self.other.iterdir()))
