"""Arguments of C{git rev-list}, and parsers for its output."""

from __future__ import annotations

from tservice.git.model import MOST_COMMITS, Commit
from tservice.git.porcelain import BadOutput

FIELD_LIMIT = 1000
"""Characters of an author or subject that are kept."""

LIST = (
    "rev-list",
    f"--max-count={MOST_COMMITS}",
    "--encoding=UTF-8",
    "--format=%an%x00%ct%x00%s",
)
COUNT = ("rev-list", "--count")

SINCE_UPSTREAM = ("@{upstream}..HEAD", "--")
ON_NO_REMOTE = ("HEAD", "--not", "--remotes", "--")

_PREFIX = b"commit "


def parse_commits(output: bytes) -> tuple[Commit, ...]:
    """Parse the output of L{LIST}: for each commit a line C{commit <hash>} and a line of its
    fields.

    @raise BadOutput: it has another form.
    """
    lines = output.split(b"\n")
    if lines.pop() or len(lines) % 2:
        raise BadOutput("the list of commits is incomplete")
    pairs = zip(lines[::2], lines[1::2], strict=True)
    return tuple(_commit(first, second) for first, second in pairs)


def parse_count(output: bytes) -> int:
    """Parse the output of L{COUNT}.

    @raise BadOutput: it is no number.
    """
    text = output.strip()
    if not text.isdigit():
        raise BadOutput("a number of commits was expected")
    return int(text)


def _commit(first: bytes, second: bytes) -> Commit:
    fields = second.split(b"\0")
    if not first.startswith(_PREFIX) or len(fields) != 3:
        raise BadOutput("a commit lacks fields")
    author, time, subject = fields
    return Commit(
        hash=first[len(_PREFIX) :].decode("ascii", "replace"),
        author=_text(author),
        time=int(time) if time.isdigit() else 0,
        subject=_text(subject),
    )


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")[:FIELD_LIMIT]
