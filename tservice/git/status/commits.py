"""Arguments of C{git rev-list}, and parsers for its output."""

from __future__ import annotations

from tservice.git.model import MAX_COMMITS, UnpushedCommit
from tservice.git.status.porcelain import GitOutputError

FIELD_LIMIT = 1000
"""Maximum characters that are kept of an author or a subject."""

LIST = (
    "rev-list",
    f"--max-count={MAX_COMMITS}",
    "--encoding=UTF-8",
    "--format=%an%x00%ct%x00%s",
)
COUNT = ("rev-list", "--count")
COUNT_LIMIT = 100
"""Maximum size in bytes of the output of L{COUNT}."""

SINCE_UPSTREAM = ("@{upstream}..HEAD", "--")
ON_NO_REMOTE = ("HEAD", "--not", "--remotes", "--")

_PREFIX = b"commit "


def parse_commits(output: bytes) -> tuple[UnpushedCommit, ...]:
    """Parse the output of git for the arguments L{LIST}.

    Each commit has a line C{commit <hash>} and a line with its fields.

    @raise GitOutputError: the output has another form.
    """
    lines = output.split(b"\n")
    if lines.pop() or len(lines) % 2:
        raise GitOutputError("the list of commits is incomplete")
    pairs = zip(lines[::2], lines[1::2], strict=True)
    return tuple(_parse_commit(first, second) for first, second in pairs)


def parse_count(output: bytes) -> int:
    """Parse the output of git for the arguments L{COUNT}.

    @raise GitOutputError: the output is no number.
    """
    text = output.strip()
    if not text.isdigit():
        raise GitOutputError("a number of commits was expected")
    return int(text)


def _parse_commit(first: bytes, second: bytes) -> UnpushedCommit:
    fields = second.split(b"\0")
    if not first.startswith(_PREFIX) or len(fields) != 3:
        raise GitOutputError("a commit lacks fields")
    author, time, subject = fields
    return UnpushedCommit(
        hash=first[len(_PREFIX) :].decode("ascii", "replace"),
        author=_decode_text(author),
        time=int(time) if time.isdigit() else 0,
        subject=_decode_text(subject),
    )


def _decode_text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")[:FIELD_LIMIT]
