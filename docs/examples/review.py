"""Three agents review a branch in worktrees of their own: python review.py REPOSITORY BRANCH"""

import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from tservice.client.blocking import connect

LOOK_FOR = ("mistakes in its logic", "holes in its security", "what its tests leave out")


def worktree(held: ExitStack, repository: str, branch: str) -> str:
    """A checkout that is gone with the block."""
    folder = held.enter_context(tempfile.TemporaryDirectory()) + "/review"
    git = ["git", "-C", repository, "worktree"]
    subprocess.run([*git, "add", "--quiet", "--detach", folder, branch], check=True)
    held.callback(subprocess.run, [*git, "remove", "--force", folder], check=True)
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
