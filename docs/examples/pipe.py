"""Give one agent's answer to another: python pipe.py FOLDER PROMPT"""

import sys

from tservice.client.blocking import connect


def main(folder: str, prompt: str) -> None:
    """Print what the second says of the first one's answer."""
    client = connect()
    with (
        client.new(mode="primary", workingDir=folder) as author,
        client.new(mode="primary", workingDir=folder) as critic,
    ):
        author.send(prompt, wait=["stop", "exit"], timeout=600)
        critic.send(f"Say what is wrong with this: {author.last()}", wait=True, timeout=600)
        print(critic.last())


if __name__ == "__main__":
    main(*sys.argv[1:])
