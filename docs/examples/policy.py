"""Answer an agent's requests by a rule, until its turn is over: python policy.py FOLDER PROMPT"""

import sys

from tservice.client.blocking import connect

ALLOWED = ("git status", "git diff", "ls", "touch notes")
"""How a command begins that needs nobody's leave; mind that C{ls; rm} begins so too."""


def may(command: str) -> bool:
    """Whether it is one plain command that is allowed."""
    return command.startswith(ALLOWED) and not set(command) & set(";&|<>$`\n")


def main(folder: str, prompt: str) -> None:
    """Print each decision, and the agent's answer."""
    client = connect()
    with client.new(mode="primary", workingDir=folder) as session:
        signal = session.send(prompt, wait=["stop", "blocked", "exit"], timeout=600).signal
        while signal == "blocked":
            for item in session.approvals():
                command = item.get("toolSummary") or ""
                allowed = may(command)
                session.answer(item, "approve" if allowed else "deny")
                print("approved:" if allowed else "denied:", command)
            signal = session.wait(["stop", "blocked", "exit", "idle"], timeout=600)
        print(session.screen())


if __name__ == "__main__":
    main(*sys.argv[1:])
