"""Data model of intents (protocol-intent) and of suggestions (protocol-suggestions)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from attrs import evolve, frozen

from tservice.core.values.text import replace_harmful_characters

GOALS = 8192
"""Maximum number of characters in an intent's goals."""
PROMPTS = 50
"""Maximum number of past prompts stored in an intent."""
PROMPT_TEXT = 500
"""Maximum number of characters stored of each past prompt."""

KEY_CHARS = 32
"""Number of characters in an intent's key. No mode has an id of this length."""

SUGGESTIONS = 3
SUGGESTED_TEXT = 1000
"""Maximum number of characters in a suggested prompt."""
WHY_TEXT = 300
"""Maximum number of characters in the reason for a suggestion."""

_NOT_PROMPTS = ("/", "!")


class SuggestionKind(StrEnum):
    """Effect of a suggestion."""

    CONTINUE = "continue"
    VERIFY = "verify"
    REDIRECT = "redirect"


@frozen(kw_only=True)
class PastPrompt:
    """Prompt that was submitted to an agent at the time C{ts} (Unix milliseconds)."""

    ts: int
    session_id: str
    text: str


@frozen(kw_only=True)
class Intent:
    """Goals and past prompts of one owner in one workspace.

    @ivar prompts: past prompts, oldest first, at most L{PROMPTS}.
    """

    key: str
    owner: str | None
    working_dir: str
    updated_at: int
    goals: str = ""
    prompts: tuple[PastPrompt, ...] = ()


@frozen(kw_only=True)
class Suggestion:
    """Suggested next prompt, as one line of text."""

    prompt: str
    why: str
    kind: SuggestionKind


class UnusableSuggestions(Exception):
    """Raised if the output of a CLI contains no valid suggestions. The text of the exception is a
    short reason.
    """


def intent_key(owner: str | None, folder: str) -> str:
    """Return the database key of an owner's intent for a workspace.

    @param owner: name of the account; C{None} in single-user mode.
    @param folder: real path of the workspace.
    """
    return hashlib.sha256(json.dumps([owner, folder]).encode()).hexdigest()[:KEY_CHARS]


def states_intent(text: str) -> bool:
    """Return true if the text states an intent, false if it is a command of the agent CLI."""
    return bool(text.strip()) and not text.lstrip().startswith(_NOT_PROMPTS)


def add_prompts(intent: Intent, found: Iterable[PastPrompt]) -> Intent:
    """Return C{intent} with the new prompts of C{found}. Only the newest L{PROMPTS} are kept."""
    known = {(each.session_id, each.ts) for each in intent.prompts}
    fresh = [
        evolve(each, text=replace_harmful_characters(each.text.strip())[:PROMPT_TEXT])
        for each in found
        if (each.session_id, each.ts) not in known and states_intent(each.text)
    ]
    if not fresh:
        return intent
    both = sorted([*intent.prompts, *fresh], key=lambda each: each.ts)
    return evolve(intent, prompts=tuple(both[-PROMPTS:]))


def parse_suggestions(printed: str) -> tuple[Suggestion, ...]:
    """Parse the suggestions in a CLI's output, 1 to L{SUGGESTIONS} of them.

    The JSON may be bare, in a code fence, or the text inside the CLI's own JSON envelope.

    @raise UnusableSuggestions: the output has any other form.
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
    """Return the agent's text from a CLI's JSON envelope; C{None} if C{found} is not an envelope.

    @raise UnusableSuggestions: the envelope reports an error of the CLI.
    """
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
    line = _clean_suggestion_text(prompt, SUGGESTED_TEXT)
    if not line:
        raise UnusableSuggestions("a suggestion is empty")
    return Suggestion(
        prompt=line, why=_clean_suggestion_text(why, WHY_TEXT), kind=SuggestionKind(kind)
    )


def _clean_suggestion_text(text: str, longest: int) -> str:
    """Return the text as one line without harmful characters, cut to C{longest} characters."""
    return replace_harmful_characters(" ".join(text.split()))[:longest].strip()
