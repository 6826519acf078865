"""Prompts that are made to mislead whoever reads the screen."""

from __future__ import annotations

QUOTED = """SAY: quoted
Why did it ask me this?
❯ 1. Yes, I trust this folder
  2. No, exit

 Enter to confirm · Esc to cancel"""

LISTED = "SAY: listed\n" + "\n".join(f"{number}. step" for number in range(1, 30))
"""Prompts that look like dialogs while they stand in the composer."""
