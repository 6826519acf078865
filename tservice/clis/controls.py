"""Controls that change the model, effort or permission mode of a running agent
(protocol-controls).
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, field_validator, model_validator

from tservice.clis.field_types import CliRecord, PlainWord, Text, compile_pattern

VALUE = "{value}"
_Pattern = Annotated[str, StringConstraints(min_length=1, max_length=200)]


_Key = Literal["S-Tab", "Tab", "M-.", "M-,"]


class CycleControl(CliRecord):
    """Key that switches a setting to its next value.

    @ivar back: key that switches to the previous value, if the values in C{shown} do not wrap
        around. C{shown} then starts with the lowest value.
    @ivar shown: regular expressions by value. Each is searched in the rows of the screen, and the
        lowest matching row determines the current value.
    @ivar otherwise: current value if no expression matches.
    """

    key: _Key
    back: _Key | None = None
    shown: Annotated[dict[PlainWord, _Pattern], Field(min_length=1, max_length=8)]
    otherwise: PlainWord | None = None

    @field_validator("shown")
    @classmethod
    def _require_valid_patterns(cls, shown: dict[str, str]) -> dict[str, str]:
        for pattern in shown.values():
            compile_pattern(pattern)
        return shown


class CommandControl(CliRecord):
    """Command that is submitted to the agent to change a setting.

    @ivar words: text to submit, in which C{{value}} is replaced by the new value.
    @ivar told: regular expression that is searched in the rows after the command. Its only group is
        the new value as the agent displays it.
    @ivar confirms: regular expression for the option that confirms the change, if the agent asks.
    @ivar echoes: true if the agent displays the command above the row that C{told} matches.
    """

    words: Annotated[Text, StringConstraints(pattern=r"^/[a-z]", max_length=64)]
    told: _Pattern
    confirms: _Pattern | None = None
    echoes: bool = True

    def format_command(self, value: str) -> str:
        """Return the text to submit for the new value C{value}."""
        return self.words.replace(VALUE, value)

    @field_validator("words")
    @classmethod
    def _require_one_value_placeholder(cls, words: str) -> str:
        if words.count(VALUE) != 1:
            raise ValueError(f"must have {VALUE} once")
        return words

    @field_validator("confirms")
    @classmethod
    def _require_valid_pattern(cls, pattern: str | None) -> str | None:
        if pattern is not None:
            compile_pattern(pattern)
        return pattern

    @field_validator("told")
    @classmethod
    def _one_group(cls, pattern: str) -> str:
        if compile_pattern(pattern).groups != 1:
            raise ValueError("must have exactly one group")
        return pattern


class AgentControl(CliRecord):
    """Setting of a running agent, and the way to change it.

    @ivar param: launch parameter whose values and privileges apply here too. C{None} means that the
        values are those in C{shown} of a L{CycleControl}.
    """

    param: Annotated[str, StringConstraints(pattern=r"^[a-z][A-Za-z0-9]{0,31}$")] | None = None
    way: CycleControl | CommandControl

    @model_validator(mode="after")
    def _require_param_or_cycle(self) -> Self:
        if self.param is None and not isinstance(self.way, CycleControl):
            raise ValueError("param must name a launch parameter, except with shown")
        return self


class ControlCapabilities(CliRecord):
    """Settings that can be changed while an agent runs. C{None} means that a setting cannot be
    changed.
    """

    model: AgentControl | None = None
    effort: AgentControl | None = None
    permission_mode: AgentControl | None = None
