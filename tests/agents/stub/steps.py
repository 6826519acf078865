"""Several calls of tools one after the other, each made of what came of those before.

C{STEPS: [["tool", {arguments}], ...]} in a prompt; a tool is named by the end of its name, which
clients begin with the name of its MCP server.  In arguments C{$id} stands for the newest id of a
session that a tool told.  In the end the model says which word that it was told begins as the
last line of the prompt, C{LOOK: beginning}, says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from tests.agents.stub.record import ModelPrompt
from tests.agents.stub.script import CallDirective, Plan, SayDirective

SERVER = "tservice"
"""In the names of its tools; clients have tools of the same names of their own."""
_STEPS = re.compile(r"^STEPS: (\[.*\])$", re.M)
_LOOK = re.compile(r"^LOOK: (\S+)$", re.M)
_ID = re.compile(r'session\\*": *\{\\*"id\\*": *\\*"([0-9A-Za-z-]+)')


class PromptSteps:
    """How far each prompt is."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}

    def next(self, asked: ModelPrompt, body: Mapping[str, Any]) -> Plan | None:
        """What the model does now; C{None}: the prompt has no steps, or there are no tools."""
        found = _STEPS.search(asked.prompt)
        if found is None or asked.side:
            return None
        # opencode escapes the quotes of what stands on its command line.
        steps = json.loads(found[1].replace('\\"', '"'))
        taken = self._taken.get(asked.prompt, 0) if asked.last_tool is not None else 0
        self._taken[asked.prompt] = taken + 1
        text = json.dumps({key: value for key, value in body.items() if key != "tools"})
        if taken >= len(steps):
            look = _LOOK.search(asked.prompt)
            seen = re.findall(rf"{look[1]}\w+", text) if look else []
            return SayDirective(text=f"It shows {seen[-1]}" if seen else "It shows nothing")
        name, arguments = steps[taken]
        ids = _ID.findall(text)
        filled = json.loads(json.dumps(arguments).replace("$id", ids[-1] if ids else "none"))
        ending = [each for each in asked.tools if SERVER in each and each.endswith(name)]
        tool = ending[0] if ending else name
        return CallDirective(name=tool, arguments=filled)
