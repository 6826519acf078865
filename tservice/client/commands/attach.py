"""C{attach}: use a session in this terminal."""

from __future__ import annotations

from tservice.client.commands.context import CommandContext
from tservice.client.errors import Unusable
from tservice.client.link.stream import TerminalConnection
from tservice.client.terminal.attach import AttachedTerminal
from tservice.client.terminal.keys import DetachKeyFinder, parse_keys


def attach(context: CommandContext) -> int:
    """Show the session in this terminal until the user detaches or the process ends."""
    words, shell = context.words, context.shell
    keys = parse_keys(words.detach_keys)
    if not shell.input.isatty() or not shell.out.isatty():
        raise Unusable("attach needs a terminal")
    session = context.find_session()
    if session["pid"] is None:
        raise Unusable(f"{session['id']} ({session['name']}) is not running: use tsctl start")
    stream = TerminalConnection(context.caller.address, session["id"])
    stream.connect()
    attachment = AttachedTerminal(
        stream,
        shell.input.fileno(),
        shell.out.fileno(),
        DetachKeyFinder(keys),
        read_only=words.read_only,
    )
    status = attachment.run()
    if attachment.ended is not None:
        known = attachment.ended.status
        shell.print_progress(
            "the process ended" + ("" if known is None else f" with status {known}")
        )
    elif status == 0:
        shell.print_progress(f"detached from {session['name']}")
    return status
