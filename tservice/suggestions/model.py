"""Intents of owners in workspaces (protocol-intent), and suggestions (protocol-suggestions).

Pure.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from attrs import evolve, frozen

from tservice.core.text import replace_harmful_characters

GOALS = 8192
"""Maximum characters of the goals."""
PROMPTS = 50
"""Maximum number of stored past prompts."""
PROMPT_TEXT = 500
"""Maximum characters of each of them."""

KEY_CHARS = 32
"""Characters of an intent's key; longer than the id of any mode."""

SUGGESTIONS = 3
SUGGESTED_TEXT = 1000
"""Maximum characters of a suggested prompt."""
WHY_TEXT = 300
"""Maximum characters of its reason."""

_NOT_PROMPTS = ("/", "!")


class SuggestionKind(StrEnum):
    """Effect of a suggestion."""

    CONTINUE = "continue"
    VERIFY = "verify"
    REDIRECT = "redirect"


@frozen(kw_only=True)
class PastPrompt:
    """Something that was said to an agent; C{ts} in Unix milliseconds."""

    ts: int
    session_id: str
    text: str


@frozen(kw_only=True)
class Intent:
    """Goals and past prompts of one owner in one workspace.

    @ivar prompts: oldest first, at most L{PROMPTS}.
    """

    key: str
    owner: str | None
    working_dir: str
    updated_at: int
    goals: str = ""
    prompts: tuple[PastPrompt, ...] = ()


@frozen(kw_only=True)
class Suggestion:
    """Suggested next prompt, on one line."""

    prompt: str
    why: str
    kind: SuggestionKind


class UnusableSuggestions(Exception):
    """Raised if a CLI's output contains no valid suggestions; the text gives a short reason."""


def intent_key(owner: str | None, folder: str) -> str:
    """Return the key of an owner's intent in a workspace.

    @param folder: its real path.
    """
    return hashlib.sha256(json.dumps([owner, folder]).encode()).hexdigest()[:KEY_CHARS]


def is_prompt(text: str) -> bool:
    """Return whether the text expresses an intent; commands of the agent do not."""
    return bool(text.strip()) and not text.lstrip().startswith(_NOT_PROMPTS)


def add_prompts(intent: Intent, found: Iterable[PastPrompt]) -> Intent:
    """Return C{intent} with the new prompts, limited to the newest L{PROMPTS}."""
    known = {(each.session_id, each.ts) for each in intent.prompts}
    fresh = [
        evolve(each, text=replace_harmful_characters(each.text.strip())[:PROMPT_TEXT])
        for each in found
        if (each.session_id, each.ts) not in known and is_prompt(each.text)
    ]
    if not fresh:
        return intent
    both = sorted([*intent.prompts, *fresh], key=lambda each: each.ts)
    return evolve(intent, prompts=tuple(both[-PROMPTS:]))


def parse_suggestions(printed: str) -> tuple[Suggestion, ...]:
    """Return the 1 to L{SUGGESTIONS} suggestions in a CLI's output.

    They may be bare, in a code fence, or the text of the CLI's own JSON envelope.

    @raise UnusableSuggestions: anything else.
    """
    found = _parse_object(printed)
    for _ in range(2):
        inner = _envelope_text(found)
        if inner is None:
            break
        found = _parse_object(inner)
    listed = found.get("suggestions")
    if not isinstance(listed, list) or not 1 <= len(listed) <= SUGGESTIONS:
        raise UnusableSuggestions(f"it did not make 1 to {SUGGESTIONS} suggestions")
    return tuple(map(_parse_suggestion, listed))


def _parse_object(text: str) -> Mapping[str, Any]:
    text = text.strip()
    if text.startswith("```") and text.endswith("```"):
        first, _, rest = text.partition("\n")
        text = rest.removesuffix("```").strip() if first in ("```", "```json") else text
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise UnusableSuggestions("it did not answer with JSON") from None
    if not isinstance(found, dict):
        raise UnusableSuggestions("it did not answer with a JSON object")
    return found


def _envelope_text(found: Mapping[str, Any]) -> str | None:
    """Return the agent's text in a CLI's JSON envelope; C{None} if it is no envelope."""
    if found.get("is_error") is True:
        raise UnusableSuggestions("the CLI reported an error")
    if "suggestions" in found:
        return None
    said = found.get("result", found.get("response"))
    return said if isinstance(said, str) else None


def _parse_suggestion(found: object) -> Suggestion:
    if not isinstance(found, dict) or found.keys() != {"prompt", "why", "kind"}:
        raise UnusableSuggestions("a suggestion must have exactly prompt, why and kind")
    prompt, why, kind = (found[name] for name in ("prompt", "why", "kind"))
    if not isinstance(prompt, str) or not isinstance(why, str):
        raise UnusableSuggestions("a suggestion's prompt or why is not a text")
    if kind not in tuple(SuggestionKind):
        raise UnusableSuggestions("a suggestion has an unknown kind")
    line = _clean_line(prompt, SUGGESTED_TEXT)
    if not line:
        raise UnusableSuggestions("a suggestion is empty")
    return Suggestion(prompt=line, why=_clean_line(why, WHY_TEXT), kind=SuggestionKind(kind))


def _clean_line(text: str, longest: int) -> str:
    """Return the text as one line that can be shown and typed."""
    return replace_harmful_characters(" ".join(text.split()))[:longest].strip()
