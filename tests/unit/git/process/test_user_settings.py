"""The few settings of the user's that are kept, and who may read what."""

from __future__ import annotations

import os
from pathlib import Path
from unittest import mock

from twisted.trial.unittest import SynchronousTestCase

from tservice.git.model import GitRepository
from tservice.git.process import runner
from tservice.git.process.isolation import RepositoryConfigKeys
from tservice.git.process.runner import GitActor, GitError, choose_actor
from tservice.git.process.user_settings import UserSettings, read_user_settings

REPOSITORY = GitRepository(root=b"/r", control=b"/r/.git", common=b"/r/.git")
NOBODY = UserSettings(core={}, safe=frozenset())


class UserSettingsTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.home = Path(self.mktemp()).resolve()
        self.home.mkdir()

    def read(self, text: str | None = None) -> UserSettings:
        if text is not None:
            (self.home / ".gitconfig").write_text(text)
        return read_user_settings(self.home, {})

    def test_missing_settings_have_defaults(self) -> None:
        core = self.read().core
        self.assertEqual(str(self.home / ".config/git/ignore"), core["excludesFile"])
        elsewhere = read_user_settings(self.home, {"XDG_CONFIG_HOME": "/x"})
        self.assertEqual("/x/git/ignore", elsewhere.core["excludesFile"])

    def test_allowed_settings_are_kept(self) -> None:
        settings = self.read("[core]\nexcludesFile = ~/mine\nautocrlf = input\npager = evil\n")
        self.assertEqual(str(self.home / "mine"), settings.core["excludesFile"])
        self.assertEqual("input", settings.core["autocrlf"])
        self.assertNotIn("pager", settings.core)

    def test_repository_settings_take_precedence(self) -> None:
        configured = RepositoryConfigKeys(names=frozenset({"core.excludesfile"}))
        self.assertNotIn("core.excludesFile", self.read().get_defaults(configured))
        nothing = RepositoryConfigKeys(names=frozenset())
        self.assertIn("core.excludesFile", self.read().get_defaults(nothing))

    def test_safe_directories_are_read(self) -> None:
        settings = self.read("[safe]\ndirectory = /old\ndirectory =\ndirectory = ~/r\n")
        self.assertTrue(settings.is_trusted(os.fsencode(self.home / "r")))
        self.assertFalse(settings.is_trusted(b"/old"))
        self.assertTrue(self.read("[safe]\ndirectory = *\n").is_trusted(b"/any"))

    def test_unreadable_settings_are_ignored(self) -> None:
        self.assertEqual(frozenset(), self.read("[core\n").safe)
        os.unlink(self.home / ".gitconfig")
        os.mkfifo(self.home / ".gitconfig")
        self.assertEqual(frozenset(), self.read().safe)


class ActorTests(SynchronousTestCase):
    """As whom a repository is read."""

    def choose(self, owners: set[int], euid: int, user: UserSettings = NOBODY) -> GitActor:
        def group(uid: int) -> int:
            if uid == 404:
                raise KeyError(uid)
            return uid + 1

        with (
            mock.patch.object(runner, "find_owners", return_value=frozenset(owners)),
            mock.patch.object(runner, "find_group", return_value=77),
        ):
            return choose_actor(REPOSITORY, user, euid, group)

    def test_own_repository_is_read_as_oneself(self) -> None:
        self.assertEqual(GitActor(), self.choose({5}, 5))
        self.assertEqual(GitActor(), self.choose({0}, 0))

    def test_root_reads_as_the_owner(self) -> None:
        self.assertEqual(GitActor(uid=5, gid=6, own_settings=False), self.choose({5}, 0))
        self.assertEqual(GitActor(uid=404, gid=77, own_settings=False), self.choose({404}, 0))

    def test_foreign_and_mixed_owners_are_refused(self) -> None:
        for owners, euid in (({6}, 5), ({5, 6}, 5), ({0, 5}, 0), ({0}, 5)):
            self.assertRaises(GitError, self.choose, owners, euid)

    def test_declared_safe_repository_is_read(self) -> None:
        user = UserSettings(core={}, safe=frozenset({b"/r"}))
        self.assertEqual(GitActor(), self.choose({6}, 5, user))
