"""The folders of accounts are moved to their ids, where nothing is on the disk but the database."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.unit.store.story_steps import StoryHarness, StoryStep
from tservice.core.config.model import Config
from tservice.core.logs.redact import SecretRedactor
from tservice.runtime.launch_context import LaunchContext
from tservice.tap.accountfolders import move_account_folders

NOWHERE = Path("/nowhere")
ROWS = (
    "INSERT INTO account_moves VALUES ('a', 'ann')",
    "INSERT INTO intents VALUES ('k', 'ann', '/nowhere/cases/ann/x', '[]', '[]', 1)",
    "INSERT INTO cron_jobs (id, owner, definition, created_at, updated_at, completed_once, covered,"
    """ skipping) VALUES ('j', 'ann', '{"working_dir": "/nowhere/cases/ann"}', 1, 1, 0, 0, 0)""",
)


def tell_moves(world: StoryHarness) -> Sequence[StoryStep]:
    """The account of before, and the start that moves its folder."""
    config = Config(data_dir=NOWHERE / "data", cases_dir=NOWHERE / "cases")
    program = LaunchContext(
        reactor=world.clock, config=config, environ={}, home=NOWHERE, redactor=SecretRedactor()
    )

    def list_account() -> None:
        with world.database.transaction():
            for row in ROWS:
                world.database.execute(row)

    def move() -> None:
        move_account_folders(program, world.database)

    return [
        StoryStep(name="listed", do=list_account),
        StoryStep(name="moved", do=move, needs="listed"),
    ]
