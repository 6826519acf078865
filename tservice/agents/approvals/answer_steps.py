"""Validation of answers to dialogs, and the choice of the next key (protocol-approvals).

An answer is given one key at a time. Each key is chosen from the screen after the previous key,
because a fixed list of keys could get out of step with the screen. This module does no I/O.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from attrs import field, frozen

from tservice.clis.interfaces import AnswerKeys
from tservice.core.kernel.errors import make_conflict_error, make_field_error
from tservice.mux.keys import KEYS
from tservice.terminal.composers.composer import still_contains_prompt
from tservice.terminal.dialogs.dialog_kinds import DialogKind, is_decline_label
from tservice.terminal.dialogs.dialog_options import DialogOption
from tservice.terminal.dialogs.dialogs import AgentDialog, is_placeholder

TEXT_LENGTH = 4000
MOST = 9


class AnswerAction(StrEnum):
    """Action of a person on an item."""

    APPROVE = "approve"
    DENY = "deny"
    OPTION = "option"
    OPTIONS = "options"
    TEXT = "text"


@frozen(kw_only=True)
class DialogAnswer:
    """Answer that a person chose for a dialog.

    @ivar options: numbers of the chosen options, from 1 and ascending; exactly one for
        L{AnswerAction.OPTION}.
    @ivar text: the text to enter, for L{AnswerAction.TEXT}.
    @ivar expect_frame: hash of the dialog that the person saw; C{None} accepts the current dialog.
    @ivar reason: the reason for the agent, for L{AnswerAction.DENY}.
    """

    action: AnswerAction
    options: tuple[int, ...] = ()
    text: str = ""
    expect_frame: str | None = None
    reason: str | None = None


@frozen(kw_only=True)
class PressStep:
    """Step that presses a key, which is a digit or a name in C{tservice.mux.keys.KEYS}."""

    key: str


@frozen(kw_only=True)
class PasteStep:
    """Step that pastes a text into the open text field."""

    text: str


@frozen(kw_only=True)
class FinishedStep:
    """Final step: no key is left to press on this page."""


Step = PressStep | PasteStep | FinishedStep


@frozen(kw_only=True)
class PageProgress:
    """Steps that were performed on the present page of the dialog.

    @ivar first: the dialog as it was when the answer began.
    @ivar keys: the keys that the agent's dialogs understand.
    @ivar steps: the steps performed, oldest first.
    """

    first: AgentDialog
    keys: AnswerKeys = field(factory=AnswerKeys)
    steps: tuple[PressStep | PasteStep, ...] = ()


def parse_answer(
    action: AnswerAction,
    option: int | None = None,
    options: tuple[int, ...] | None = None,
    text: str | None = None,
    expect_frame: str | None = None,
    reason: str | None = None,
) -> DialogAnswer:
    """Return the answer, if exactly the fields of its action are given.

    @raise ServiceError: 400: a field is missing or does not belong to the action; the text names
        it.
    """
    given = {"option": option, "options": options, "text": text}
    needed = action.value if action.value in given else None
    for name, value in given.items():
        if value is None and name == needed:
            raise make_field_error(name, f"is needed with action {action}")
        if value is not None and name != needed:
            raise make_field_error(name, f"does not belong to action {action}")
    chosen = (option,) if option is not None else tuple(sorted(set(options or ())))
    if any(not 1 <= number <= MOST for number in chosen):
        raise make_field_error(needed or "options", f"1 to {MOST}")
    if options is not None and (not chosen or len(chosen) != len(options)):
        raise make_field_error("options", "each only once, and at least one")
    if text is not None and not (1 <= len(text) <= TEXT_LENGTH and text.strip()):
        raise make_field_error("text", f"1 to {TEXT_LENGTH} characters, not blank")
    if reason is not None and action is not AnswerAction.DENY:
        raise make_field_error("reason", f"does not belong to action {action}")
    if reason is not None and not (1 <= len(reason) <= TEXT_LENGTH and reason.strip()):
        raise make_field_error("reason", f"1 to {TEXT_LENGTH} characters, not blank")
    return DialogAnswer(
        action=action,
        options=chosen,
        text=text or "",
        expect_frame=expect_frame,
        reason=reason,
    )


def check_answer(answer: DialogAnswer, dialog: AgentDialog) -> None:
    """Check that C{dialog} accepts the answer.

    @raise ServiceError: 400: the dialog does not accept it; the text names the field.
    """
    known = {option.n: option for option in dialog.options}
    for number in get_chosen_options(answer, dialog):
        if number not in known:
            name = "option" if answer.action is AnswerAction.OPTION else str(answer.action)
            raise make_field_error(name, f"the dialog has no option {number}")
    if answer.action is AnswerAction.APPROVE and dialog.page == "multi":
        raise make_field_error("action", "this page needs options")
    if answer.action is AnswerAction.OPTIONS and dialog.page != "multi":
        raise make_field_error("options", "the dialog needs one option")
    if answer.action is AnswerAction.TEXT:
        _check_text(dialog)
    if dialog.page == "multi":
        _check_boxes(answer, known)


def _check_text(dialog: AgentDialog) -> None:
    option = find_free_text(dialog)
    if option is None or dialog.page == "multi":
        raise make_field_error("text", "the dialog has no option for a text")
    if not is_placeholder(option.label):
        raise make_conflict_error("the dialog's field already contains a text")


def _check_boxes(answer: DialogAnswer, known: Mapping[int, DialogOption]) -> None:
    for number in answer.options:
        if known[number].checked is None or known[number].free_text:
            raise make_field_error(str(answer.action), f"option {number} cannot be ticked")


def get_chosen_options(answer: DialogAnswer, dialog: AgentDialog) -> tuple[int, ...]:
    """Return the numbers of the options that the answer picks.

    An approval picks the first option. Where that declines a permission, it picks the next one.
    """
    if answer.action is AnswerAction.APPROVE:
        asks = dialog.kind is DialogKind.PERMISSION
        agreeing = (o.n for o in dialog.options if not (asks and is_decline_label(o.label)))
        return (next(agreeing, 1),)
    return answer.options


def find_free_text(dialog: AgentDialog) -> DialogOption | None:
    """Return the option that opens a field for free text."""
    return next((option for option in dialog.options if option.free_text), None)


def next_step(answer: DialogAnswer, dialog: AgentDialog, progress: PageProgress) -> Step:
    """Return the next step on C{dialog}, which must show the page on which the answer began."""
    if answer.action is AnswerAction.DENY:
        return FinishedStep() if progress.steps else PressStep(key=progress.keys.deny)
    if answer.action is AnswerAction.TEXT:
        return _text_step(answer.text, dialog, progress)
    if dialog.page == "multi":
        return _tick_step(answer, dialog, progress)
    return _pick_step(get_chosen_options(answer, dialog)[0], dialog, progress)


def _pick_step(number: int, dialog: AgentDialog, progress: PageProgress) -> Step:
    own = next((option.key for option in dialog.options if option.n == number), None)
    if own is not None and own in KEYS and not dialog.digits_answer:
        return FinishedStep() if progress.steps else PressStep(key=own)
    if dialog.digits_answer:
        if not progress.steps:
            return PressStep(key=str(number))
        return _confirm_step(number, dialog, progress)
    return _cursor_step(number, dialog, progress)


def _confirm_step(number: int, dialog: AgentDialog, progress: PageProgress) -> Step:
    """Return Enter after a digit, if the frame shows that the digit only moved the highlight."""
    pressed = {step.key for step in progress.steps if isinstance(step, PressStep)}
    was, now = progress.first.selected_option, dialog.selected_option
    moved = now is not None and now.n == number and was is not None and was.n != number
    wants = moved and not (now and now.free_text) and _asks_to_confirm_by_enter(dialog)
    return PressStep(key="Enter") if wants and "Enter" not in pressed else FinishedStep()


def _asks_to_confirm_by_enter(dialog: AgentDialog) -> bool:
    return any("enter to confirm" in row.lower() for row in dialog.context)


def _cursor_step(number: int, dialog: AgentDialog, progress: PageProgress) -> Step:
    """Return the next step in a list without digits: a cursor key, or Enter on the intended row."""
    pressed = [step.key for step in progress.steps if isinstance(step, PressStep)]
    now = dialog.selected_option
    if now is None or "Enter" in pressed or len(pressed) >= 2 * MOST:
        return FinishedStep()
    if now.n == number:
        return PressStep(key="Enter")
    if dialog.page != "single":
        return FinishedStep()
    return PressStep(key=progress.keys.forward if now.n < number else progress.keys.back)


def _tick_step(answer: DialogAnswer, dialog: AgentDialog, progress: PageProgress) -> Step:
    """Return the next step that ticks a box; once all are correct, the step to the next page."""
    if not dialog.digits_answer:
        return FinishedStep()
    boxes = [o for o in dialog.options if o.checked is not None and not o.free_text]
    for option in boxes:
        if option.checked != (option.n in answer.options):
            repeated = progress.steps.count(PressStep(key=str(option.n)))
            # A box that cannot be ticked would otherwise be pressed forever.
            return FinishedStep() if repeated else PressStep(key=str(option.n))
    return FinishedStep() if PressStep(key="Right") in progress.steps else PressStep(key="Right")


def _text_step(text: str, dialog: AgentDialog, progress: PageProgress) -> Step:
    option = find_free_text(progress.first)
    now = dialog.selected_option
    if option is None or not dialog.digits_answer:
        return FinishedStep()
    if now is None or now.n != option.n:
        return FinishedStep() if progress.steps else PressStep(key=str(option.n))
    if PasteStep(text=text) not in progress.steps:
        return PasteStep(text=text)
    # Press Enter only after the exact text, as the field shows it.
    shown = still_contains_prompt(now.label, text)
    return (
        PressStep(key="Enter")
        if shown and PressStep(key="Enter") not in progress.steps
        else FinishedStep()
    )


def is_same_page(first: AgentDialog, now: AgentDialog, typed: bool) -> bool:
    """Return true if C{now} is the same dialog as C{first}, apart from ticks and highlight.

    @param typed: a text was pasted into the field, which changes the label of that option.
    """
    if now.frame_hash == first.frame_hash:
        return True
    same = (now.kind, now.question, now.page) == (first.kind, first.question, first.page)
    labels = [(o.n, None if o.free_text else o.label) for o in first.options]
    own = {o.n for o in first.options if o.free_text}
    return (
        typed and same and labels == [(o.n, None if o.n in own else o.label) for o in now.options]
    )


def are_all_questions_answered(dialog: AgentDialog) -> bool:
    """Return true if every question has an answer, so that the review page may be confirmed."""
    questions = [answered for label, answered in dialog.tabs if label.lower() != "submit"]
    return all(questions)
