"""Records that describe commands. The parser, the completion and the manual page use them."""

from __future__ import annotations

from typing import NamedTuple


class CommandOption(NamedTuple):
    """Argument or option of a command.

    @ivar names: names of an option; a single name without a dash for an argument.
    @ivar value: placeholder of the option's value in the help. Empty for a switch.
    @ivar help: help text, a sentence without the full stop.
    @ivar number: true if the value is a whole number of at least 1.
    @ivar bare: true if the value is optional. It can then be given with C{=} only.
    @ivar repeat: for an argument, C{?} if it is optional, or C{+} for one or more.
    @ivar apart: name of a group of mutually exclusive options; empty if there is none.
    @ivar dest: name in the parsed arguments, if it differs from the option's name.
    @ivar completes: kind of completion: C{session}, C{folder}, C{file}, C{signals}, or the possible
        values.
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
        """Name of the value in the parsed arguments."""
        return self.dest or self.names[-1].lstrip("-").replace("-", "_").lower()


class CommandSpec(NamedTuple):
    """Record that describes one command.

    @ivar words: name of the command, one or two words.
    @ivar does: function to run as C{file:function} in this folder. It is imported when the command
        is run.
    @ivar help: summary in one line.
    @ivar about: further text for the manual page.
    @ivar local: true if the command needs no service.
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
        """Name of the command as the user types it."""
        return " ".join(self.words)
