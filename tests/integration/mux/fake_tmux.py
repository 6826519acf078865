"""A tmux that is none: what an OS user can put in the place of the server of a session of theirs.

Run as C{tmux -C attach-session}.  It attaches and answers as tmux does, until the line C{attack}
comes; then it does what the file C{scenario} beside it names, for ever.  The file C{state} holds
what it says of its pane.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(sys.argv[0]).parent
PIECE = 64 * 1024
STREAMS = {
    "endless line": b"x" * PIECE,
    "endless answer": b"\n" * PIECE,
    "long answer": (b"y" * 1000 + b"\n") * 64,
    "renamed": b"%window-renamed @0 dead\n" * 2500,
    "sizes": b"%layout-change @0 b25d,80x24,0\n%layout-change @0 b25d,81x25,0\n" * 1000,
    "unasked answers": b"%begin 7 7 1\n%end 7 7 1\n" * 2500,
    "hooks": b"%begin 7 7 0\n%end 7 7 0\n" * 2500,
    "others": b"%output %0 a\n%output %1 b\n%session-changed $9 other\n" * 1000,
    "escapes": b"%output %0 " + b"\\033\\" * 12_000 + b"\n",
    "words": b"%output %0 \\033]7773;TOKEN;started;1\\007\n" * 1500,
}
BEGINS = {"endless answer": b"%begin 7 7 1\n", "long answer": b"%begin 7 7 1\n"}


def say(data: bytes) -> None:
    """Write all of it."""
    while data:
        data = data[os.write(1, data) :]


def answer(number: int, command: bytes) -> None:
    """As tmux would, as far as the service looks."""
    text = b""
    if b"pane_dead_status" in command:
        text = (HERE / "state").read_bytes() + b"\n"
    elif b"pane_width" in command:
        text = (HERE / "size").read_bytes() + b"\n"
    elif command.startswith(b"capture-pane"):
        text = b"row\n" * 24
    elif command.startswith(b"refuse"):
        say(b"%%begin 2 %d 1\n%b\n%%error 2 %d 1\n" % (number, b"no " * 300_000, number))
        return
    say(b"%%begin 2 %d 1\n%b%%end 2 %d 1\n" % (number, text, number))


def main() -> None:
    """Speak until nobody listens."""
    say(b"%begin 1 1 0\n%end 1 1 0\n")
    number = 0
    for line in sys.stdin.buffer:
        if line == b"attack\n":
            name = (HERE / "scenario").read_text("ascii")
            say(BEGINS.get(name, b""))
            while True:
                say(STREAMS[name])
        for command in line.rstrip(b"\n").split(b" ; "):
            number += 1
            answer(number, command)


if __name__ == "__main__":
    main()
