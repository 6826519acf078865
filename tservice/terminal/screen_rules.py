"""Rules for one CLI's screen: data from its registry entry (protocol-clis)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, get_args

from attrs import frozen

Shape = Literal["framed", "row", "bar", "mark"]

_ALIKE = (">", "❯", "›")


def get_similar_glyphs(glyph: str) -> tuple[str, ...]:
    """Return the prompt glyphs that may replace C{glyph} inside a composer's frame.

    Clients change the glyph between versions, and use a plain one on terminals that lack the
    others.
    """
    return _ALIKE if glyph in _ALIKE else ()


@frozen(kw_only=True)
class ModelRule:
    """Position of the model's name on the screen.

    @ivar pattern: matches a row; its one group is the name.
    @ivar rows: the number of rows from the bottom that are searched.
    @ivar one_style: the name ends where the style of the row changes, because the provider follows.
    @ivar window: matches a row; its one group is the size of the model's context window.
    """

    pattern: re.Pattern[str]
    rows: int
    one_style: bool = False
    window: re.Pattern[str] | None = None


@frozen(kw_only=True)
class ScreenRules:
    """Rules for reading the screen of one mode.

    The defaults are the conservative ones for an unknown CLI: no composer and no running turn is
    recognized, and dialogs are recognized by their layout only.

    @ivar shape: the shape of the composer. C{framed}: between two rules or in a box; C{row}: a row
        that begins with the glyph, above the footer; C{bar}: rows with a bar on the left; C{mark}:
        unknown, only C{ready_mark} shows it.
    @ivar glyphs: glyphs with which the composer's first row may begin; empty if it has none.
    @ivar colored_hint: a composer whose caret is on the first letter, with the rest in a colour,
        shows the client's own text.
    @ivar ready_mark: text of an empty composer or its footer.
    @ivar working_line: matches a row that exists only while a turn runs.
    @ivar working_title: matches the pane's title only while a turn runs.
    @ivar starting_line: matches a row that exists only while a starting agent shows a composer that
        accepts no keys yet.
    @ivar resuming_screen: matches the rows of an agent that resumes a conversation, until it has
        read the conversation.
    """

    shape: Shape = "mark"
    glyphs: tuple[str, ...] = ()
    colored_hint: bool = False
    ready_mark: str | None = None
    working_line: re.Pattern[str] | None = None
    working_title: re.Pattern[str] | None = None
    starting_line: re.Pattern[str] | None = None
    resuming_screen: re.Pattern[str] | None = None
    model: ModelRule | None = None

    @classmethod
    def from_capabilities(cls, capabilities: Mapping[str, Any]) -> ScreenRules:
        """Return the rules in the capabilities of a registry entry.

        The keys are C{composerReadyMark}, C{composerShape}, C{promptGlyph}, C{coloredHint},
        C{workingLine}, C{workingTitle}, C{startingLine}, C{resumingScreen} and C{modelDetect}.
        Other keys are ignored.

        @raise ValueError: a pattern does not compile or a value is not allowed; the text names the
            field.
        """
        glyph = capabilities.get("promptGlyph")
        shape: Shape = capabilities.get("composerShape") or ("framed" if glyph else "mark")
        if shape not in get_args(Shape):
            raise ValueError(f"composerShape: must be one of {', '.join(get_args(Shape))}")
        return cls(
            shape=shape,
            glyphs=(glyph,) if glyph else (),
            colored_hint=bool(capabilities.get("coloredHint")),
            ready_mark=capabilities.get("composerReadyMark"),
            working_line=_compile_pattern(capabilities, "workingLine"),
            working_title=_compile_pattern(capabilities, "workingTitle"),
            starting_line=_compile_pattern(capabilities, "startingLine"),
            resuming_screen=_compile_pattern(capabilities, "resumingScreen"),
            model=_parse_model_rule(capabilities.get("modelDetect")),
        )


def _compile_pattern(capabilities: Mapping[str, Any], name: str) -> re.Pattern[str] | None:
    text = capabilities.get(name)
    if text is None:
        return None
    try:
        return re.compile(text)
    except re.error as why:
        raise ValueError(f"{name}: invalid regular expression: {why}") from why


def _parse_model_rule(detect: Mapping[str, Any] | None) -> ModelRule | None:
    if detect is None:
        return None
    pattern = _compile_pattern(detect, "pattern")
    if pattern is None or pattern.groups != 1:
        raise ValueError("modelDetect.pattern: must have exactly one group")
    one_style = bool(detect.get("oneStyle"))
    window = _compile_pattern(detect, "window")
    return ModelRule(pattern=pattern, rows=detect["rows"], one_style=one_style, window=window)
