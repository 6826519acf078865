"""C{attach}: use a session in this terminal."""

from __future__ import annotations

from tservice.client.commands.context import Context
from tservice.client.errors import Unusable
from tservice.client.link.stream import Stream
from tservice.client.terminal.attach import AttachedTerminal
from tservice.client.terminal.keys import Detacher, parse_keys


def attach(context: Context) -> int:
    """Run the session in this terminal until the user detaches or the process ends."""
    words, shell = context.words, context.shell
    keys = parse_keys(words.detach_keys)
    if not shell.input.isatty() or not shell.out.isatty():
        raise Unusable("attach needs a terminal")
    session = context.session()
    if session["pid"] is None:
        raise Unusable(f"{session['id']} ({session['name']}) is not running: use tsctl start")
    stream = Stream(context.caller.address, session["id"])
    stream.connect()
    attachment = AttachedTerminal(
        stream,
        shell.input.fileno(),
        shell.out.fileno(),
        Detacher(keys),
        read_only=words.read_only,
    )
    status = attachment.run()
    if attachment.ended is not None:
        known = attachment.ended.status
        shell.tell("the process ended" + ("" if known is None else f" with status {known}"))
    elif status == 0:
        shell.tell(f"detached from {session['name']}")
    return status
