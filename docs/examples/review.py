"""Three agents review a branch in worktrees of their own: python review.py REPOSITORY BRANCH"""

import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from threading import Lock

from tservice.client.blocking import connect

ONE_AT_A_TIME = Lock()
"""Git trips over a worktree that is removed while it looks at all of them."""
LOOK_FOR = ("mistakes in its logic", "holes in its security", "what its tests leave out")


def git(repository: str, *words: str) -> None:
    """Change the worktrees."""
    with ONE_AT_A_TIME:
        subprocess.run(["git", "-C", repository, "worktree", *words], check=True)


def worktree(held: ExitStack, repository: str, branch: str) -> str:
    """A checkout that is gone with the block."""
    folder = held.enter_context(tempfile.TemporaryDirectory()) + "/review"
    git(repository, "add", "--quiet", "--detach", folder, branch)
    held.callback(git, repository, "remove", "--force", folder)
    return folder


def review(repository: str, branch: str, subject: str) -> str:
    """What an agent says of the branch's last commit."""
    with ExitStack() as held:
        folder = worktree(held, repository, branch)
        session = held.enter_context(connect().new(mode="primary", workingDir=folder))
        prompt = f"Review the last commit for {subject}. Change nothing."
        # A wait of its own would miss a turn that is over before it begins.
        session.send(prompt, wait=["stop", "exit"], timeout=600)
        return session.last()


def main(repository: str, branch: str) -> None:
    """Print what each of them says."""
    place = str(Path(repository).resolve())
    with ThreadPoolExecutor() as pool:
        found = pool.map(lambda subject: review(place, branch, subject), LOOK_FOR)
        for subject, answer in zip(LOOK_FOR, found, strict=True):
            print(f"== {subject}\n{answer}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
