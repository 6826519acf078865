"""Changes of a workspace are recognised, with real repositories."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

from tests.unit.git.random_repositories import run_git
from tests.unit.review.review_harness import SESSION_ID, ReviewTestCase
from tservice.checks import workspace_state
from tservice.checks.workspace_state import WorkspaceState, WorkspaceStates


class WorkspaceStateTests(ReviewTestCase):
    def setUp(self) -> None:
        super().setUp()
        copies: Any = self.world.review._copies
        self.states = WorkspaceStates(copies)

    async def read(self) -> WorkspaceState:
        found = await self.states.read_state(SESSION_ID)
        assert found is not None
        self.assertEqual(found, WorkspaceState.from_text(found.to_text()))
        return found

    async def changed(self, before: WorkspaceState) -> frozenset[str] | None:
        return await self.states.list_changed(SESSION_ID, before, await self.read())

    async def test_changes_of_content_are_listed(self) -> None:
        self.commit(kept="a\n", edited="a\n")
        before = await self.read()
        self.assertEqual(before.to_text(), (await self.read()).to_text())
        self.write("edited", "b\n")
        self.write("new/file", "c\n")
        self.assertEqual({"edited", "new/file"}, await self.changed(before))
        middle = await self.read()
        self.write("edited", "c\n")
        self.assertEqual({"edited"}, await self.changed(middle))

    async def test_committed_files_are_listed(self) -> None:
        self.commit(one="a\n", two="a\n")
        before = await self.read()
        self.commit(two="b\n")
        self.assertEqual({"two"}, await self.changed(before))

    async def test_first_commit_may_change_everything(self) -> None:
        self.write("one", "a\n")
        before = await self.read()
        self.commit()
        self.assertIsNone(await self.changed(before))

    async def test_ignored_files_do_not_count(self) -> None:
        self.commit(**{".gitignore": "out\n"})
        before = await self.read()
        self.write("out", "x")
        self.assertEqual(before.to_text(), (await self.read()).to_text())

    async def test_state_with_very_many_files_is_unknown(self) -> None:
        for name in "abc":
            self.write(name, name)
        with patch.object(workspace_state, "MAX_FILES", 2):
            self.assertIsNone(await self.states.read_state(SESSION_ID))
        with patch.object(workspace_state, "_STATUS_BYTES", 2):
            self.assertIsNone(await self.states.read_state(SESSION_ID))

    async def test_folder_without_a_repository_has_no_state(self) -> None:
        run_git(self.folder, "init", "-q")
        (self.folder / ".git").rename(self.folder.parent / "elsewhere")
        self.assertIsNone(await self.states.read_state(SESSION_ID))

    async def test_history_that_was_lost_may_change_everything(self) -> None:
        self.commit(one="a\n")
        before = WorkspaceState({".": "c" * 40}, {})
        self.assertIsNone(await self.changed(before))
