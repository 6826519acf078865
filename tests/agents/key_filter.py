"""A program in a terminal of its own, to which some keys do not come through.

C{python -m tests.agents.key_filter GATE PROGRAM [ARGUMENTS]}: until a file GATE is there, each
Enter
outside of a paste is lost, and so are the keys that move a caret to the ends of its row.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import sys
import termios
import tty
from pathlib import Path

_PASTE = re.compile(rb"(\x1b\[200~.*?(?:\x1b\[201~|$))", re.DOTALL)
_LOST = re.compile(rb"\r|\x01|\x05|\x1b(?:\[[14]~|\[[HF]|O[HF])")


def filter_keys(data: bytes) -> bytes:
    """What comes through; a paste does as it is."""
    parts = _PASTE.split(data)
    return b"".join(part if at % 2 else _LOST.sub(b"", part) for at, part in enumerate(parts))


def main(gate: Path, argv: list[str]) -> int:
    """Run it, and end as it ends."""
    child, terminal = pty.fork()
    if child == 0:
        os.execv(argv[0], argv)

    def resize(*_: object) -> None:
        size = fcntl.ioctl(0, termios.TIOCGWINSZ, b"\0" * 8)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, size)

    signal.signal(signal.SIGWINCH, resize)
    resize()
    tty.setraw(0)
    while True:
        ready, _, _ = select.select([0, terminal], [], [])
        try:
            if terminal in ready:
                data = os.read(terminal, 65536)
                if not data:
                    break
                os.write(1, data)
            if 0 in ready:
                data = os.read(0, 65536)
                os.write(terminal, data if gate.exists() else filter_keys(data))
        except OSError:
            break
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def install_sieve(folder: Path, gate: Path, program: Path) -> None:
    """Put the program behind the sieve where it is looked for first: in C{folder}."""
    root = Path(__file__).resolve().parents[2]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / program.name
    path.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(root)!r})\n"
        "from pathlib import Path\nfrom tests.agents.key_filter import main\n"
        f"sys.exit(main(Path({str(gate)!r}), [{str(program)!r}, *sys.argv[1:]]))\n"
    )
    path.chmod(0o755)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
