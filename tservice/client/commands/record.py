"""Records of commands, from which the parser, completion and manual page are made."""

from __future__ import annotations

from typing import NamedTuple


class CommandOption(NamedTuple):
    """Argument or option of a command.

    @ivar names: a single word without a dash for an argument.
    @ivar value: placeholder of the option's value; empty for a switch.
    @ivar help: a sentence without its full stop.
    @ivar number: the value is a whole number of at least 1.
    @ivar bare: the value is optional, and can be given by C{=} only.
    @ivar repeat: for an argument: C{?} when optional, C{+} for one or more.
    @ivar apart: options of a command with the same text here are mutually exclusive.
    @ivar dest: attribute name in the parsed arguments, if it differs from the option's name.
    @ivar completes: kind of completion: C{session}, C{folder}, C{file}, C{signals}, or words.
    """

    names: tuple[str, ...]
    help: str
    value: str = ""
    number: bool = False
    bare: bool = False
    repeat: str = ""
    apart: str = ""
    choices: tuple[str, ...] = ()
    completes: str = ""
    default: str = ""
    dest: str = ""

    @property
    def is_positional(self) -> bool:
        """True for an argument, false for an option."""
        return not self.names[0].startswith("-")

    @property
    def key(self) -> str:
        """Attribute name in the parsed arguments."""
        return self.dest or self.names[-1].lstrip("-").replace("-", "_").lower()


class CommandSpec(NamedTuple):
    """Record of one command.

    @ivar words: its name, of one or two words.
    @ivar does: C{file:function} in this folder; imported when it is run.
    @ivar help: one-line summary.
    @ivar about: further text for the manual page.
    @ivar local: the command runs without a service.
    """

    words: tuple[str, ...]
    does: str
    help: str
    options: tuple[CommandOption, ...] = ()
    about: str = ""
    aliases: tuple[str, ...] = ()
    local: bool = False

    @property
    def name(self) -> str:
        """Command name as typed."""
        return " ".join(self.words)
