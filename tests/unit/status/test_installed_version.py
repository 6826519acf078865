"""Tests for L{tservice.status.installed_version}."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError

from twisted.trial.unittest import SynchronousTestCase

from tservice.status.installed_version import find_newer_installed


class InstalledVersionTests(SynchronousTestCase):
    def test_only_a_newer_version_is_an_update(self) -> None:
        for installed, found in (
            ("1.10.0", "1.10.0"), ("1.9.1", "1.9.1"), ("2.0.0rc1", "2.0.0rc1"),
            ("1.9.0", None), ("1.8.5", None), ("unknown", None),
        ):  # fmt: skip
            self.assertEqual(found, find_newer_installed("1.9.0", lambda name: installed))  # noqa: B023

    def test_program_that_is_not_installed_has_no_update(self) -> None:
        def refuse(name: str) -> str:
            raise PackageNotFoundError(name)

        self.assertIsNone(find_newer_installed("1.9.0", refuse))
