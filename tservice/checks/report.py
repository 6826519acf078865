"""Text of a check's output, and the prompt that sends failures to the agent."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tservice.checks.model import CheckResult, CheckState
from tservice.core.values.program_output import clean_program_output

SHOWN_CHARS = 8000
"""Maximum characters of a check's output that are kept."""
PROMPT_CHARS = 12_000
"""Maximum characters of output in one prompt, shared by the checks that failed."""
LINE_CHARS = 500
"""Maximum characters of one line of output in a prompt."""

_PASSED = re.compile(r"\b([0-9]{1,7}) (?:tests? )?(?:passed|passing)\b")
_FAILED = re.compile(r"\b([0-9]{1,7}) (?:tests? )?(?:failed|failing)\b")
_TRIAL = re.compile(r"^Ran ([0-9]{1,7}) tests? in ", re.MULTILINE)
_SUMMARY_LINES = 15
"""Number of last lines in which a summary of tests is searched."""


def clean_output(data: bytes) -> str:
    """Return the end of a check's output as plain text."""
    return clean_program_output(data)[-SHOWN_CHARS:]


def count_tests(output: str) -> tuple[int | None, int | None]:
    """Return the numbers of passed and failed tests, as far as the output ends with a summary."""
    end = "\n".join(output.split("\n")[-_SUMMARY_LINES:])
    passed, failed = _PASSED.findall(end), _FAILED.findall(end)
    if passed or failed:
        return int(passed[-1]) if passed else 0, int(failed[-1]) if failed else None
    ran = _TRIAL.findall(end)
    return (int(ran[-1]), None) if ran and "\nOK" in end else (None, None)


def format_failures(failures: Sequence[CheckResult]) -> str:
    """Return the prompt that asks the agent to repair what made the checks fail."""
    room = PROMPT_CHARS // max(1, len(failures))
    blocks = [_format_failure(each, room) for each in failures]
    what = "A check" if len(failures) == 1 else f"{len(failures)} checks"
    first = f"{what} of this workspace failed after your last turn. Please repair the cause."
    return "\n\n".join([first, *blocks])


def _format_failure(result: CheckResult, room: int) -> str:
    lines = [f"Check {result.name} {describe_end(result)}.", "Command:", *_fence(result.command)]
    shown = [_cut_line(line) for line in result.output.split("\n")]
    text = "\n".join(shown)
    if not text.strip():
        return "\n".join([*lines, "It printed nothing."])
    is_cut = len(text) > room
    title = "End of its output:" if is_cut or len(result.output) >= SHOWN_CHARS else "Output:"
    return "\n".join([*lines, title, *_fence(text[-room:])])


def describe_end(result: CheckResult) -> str:
    """Return a phrase for the end of a check that is not green."""
    if result.state is CheckState.TIMED_OUT:
        return "did not end in time and was stopped"
    if result.state is CheckState.FLOODED:
        return "printed too much and was stopped"
    if result.status is None:
        return "was ended by a signal"
    return f"ended with exit status {result.status}"


def _cut_line(line: str) -> str:
    return line if len(line) <= LINE_CHARS else line[:LINE_CHARS] + "..."


def _fence(text: str) -> list[str]:
    """Enclose text in marks that it does not contain."""
    mark = "```"
    while mark in text:
        mark += "`"
    return [mark, text, mark]
