"""What becomes of the tables of checks."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve

from tests.unit.store.story_steps import StoryHarness, StoryStep
from tservice.checks.model import (
    CaseChecks,
    Check,
    CheckProgress,
    CheckRun,
    FailurePolicy,
    RunState,
)
from tservice.checks.repository_file.approval_store import FileApprovalStore
from tservice.checks.repository_file.file_model import CheckFileContent, CheckFolder, FileApproval
from tservice.checks.store import CheckStore
from tservice.core.locations.location import OWN_LOCATION

CHECKS = CaseChecks(
    owner="ann", case_name="site", path="/work/site",
    checks=(Check(name="tests", command="make test", timeout_seconds=60, paths=("src/*",)),),
)  # fmt: skip
FOLDER = CheckFolder(owner="ann", location_id=OWN_LOCATION, path="/work/site")
APPROVAL = FileApproval(
    hash="a" * 64, text="checks: []", approved_at=1, approved_by="ann",
    content=CheckFileContent(
        checks=CHECKS.checks, on_failure=FailurePolicy.NOTIFY, max_attempts=0
    ),
)  # fmt: skip
RUN = CheckRun(id="1", session_id="s", created_at=1)


def tell_checks(world: StoryHarness) -> Sequence[StoryStep]:
    store = CheckStore(world.database)
    green = evolve(RUN, state=RunState.GREEN, finished_at=2)
    progress = CheckProgress(session_id="s", workspace="[]", attempts=1)
    other = evolve(CHECKS, owner="bob")
    files = FileApprovalStore(world.database)
    return [
        StoryStep(name="saved", do=lambda: store.save_checks(CHECKS)),
        StoryStep(name="more", do=lambda: store.save_checks(evolve(CHECKS, max_attempts=2))),
        StoryStep(name="of another", do=lambda: store.save_checks(other)),
        StoryStep(name="run", do=lambda: store.save_run(RUN)),
        StoryStep(name="ended", do=lambda: store.save_run(green), needs="run"),
        StoryStep(name="asked", do=lambda: store.save_progress(progress)),
        StoryStep(name="gone", do=lambda: store.delete_checks("ann", "SITE"), holds=True),
        StoryStep(name="account gone", do=lambda: store.delete_owner("bob"), holds=True),
        StoryStep(name="approved", do=lambda: files.save_approval(FOLDER, APPROVAL)),
        StoryStep(name="withdrawn", do=lambda: files.delete_approval(FOLDER), holds=True),
        StoryStep(name="again", do=lambda: files.save_approval(FOLDER, APPROVAL)),
        StoryStep(
            name="approver gone",
            do=lambda: files.delete_unknown_owners(lambda name: False),
            holds=True,
            needs="again",
        ),
    ]
