"""What stands around the sessions, put together."""

from __future__ import annotations

import os

from tservice.core.stack import Closing, ServiceStack
from tservice.core.threads import IThreads
from tservice.git.build import Git, build_git
from tservice.sessions.service import SessionService
from tservice.tap.base import Base


def wire_git(base: Base, threads: IThreads, sessions: SessionService, stack: ServiceStack) -> Git:
    """Git at a glance; a stop ends the git processes that run."""
    git = build_git(
        clock=base.reactor,
        processes=base.reactor,
        in_thread=threads.run,
        environ=base.environ,
        home=base.home,
        euid=os.geteuid(),
        sessions=sessions,
        redactor=base.redactor,
    )
    Closing("git", git.stop).setServiceParent(stack)
    return git
