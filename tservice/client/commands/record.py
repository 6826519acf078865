"""What a command is: the parser, completion and the manual page are made from these records."""

from __future__ import annotations

from typing import NamedTuple


class Option(NamedTuple):
    """An argument or an option.

    @ivar names: one word without a dash for an argument.
    @ivar value: what an option's value is called; empty: it is a switch.
    @ivar help: a sentence without its full stop.
    @ivar number: the value is a whole number of at least 1.
    @ivar bare: an option that may stand without a value, which is then only given by C{=}.
    @ivar repeat: of an argument: C{?} for one that may be missing, C{+} for one or more.
    @ivar apart: options of one command with the same word here exclude each other.
    @ivar dest: its name among the parsed words, where its own is taken.
    @ivar completes: what completion offers: C{session}, C{folder}, C{file}, C{signals}, or words.
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
    def positional(self) -> bool:
        """Whether it is an argument."""
        return not self.names[0].startswith("-")

    @property
    def key(self) -> str:
        """Its name among the parsed words."""
        return self.dest or self.names[-1].lstrip("-").replace("-", "_").lower()


class Command(NamedTuple):
    """One command.

    @ivar words: its name, of one word or two.
    @ivar does: C{file:function} in this folder; imported when it is run.
    @ivar help: one line.
    @ivar about: more of it, for the manual page.
    @ivar local: it asks no service.
    """

    words: tuple[str, ...]
    does: str
    help: str
    options: tuple[Option, ...] = ()
    about: str = ""
    aliases: tuple[str, ...] = ()
    local: bool = False

    @property
    def name(self) -> str:
        """Its name as typed."""
        return " ".join(self.words)
