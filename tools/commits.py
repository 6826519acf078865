"""Check the messages of the commits that are newer than this file.

A subject is C{area: Imperative summary} of at most 72 characters, and a body says why.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
THIS = "tools/commits.py"
SUBJECT = re.compile(r"[a-z][\w./, -]*: (?P<verb>[A-Z][a-z]+)\b.*[^.]")
MOST_CHARACTERS = 72
VAGUE_VERBS = frozenset({"Have", "Let", "Say", "Tell"})
MOOD = re.compile(r"(?:ed|ing)$")
IMPERATIVES = frozenset(
    {"Bring", "Embed", "Exceed", "Feed", "Need", "Proceed", "Seed", "Shed", "Speed", "String"}
)


def find_fault(message: str) -> str | None:
    """Return what is wrong with a commit message, or C{None}."""
    subject, _, body = message.strip().partition("\n")
    found = SUBJECT.fullmatch(subject)
    if found is None:
        return "the subject is not of the form 'area: Imperative summary'"
    if len(subject) > MOST_CHARACTERS:
        return f"the subject has {len(subject)} characters, {MOST_CHARACTERS} at most"
    verb = found["verb"]
    if verb in VAGUE_VERBS:
        return f"{verb} says little: name what the commit does, such as Fix, Add, Remove, Rename"
    if MOOD.search(verb) and verb not in IMPERATIVES:
        return f"{verb} is not an imperative"
    if not body.strip():
        return "there is no body that says why"
    return None


def read_messages() -> dict[str, str]:
    """Return the messages of the commits after the one that added this file, by short hash."""
    added = _git("log", "--diff-filter=A", "--format=%H", "--", THIS).split()
    span = f"{added[-1]}..HEAD" if added else "HEAD"
    records = _git("log", "--no-merges", "--format=%h%x00%B%x01", span).split("\x01")
    pairs = (record.strip().partition("\0") for record in records if record.strip())
    return {commit: message for commit, _, message in pairs}


def _git(*words: str) -> str:
    command = ["git", "-C", str(ROOT), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main() -> int:
    """Print each fault; return how the program ends."""
    if not (ROOT / ".git").exists():
        print("commits: no history here, nothing was checked")
        return 0
    messages = read_messages()
    faults = {commit: fault for commit, text in messages.items() if (fault := find_fault(text))}
    for commit, fault in faults.items():
        print(f"{commit}: {fault}: {messages[commit].splitlines()[0]}")
    print(f"commits: {len(messages)} checked, {len(faults)} at fault")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
