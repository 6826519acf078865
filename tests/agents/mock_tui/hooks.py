"""Hooks and status line of a played Claude Code: found, run, given the real payloads."""

from __future__ import annotations

import json
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

TIMEOUT = 60.0
"""Seconds that a hook may take where its entry gives none."""

MATCHED = {
    "Notification": "notification_type",
    "SessionStart": "source",
    "PreToolUse": "tool_name",
    "PostToolUse": "tool_name",
    "PermissionRequest": "tool_name",
    "PreCompact": "trigger",
    "SessionEnd": "reason",
}
"""The field of the payload that an event's matcher is compared with."""


@frozen
class HookCommandRun:
    """One command that waits for its turn."""

    argv: str
    given: str
    timeout: float
    done: Callable[[str], None] | None = None
    is_beside: bool = False
    """Whether those after it begin while it runs: that of a dialog, which stands meanwhile."""


@define
class HookCommandQueue:
    """Runs shell commands one after the other.

    @ivar env: the whole environment of the commands.
    """

    cwd: Path
    env: Mapping[str, str]
    _waiting: deque[HookCommandRun] = field(factory=deque)
    _running: tuple[HookCommandRun, subprocess.Popen[str], float] | None = None
    _beside: list[tuple[HookCommandRun, subprocess.Popen[str], float]] = field(factory=list)

    def add(self, command: HookCommandRun) -> None:
        """Run it once all before it are over."""
        self._waiting.append(command)

    @property
    def idle(self) -> bool:
        """Whether nothing runs or waits."""
        return self._running is None and not self._waiting

    def tick(self) -> None:
        """Reap what ended, end what takes too long, start the next."""
        for held in list(self._beside):
            if self._reap(*held):
                self._beside.remove(held)
        if self._running is not None and self._reap(*self._running):
            self._running = None
        if self._running is None and self._waiting:
            command = self._waiting.popleft()
            begun = command, self._start(command), time.monotonic()
            if command.is_beside:
                self._beside.append(begun)
            else:
                self._running = begun

    def _start(self, command: HookCommandRun) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            ["sh", "-c", command.argv],
            cwd=self.cwd,
            env=dict(self.env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdin is not None
        # A command need not read what it is given.
        with suppress(BrokenPipeError):
            process.stdin.write(command.given)
            process.stdin.close()
        return process

    def _reap(self, command: HookCommandRun, process: subprocess.Popen[str], began: float) -> bool:
        """Whether it is over."""
        if process.poll() is None:
            if time.monotonic() - began > command.timeout:
                process.kill()
            return False
        assert process.stdout is not None
        said = process.stdout.read()
        process.stdout.close()
        if command.done is not None:
            command.done(said)
        return True

    def close(self, patience: float) -> None:
        """Let what waits run to its end, within C{patience} seconds."""
        end = time.monotonic() + patience
        while not self.idle and time.monotonic() < end:
            self.tick()
            time.sleep(0.01)
        for _, process, _ in [*self._beside, *([self._running] if self._running else [])]:
            process.kill()
            process.wait()


def settings(files: Sequence[Path]) -> list[dict[str, Any]]:
    """The settings in those of the files that exist."""
    return [json.loads(path.read_text("utf-8")) for path in files if path.exists()]


def _matches(matcher: str, value: str) -> bool:
    return matcher in ("", "*") or value in matcher.split("|")


def commands(
    found: Sequence[Mapping[str, Any]], event: str, payload: Mapping[str, Any]
) -> Iterator[HookCommandRun]:
    """The commands that the settings have for an event."""
    value = str(payload.get(MATCHED.get(event, ""), ""))
    for each in found:
        for entry in each.get("hooks", {}).get(event, []):
            if not _matches(str(entry.get("matcher", "")), value):
                continue
            for hook in entry["hooks"]:
                timeout = float(hook.get("timeout", TIMEOUT))
                yield HookCommandRun(hook["command"], json.dumps(payload), timeout)


def status_line(found: Sequence[Mapping[str, Any]]) -> str | None:
    """The status line's command; a later file wins."""
    lines = [each["statusLine"]["command"] for each in found if "statusLine" in each]
    return lines[-1] if lines else None
