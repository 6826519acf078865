"""An agent that says what it is told to, where no Python runs: for OS users and containers.

It keeps pi's transcript of two turns, the second of which begins once there is a file C{again} in
its folder.
"""

from __future__ import annotations

from pathlib import Path

CONVERSATION = "01a20200-192b-70d8-9a51-c50e1d9f1882"
FIRST = [("user", "what is one"), ("assistant", "one")]
SECOND = [("user", "what is two"), ("assistant", "two")]
_SCRIPT = """#!/usr/bin/bash
export TZ=UTC
folder="$HOME/.pi/agent/sessions/--NAME--"
file="$folder/2026_CONVERSATION.jsonl"
mkdir -p "$folder"
tell() { printf '{%s,"timestamp":"%(%FT%TZ)T"}\\n' "$1" -1 >>"$file"; }
say() {
  tell '"type":"message","message":{"role":"'$1'","content":[{"type":"text","text":"'"$2"'"}]}'
}
tell '"type":"session","version":3,"id":"CONVERSATION","cwd":"CWD"'
FIRST
while [ ! -e again ]; do sleep 0.1; done
SECOND
exec sleep 1000
"""


def write_scripted_pi(program: Path, folder: str) -> None:
    """Write it as an executable.

    @param folder: the folder in which it will work, as it is called there.
    """
    turns = {
        name: "\n".join(f"say {role} '{text}'" for role, text in turn)
        for name, turn in (("FIRST", FIRST), ("SECOND", SECOND))
    }
    script = _SCRIPT
    values = {"NAME": folder.strip("/").replace("/", "-"), "CWD": folder, **turns}
    for name, value in {**values, "CONVERSATION": CONVERSATION}.items():
        script = script.replace(name, value)
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(script, "utf-8")
    program.chmod(0o755)
