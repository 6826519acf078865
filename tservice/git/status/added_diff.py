"""Diff of an untracked file, made without running git.

No attributes or filters apply.  Symbolic links are not followed, neither at the file's own path nor
in the folders above it.
"""

from __future__ import annotations

import os
import stat

from attrs import frozen

from tservice.git.model import DIFF_LIMIT, FileDiff

_BINARY_PROBE = 8000
"""Number of leading bytes that git searches for a NUL to recognise a binary file."""
_ESCAPES = {
    0x07: "\\a",
    0x08: "\\b",
    0x09: "\\t",
    0x0A: "\\n",
    0x0B: "\\v",
    0x0C: "\\f",
    0x0D: "\\r",
    0x22: '\\"',
    0x5C: "\\\\",
}


@frozen(kw_only=True)
class FileContent:
    """Content of a file or symbolic link in the working tree.

    @ivar mode: file mode as git writes it, for example C{100644}.
    @ivar data: the first bytes of the file, or the target of the symbolic link.
    @ivar whole: true if C{data} is the complete content.
    """

    mode: str
    data: bytes
    whole: bool = True


def format_added_diff(path: bytes, content: FileContent) -> FileDiff:
    """Return the diff that C{git diff --no-index /dev/null <path>} prints, without its C{index}
    line.
    """
    old, new = _quote_path(b"a/" + path), _quote_path(b"b/" + path)
    head = f"diff --git {old} {new}\nnew file mode {content.mode}\n"
    if b"\0" in content.data[:_BINARY_PROBE]:
        return FileDiff(diff=f"{head}Binary files /dev/null and {new} differ\n", binary=True)
    if not content.data:
        return FileDiff(diff=head, truncated=not content.whole)
    tail = "\t" if b" " in path and not new.startswith('"') else ""
    head += f"--- /dev/null\n+++ {new}{tail}\n"
    lines, whole = _fit_lines(content, DIFF_LIMIT - len(head.encode()))
    body = "".join("+" + line.decode("utf-8", "replace") + "\n" for line in lines)
    end = _end_marker(content.data) if whole else ""
    return FileDiff(diff=f"{head}{_hunk_header(len(lines))}{body}{end}", truncated=not whole)


def _hunk_header(lines: int) -> str:
    return f"@@ -0,0 +1{f',{lines}' if lines != 1 else ''} @@\n"


def _end_marker(data: bytes) -> str:
    return "" if data.endswith(b"\n") else "\\ No newline at end of file\n"


def _fit_lines(content: FileContent, room: int) -> tuple[list[bytes], bool]:
    """Select as many lines as fit into C{room} bytes together with their hunk header.

    @return: the lines, and true if no line was left out.
    """
    lines = content.data.removesuffix(b"\n").split(b"\n")
    room -= len(_hunk_header(len(lines)))
    # Every line gets a plus and a line feed.
    added = sum(map(len, lines)) + 2 * len(lines)
    if content.whole and added + len(_end_marker(content.data)) <= room:
        return lines, True
    kept, left = [], room
    for line in lines:
        if len(line) + 2 > left:
            break
        kept.append(line)
        left -= len(line) + 2
    return (kept or [lines[0][: room - 2]]), False


def _quote_path(path: bytes) -> str:
    """Return a path as git writes it with C{core.quotePath=false}."""
    if not any(byte < 0x20 or byte in (0x22, 0x5C, 0x7F) for byte in path):
        return path.decode("utf-8", "replace")

    escaped = b"".join(map(_escape_byte, path))
    return f'"{escaped.decode("utf-8", "replace")}"'


def _escape_byte(byte: int) -> bytes:
    if byte in _ESCAPES:
        return _ESCAPES[byte].encode()
    if byte < 0x20 or byte == 0x7F:
        return b"\\%03o" % byte
    return bytes([byte])


def read_content(root: bytes, path: bytes) -> FileContent | None:
    """Return the content of C{path} below C{root}; C{None} if it is neither a file nor a symlink.

    At most L{DIFF_LIMIT} bytes are read.

    @raise OSError: the file no longer exists, or a folder above it is a symlink.
    """
    *folders, name = path.split(b"/")
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    here = os.open(root, flags)
    try:
        for folder in folders:
            inner = os.open(folder, flags, dir_fd=here)
            os.close(here)
            here = inner
        return _read_entry(name, here)
    finally:
        os.close(here)


def _read_entry(name: bytes, folder: int) -> FileContent | None:
    mode = os.lstat(name, dir_fd=folder).st_mode
    if stat.S_ISLNK(mode):
        return FileContent(mode="120000", data=os.readlink(name, dir_fd=folder))
    if not stat.S_ISREG(mode):
        return None
    # A FIFO may have replaced the file: never wait for one.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with open(os.open(name, flags, dir_fd=folder), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return None
        data = file.read(DIFF_LIMIT + 1)
    executable = mode & stat.S_IXUSR
    return FileContent(
        mode="100755" if executable else "100644",
        data=data[:DIFF_LIMIT],
        whole=len(data) <= DIFF_LIMIT,
    )
