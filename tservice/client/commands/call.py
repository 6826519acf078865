"""C{call}: send one API request."""

from __future__ import annotations

import json

from tservice.client.commands.context import CommandContext
from tservice.client.errors import Unusable


def call(context: CommandContext) -> int:
    """Send one API request and print the payload of the response."""
    words = context.words
    text = context.shell.input.read() if words.body == "-" else words.body
    try:
        body = None if text is None else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unusable(f"the body is not valid JSON: {error}") from None
    context.shell.print_json(context.caller.send_request(words.method.upper(), words.path, body))
    return 0
