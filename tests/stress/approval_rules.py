"""Approval rules against hostile commands, and against dialogs that change at any moment.

C{python -m tests.stress.approval_rules --rounds 10000 --seed 1}

Each round makes one command: of words of rules, of tricks, and of characters.  What the rules allow
is run in bash, with stubs instead of programs that record their arguments.  Each call must be one
that a rule names, no file may be written, and the calls must be those that were parsed.

Each round then lets a rule answer the dialog of a played agent.  Meanwhile the dialog goes away,
another one takes its place, a person answers first, or the rule is deleted.  No key may reach a
dialog that the rule does not name.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from tests.stress.approval_races import delay_commands
from tests.stress.command import report
from tests.unit.agents.approvals.rules.bash_runs import BashRuns
from tests.unit.agents.approvals.rules.hostile_commands import (
    FRIENDLY,
    HOSTILE,
    PREFIXES,
    RULES,
    make_request,
)
from tests.unit.agents.approvals.rules.rule_case import RuleCase
from tests.unit.agents.dialog_client import permission_page
from tests.unit.sessions.harness import ADMIN
from tservice.agents.approvals.rules.command_parser import parse_commands
from tservice.agents.approvals.rules.matching import decide_request
from tservice.agents.approvals.rules.model import RuleAction
from tservice.core.kernel.errors import ServiceError

PROGRAMS = (
    *sorted({words[0] for words in PREFIXES}),
    "rm", "env", "sh", "bash", "curl", "xargs", "find", "sudo", "node", "tee", "head", "x",
)  # fmt: skip
STARTS = tuple(" ".join(words) for words in PREFIXES)
TRICKS = (
    ";", "&&", "||", "|", "&", "|&", "\n", "\r", "\t", " ", "\\\n", "\\", "'", '"', "`", "$(", ")",
    "$(rm x)", "`rm x`", "${x}", "$x", "<(rm x)", ">", ">>", ">x", "<x", "2>x", "2>&1", "&>x",
    ">/dev/null", "<<E\nrm x\nE", "<<<x", "{", "}", "{a,b}", "(", "*", "?", "[a]", "~", "!", "#",
    "#x", "=", "a=b", "PATH=.", "env", "command", "exec", "time", "eval", "alias git=rm", "cd /",
    "rm x", "rm -rf /", "sh", "xargs rm", "| sh", "; rm x", "-c x=y", "--output=x", "--prefix /",
    "-C /", "/etc/passwd", "../x", "~/.ssh/id_rsa", ".env", ".git/hooks/x", "\x00", "\u202e",
    "\u200b", "\u00a0", "\ufffd", "if", "then", "fi", "do", "done", "[[", "]]", "function git",
    "git() { rm x; }", "''", '""', "'a b'", '"a b"', "$'x'", '$"x"', "--", "-", "+x", "@x", "%1",
)  # fmt: skip
PLAIN = (
    "src", "src/a.py", "README.md", "main..dev", "--stat", "--oneline", "-n", "-q", "-la", "5",
    "'my notes'", '"my notes"', "x.y", "a-b", "-5", "--short", "HEAD", "test_a.py::B",
)  # fmt: skip


def make_command(dice: random.Random) -> str:
    """Return a command that may get more from a rule than it names."""
    kind = dice.randrange(5)
    if kind == 0:
        return _change_one_character(dice, dice.choice((*HOSTILE, *FRIENDLY)))
    if kind == 1:
        words = [dice.choice(STARTS), *dice.choices(PLAIN, k=dice.randrange(4))]
        joined = " ".join(words)
        return joined if dice.random() < 0.5 else f"{joined} && {dice.choice(STARTS)}"
    pieces: list[str] = []
    for _ in range(dice.randint(1, 6)):
        pieces.append(dice.choice(dice.choice((STARTS, TRICKS, PLAIN))))
        pieces.append(dice.choice(("", " ", " ")))
    return "".join(pieces)


def _change_one_character(dice: random.Random, text: str) -> str:
    at = dice.randrange(len(text) + 1)
    kept = text[at + dice.randrange(2) :]
    return text[:at] + dice.choice("".join((*TRICKS, *PLAIN))) + kept


class AllowedCommands:
    """Commands that rules allowed, run in bash."""

    def __init__(self) -> None:
        self.bash = BashRuns(PROGRAMS)
        self.seconds: list[float] = []

    def check(self, text: str) -> str:
        """Decide on a command, and return the action; raise if it does more than a rule names."""
        before = perf_counter()
        decision = decide_request(RULES, make_request(text), 0)
        self.seconds.append(perf_counter() - before)
        if decision.action is not RuleAction.ALLOW:
            return str(decision.action)
        calls = self.bash.run(text)
        parsed = sorted(command.words for command in parse_commands(text))
        named = [any(call[: len(words)] == words for words in PREFIXES) for call in calls]
        known = calls == parsed or ("||" in text and set(calls) <= set(parsed))
        written = self.bash.list_written()
        if not all(named) or not known or written:
            raise AssertionError(f"{text!r} ran {calls}, was parsed {parsed}, wrote {written}")
        return "allow"


class RuleRace(RuleCase):
    """Dialogs that change while a rule answers them."""

    def runTest(self) -> None:
        """Do nothing: the rounds are asked for one by one."""

    def begin(self, dice: random.Random) -> None:
        """Prepare the agent and its rule."""
        self.setUp()
        self.session = self.ready()
        self.rule = self.add("npm", "test")
        self.todo: list[Callable[[], object]] = []
        pane: Any = self.sessions.get_pane(self.session.id)
        self.hosted: Any = self.host[self.session.id]
        delay_commands(pane, self.hosted.run_command, self.clock, dice)
        self.machine.hub.subscribe(self.handle_event)

    def handle_event(self, event: Any) -> None:
        """Do what the round wants while the item appears."""
        if event.name == "approval:pending" and self.todo:
            self.todo.pop()()

    def race(self, dice: random.Random) -> str:
        """Let a dialog and a rule race once, and return the ending; raise at a wrong key."""
        client = self.client(self.session)
        client.log.clear()
        client.left.clear()
        at = dice.uniform(0, 1.5)
        self.hosted.is_never_quiet = dice.random() < 0.5
        change = dice.choice((self.swap, self.leave, self.deny, self.drop, self.keep))
        if dice.random() < 0.5:
            self.todo = [change]
        else:
            self.clock.callLater(at, change)
        client.ask(permission_page("npm test"))
        self.hook(
            self.session, "permission_prompt", hook_event_name="PermissionRequest",
            tool_name="Bash", tool_input={"command": "npm test"}, cwd=self.session.working_dir,
        )  # fmt: skip
        self.spend(12)
        wrong = [
            (name, key)
            for name, key in client.log
            if not (name == "npm test" and key in ("1", "Escape"))
        ]
        if wrong or len(client.log) > 1:
            raise AssertionError(f"{change.__name__} at {at}: {client.log}")
        self.clean_up()
        return f"{change.__name__} {'answered' if client.log else 'left'}"

    def swap(self) -> None:
        """Another dialog takes the place of the one that is asked."""
        client = self.client(self.session)
        client.queue = [[permission_page("rm -rf build")]]
        client.begin()

    def leave(self) -> None:
        """The dialog goes away."""
        client = self.client(self.session)
        if client.queue:
            client.leave("elsewhere")

    def deny(self) -> None:
        """A person denies it."""
        item = self.inbox.get_item(self.session.id)
        if item is not None:
            self.start_answer(item, "deny").addErrback(lambda why: why.trap(ServiceError))

    def drop(self) -> None:
        """The rule is deleted."""
        if self.rules.list_rules(ADMIN):
            self.rules.delete_rule(self.rule, ADMIN)

    def keep(self) -> None:
        """Nothing happens."""

    def clean_up(self) -> None:
        """Leave the agent without a dialog, and with the rule."""
        self.todo = []
        client = self.client(self.session)
        while client.queue:
            client.leave("over")
        self.hook(self.session, "stop")
        self.spend(6)
        if not self.rules.list_rules(ADMIN):
            self.rule = self.add("npm", "test")
        self.machine.events.clear()


def run(rounds: int, seed: int) -> Counter[str]:
    """Run so many; raises at the first command or key that no rule names."""
    found: Counter[str] = Counter()
    dice = random.Random(seed)
    allowed = AllowedCommands()
    for _ in range(rounds):
        found[allowed.check(make_command(dice))] += 1
    allowed.bash.close()
    seconds = sorted(allowed.seconds)
    found["microseconds of a decision, p95"] = round(seconds[len(seconds) * 95 // 100] * 1e6)
    with TemporaryDirectory() as folder:
        race = RuleRace()
        race.mktemp = lambda: str(Path(folder) / "race")  # type: ignore[method-assign]
        race.begin(dice)
        for _ in range(rounds):
            found[race.race(dice)] += 1
        race.doCleanups()
    return found


if __name__ == "__main__":
    sys.exit(report(__doc__, run, "rounds", 10_000))
