"""Changes of a repository against its base, read by hand."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from tests.unit.git.random_repositories import run_git
from tests.unit.git.real_git import folder_fingerprint
from tests.unit.review.review_harness import ANN, SESSION_ID, ReviewTestCase
from tservice.git.interfaces import WorkingCopy
from tservice.review import store as store_module
from tservice.review.model import MAX_FILES, BaseSource, ChangedFile, RepositoryChanges
from tservice.review.store import BaseKey

PIXEL = b"\x89PNG\r\n\x1a\n\0pixel"


class ChangesTests(ReviewTestCase):
    """One repository, as a session leaves it."""

    async def read(self, base: str | None = None) -> RepositoryChanges:
        found = await self.world.review.read_changes(SESSION_ID, base)
        return found.repositories[0]

    async def file(self, path: str, base: str | None = None) -> ChangedFile:
        files = {file.display_path: file for file in (await self.read(base)).files}
        return files[path]

    async def test_all_kinds_of_changes_are_listed(self) -> None:
        start = self.commit(kept="1\n2\n", gone="x\n", moved="a\nb\nc\nd\n")
        self.world.store.save_start(SESSION_ID, ".", start, 1)
        self.commit(committed="new\n")
        (self.folder / "gone").unlink()
        os.rename(self.folder / "moved", self.folder / "renamed")
        run_git(self.folder, "add", "-A")
        self.write("kept", "1\n2\n3\n")
        self.write("fresh", "a\nb")
        changes = await self.read()
        found = {
            file.display_path: (file.status.value, file.added, file.removed, *file.kinds)
            for file in changes.files
        }
        self.assertEqual(
            {
                "committed": ("added", 1, 0, "committed"),
                "gone": ("deleted", 0, 1, "staged"),
                "renamed": ("renamed", 0, 0, "staged"),
                "kept": ("modified", 1, 0, "unstaged"),
                "fresh": ("added", 2, 0, "untracked"),
            },
            found,
        )
        totals = changes.totals
        self.assertEqual((5, 4, 1), (totals.files, totals.added, totals.removed))
        self.assertEqual(("main", False), (changes.branch, changes.is_detached))

    async def test_reading_changes_nothing(self) -> None:
        self.commit(a="1\n")
        self.write("a", "2\n")
        self.write("b", "3\n")
        before = folder_fingerprint(self.folder)
        await self.read()
        await self.world.diff("a")
        self.assertEqual(before, folder_fingerprint(self.folder))

    async def test_repository_without_a_commit_has_an_empty_base(self) -> None:
        self.write("first", "1\n")
        changes = await self.read()
        self.assertIs(BaseSource.EMPTY, changes.base.source)
        self.assertEqual(["first"], [file.display_path for file in changes.files])

    async def test_base_is_the_branch_point(self) -> None:
        point = self.commit(a="1\n")
        run_git(self.folder, "checkout", "-q", "-b", "topic")
        self.commit(b="2\n")
        base = (await self.read()).base
        self.assertEqual(
            (BaseSource.BRANCH_POINT, "main", point), (base.source, base.ref, base.commit)
        )

    async def test_base_on_the_default_branch_is_the_start(self) -> None:
        start = self.commit(a="1\n")
        self.assertIs(BaseSource.HEAD, (await self.read()).base.source)
        self.world.store.save_start(SESSION_ID, ".", start, 1)
        self.commit(b="2\n")
        base = (await self.read()).base
        self.assertEqual((BaseSource.SESSION_START, start), (base.source, base.commit))

    async def test_remote_branch_comes_first(self) -> None:
        start = self.commit(a="1\n")
        run_git(self.folder, "update-ref", "refs/remotes/origin/main", start)
        self.commit(b="2\n")
        base = (await self.read()).base
        self.assertEqual(("origin/main", start), (base.ref, base.commit))

    async def test_lost_start_is_passed_over(self) -> None:
        self.commit(a="1\n")
        self.world.store.save_start(SESSION_ID, ".", "0" * 39 + "1", 1)
        self.assertIs(BaseSource.HEAD, (await self.read()).base.source)

    async def test_caller_names_a_base(self) -> None:
        first = self.commit(a="1\n")
        self.commit(b="2\n")
        base = (await self.read(first[:10])).base
        self.assertEqual((BaseSource.NAMED, first), (base.source, base.commit))
        for name in ("nothing", "-x", "a..b", "HEAD@{1}", ":/x", "x y"):
            await self.refuse(400, self.read(name))

    async def test_single_file_is_compared_by_its_blob(self) -> None:
        """With a tree and a path git compares every file of the index with every other one."""
        self.commit(a="1\n", moved="one\ntwo\nthree\n", gone="other\n")
        self.write("a", "2\n")
        (self.folder / "moved").rename(self.folder / "there")
        (self.folder / "gone").unlink()
        self.write("added", "1\n")
        run_git(self.folder, "add", "-A")
        self.write("there", "one\n2\nthree\n")
        paths = [file.display_path for file in (await self.read()).files]
        self.assertEqual({"a", "there", "gone", "added"}, {*paths})
        asked: list[Sequence[str | bytes]] = []
        kind: Any = type(await self.world.copy())
        run = kind.run_git

        async def run_and_note(
            copy: WorkingCopy, words: Sequence[str | bytes], limit: int
        ) -> tuple[bytes, bool]:
            asked.append(words)
            found: tuple[bytes, bool] = await run(copy, words, limit)
            return found

        self.patch(kind, "run_git", run_and_note)
        for path in paths:
            self.assertEqual(1, len((await self.world.diff(path)).page.hunks), path)
        compared = [[*map(str, words)] for words in asked if words[0] == "diff"]
        self.assertEqual(2, len(compared))
        for words in compared:
            blob = words[words.index("--") - 1]
            found = run_git(self.folder, "cat-file", "-t", blob).decode().strip()
            self.assertEqual("blob", found)

    async def choose(self, base: str | None) -> None:
        await self.world.bases.choose(SESSION_ID, await self.world.copy(), base, ANN)

    async def test_chosen_base_is_remembered_for_the_workspace(self) -> None:
        first = self.commit(a="1\n")
        run_git(self.folder, "checkout", "-q", "-b", "release")
        point = self.commit(b="2\n")
        run_git(self.folder, "checkout", "-q", "-b", "topic")
        self.commit(c="3\n")
        run_git(self.folder, "checkout", "-q", "release")
        self.commit(d="4\n")
        run_git(self.folder, "checkout", "-q", "topic")
        await self.choose("release")
        base = (await self.read()).base
        self.assertEqual(
            (BaseSource.CHOSEN, "release", point), (base.source, base.ref, base.commit)
        )
        choices = await self.world.bases.list_choices(SESSION_ID, await self.world.copy())
        self.assertEqual("release", choices.chosen)
        self.assertEqual({"main", "release", "topic"}, {*choices.branches})
        await self.choose("HEAD")
        self.assertEqual([], (await self.read()).files)
        await self.choose("start")
        self.world.store.save_start(SESSION_ID, ".", first, 1)
        self.assertIs(BaseSource.SESSION_START, (await self.read()).base.source)
        await self.choose(None)
        self.assertIs(BaseSource.BRANCH_POINT, (await self.read()).base.source)

    async def test_chosen_base_that_is_gone_is_passed_over(self) -> None:
        self.commit(a="1\n")
        run_git(self.folder, "branch", "gone")
        await self.choose("gone")
        run_git(self.folder, "branch", "-D", "gone")
        self.assertIs(BaseSource.HEAD, (await self.read()).base.source)
        for name in ("gone", "-x", "a b"):
            await self.refuse(400, self.choose(name))

    def test_remembered_bases_are_bounded(self) -> None:
        store = self.world.store
        self.patch(store_module, "MAX_BASES", 3)
        keys = [
            BaseKey(owner="ann", place="local", folder=f"/{number}", repo=".")
            for number in range(5)
        ]
        for number, key in enumerate(keys):
            store.save_base(key, "main", number)
        self.assertEqual([None, None, "main", "main", "main"], [*map(store.find_base, keys)])

    async def test_generated_files_are_known(self) -> None:
        self.commit(**{".gitattributes": "*.gen linguist-generated\n"})
        for name in ("package-lock.json", "x.gen", "a.min.js", "plain"):
            self.write(name, "1\n")
        found = {file.display_path for file in (await self.read()).files if file.is_generated}
        self.assertEqual({"package-lock.json", "x.gen", "a.min.js"}, found)

    async def test_long_lists_are_cut_and_counted(self) -> None:
        self.commit(a="1\n")
        for number in range(MAX_FILES + 5):
            self.write(f"many/{number}", "x\n")
        changes = await self.read()
        self.assertEqual(MAX_FILES, len(changes.files))
        self.assertEqual((MAX_FILES + 5, True), (changes.totals.files, changes.is_truncated))

    async def test_seen_file_is_seen_until_it_changes(self) -> None:
        self.commit(a="1\n")
        self.write("a", "2\n")
        file = await self.file("a")
        await self.world.review.set_viewed(SESSION_ID, None, "a", file.hash, ANN)
        self.assertEqual({"a": file.hash}, self.world.store.list_viewed(SESSION_ID, "."))
        self.write("a", "3\n")
        self.assertNotEqual(file.hash, (await self.file("a")).hash)
        await self.world.review.set_viewed(SESSION_ID, None, "a", None, ANN)
        self.assertEqual({}, self.world.store.list_viewed(SESSION_ID, "."))

    async def test_hash_is_that_of_git(self) -> None:
        self.commit(a="1\n")
        self.write("a", "2\n")
        wanted = run_git(self.folder, "hash-object", "a").decode().strip()
        self.assertEqual(wanted, (await self.file("a")).hash)

    async def test_images_are_shown_before_and_after(self) -> None:
        self.commit(**{"a.png": PIXEL, "b.bin": PIXEL})
        self.write("a.png", PIXEL + b"2")
        self.write("b.bin", PIXEL + b"2")
        found = await self.world.diff("a.png")
        assert found.old_image is not None
        assert found.new_image is not None
        self.assertEqual("image/png", found.new_image.media_type)
        self.assertNotEqual(found.old_image.data, found.new_image.data)
        self.assertIsNone((await self.world.diff("b.bin")).new_image)

    async def test_white_space_can_be_ignored(self) -> None:
        self.commit(a="one two\n")
        self.write("a", "one  two\n")
        self.assertEqual(1, len((await self.world.diff("a")).page.hunks))
        found = await self.world.diff("a", whitespace="ignore")
        self.assertEqual((), tuple(found.page.hunks))

    async def test_unknown_file_and_repository_are_not_found(self) -> None:
        self.commit(a="1\n")
        self.write("b", "1\n")
        for repo, path in ((None, "a"), (None, "../b"), ("other", "b")):
            await self.refuse(404, self.world.review.open_file(SESSION_ID, repo, path, None))

    async def test_nested_repository_is_one_entry(self) -> None:
        self.commit(a="1\n")
        inner = self.folder / "inner"
        inner.mkdir()
        run_git(inner, "init", "-q")
        (inner / "f").write_text("x")
        run_git(inner, "add", "f")
        run_git(inner, "commit", "-q", "-m", "x")
        file = await self.file("inner/")
        self.assertEqual(("untracked", "repository"), tuple(file.kinds))
        self.assertEqual((), tuple((await self.world.diff("inner/")).page.hunks))


class HostileRepositoryTests(ReviewTestCase):
    """Nothing that a repository configures is run."""

    async def test_no_program_of_the_repository_runs(self) -> None:
        proof = self.folder.parent / "ran"
        self.commit(a="1\n", **{".gitattributes": "* filter=evil diff=evil text\n"})
        self.write("a", "2\n")
        self.write("b", "3\n")
        hook = self.write(".git/hooks/post-index-change", f"#!/bin/sh\ntouch {proof}\n")
        hook.chmod(0o755)
        program = f"touch {proof}; cat"
        for key in (
            "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.command",
            "diff.evil.textconv", "diff.external", "core.fsmonitor", "core.pager",
            "core.sshCommand",
        ):  # fmt: skip
            run_git(self.folder, "config", key, program)
        changes = (await self.world.review.read_changes(SESSION_ID)).repositories[0]
        self.assertEqual({"a", "b"}, {file.display_path for file in changes.files})
        await self.world.diff("a")
        await self.world.diff("b")
        self.assertFalse(proof.exists())
