"""Compare what the rules read with what people saw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from attrs import Factory, define

from tests.frames import HERE, DialogLabel, ScreenRecording
from tservice.core.values.yamltext import parse_yaml
from tservice.terminal.dialogs.dialogs import AgentDialog
from tservice.terminal.dialogs.trust import choose_next_key
from tservice.terminal.frames.screen_frame import ScreenFrame
from tservice.terminal.model_name import find_displayed_model
from tservice.terminal.screen_rules import ScreenRules
from tservice.terminal.screen_status import read_screen

RULES = {
    cli: ScreenRules.from_capabilities(capabilities)
    for cli, capabilities in parse_yaml((HERE / "rules.yaml").read_text("utf-8")).items()
}


@define
class FrameScore:
    """Counts for each question asked of a frame; C{None} as an answer is "nothing there".

    @ivar right: true positives by question: what was there was read exactly.
    @ivar wrong: false positives: something was read that is not there.
    @ivar missed: false negatives: something there was not read, or not as it is.
    @ivar clear: true negatives.
    """

    right: Counter[str] = Factory(Counter)
    wrong: Counter[str] = Factory(Counter)
    missed: Counter[str] = Factory(Counter)
    clear: Counter[str] = Factory(Counter)
    misses: list[str] = Factory(list)

    def add(self, where: str, question: str, label: object, answer: object) -> None:
        """Count one answer."""
        if label == answer:
            (self.right if label else self.clear)[question] += 1
            return
        self.misses.append(f"{where}: {question}: label {label!r}, read {answer!r}")
        if answer:
            self.wrong[question] += 1
        if label:
            self.missed[question] += 1

    def precision(self, question: str) -> float:
        """Share of what was read that is so."""
        read_at_all = self.right[question] + self.wrong[question]
        return self.right[question] / read_at_all if read_at_all else 1.0

    def recall(self, question: str) -> float:
        """Share of what is there that was read."""
        there = self.right[question] + self.missed[question]
        return self.right[question] / there if there else 1.0

    def table(self) -> str:
        """One line a question."""
        lines = [f"{'':16}{'there':>6}{'absent':>7}{'precision':>11}{'recall':>8}"]
        for question in sorted(self.right | self.clear | self.wrong | self.missed):
            there = self.right[question] + self.missed[question]
            absent = self.clear[question]
            precision, recall = self.precision(question), self.recall(question)
            lines.append(f"{question:16}{there:6}{absent:7}{precision:11.3f}{recall:8.3f}")
        return "\n".join(lines)


def score(recordings: Iterable[ScreenRecording]) -> FrameScore:
    """Read every recording and compare."""
    result = FrameScore()
    for recording in recordings:
        rule_sets = [recording.cli] if recording.cli in RULES else list(RULES)
        for cli in list(RULES) if recording.cli == "shell" else rule_sets:
            _one(result, recording, cli)
    return result


def _one(result: FrameScore, recording: ScreenRecording, cli: str) -> None:
    label, rules = recording.label, RULES[cli]
    frame = ScreenFrame.from_capture(recording.best, label.size[0])
    reading = read_screen(frame, label.title, rules)
    where = f"{recording} ({cli})"
    for state in ("dialog", "working", "idle"):
        result.add(where, f"state {state}", label.state == state, reading.state == state)
    result.add(where, "composer", label.composer, reading.composer_ready)
    result.add(where, "model", label.model, find_displayed_model(frame, rules))
    result.add(where, "trust key", label.trust, choose_next_key(frame, rules))
    result.add(where, "limit", bool(label.limit), bool(reading.limit))
    _dialog(result, where, label.dialog, reading.dialog)


def _dialog(
    result: FrameScore, where: str, label: DialogLabel | None, read_: AgentDialog | None
) -> None:
    if label is None or read_ is None:
        return
    checked = tuple(option.n for option in read_.options if option.checked)
    boxes = any(option.checked is not None for option in read_.options)
    selected = read_.selected_option.n if read_.selected_option else None
    result.add(where, "kind", label.kind, str(read_.kind))
    result.add(where, "question", label.question, read_.question)
    result.add(where, "options", label.options, tuple(option.label for option in read_.options))
    result.add(where, "selected", label.selected, selected)
    result.add(where, "checked", label.checked, checked if boxes else None)
