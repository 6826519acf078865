"""What becomes of the tables of checks."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve

from tests.unit.store.story_steps import StoryHarness, StoryStep
from tservice.checks.model import CaseChecks, Check, CheckProgress, CheckRun, RunState
from tservice.checks.store import CheckStore

CHECKS = CaseChecks(
    owner="ann", case_name="site", path="/work/site",
    checks=(Check(name="tests", command="make test", timeout_seconds=60, paths=("src/*",)),),
)  # fmt: skip
RUN = CheckRun(id="1", session_id="s", created_at=1)


def tell_checks(world: StoryHarness) -> Sequence[StoryStep]:
    store = CheckStore(world.database)
    green = evolve(RUN, state=RunState.GREEN, finished_at=2)
    progress = CheckProgress(session_id="s", workspace="[]", attempts=1)
    other = evolve(CHECKS, owner="bob")
    return [
        StoryStep(name="saved", do=lambda: store.save_checks(CHECKS)),
        StoryStep(name="more", do=lambda: store.save_checks(evolve(CHECKS, max_attempts=2))),
        StoryStep(name="of another", do=lambda: store.save_checks(other)),
        StoryStep(name="run", do=lambda: store.save_run(RUN)),
        StoryStep(name="ended", do=lambda: store.save_run(green), needs="run"),
        StoryStep(name="asked", do=lambda: store.save_progress(progress)),
        StoryStep(name="gone", do=lambda: store.delete_checks("ann", "SITE"), holds=True),
        StoryStep(name="account gone", do=lambda: store.delete_owner("bob"), holds=True),
    ]
