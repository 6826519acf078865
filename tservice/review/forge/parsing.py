"""Parser of the JSON that the programs of forges print."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from tservice.review.forge.model import TEXT_LENGTH, ForgeUnavailableError, UnavailableReason

_T = TypeVar("_T")


class ForgeRecord(BaseModel):
    """Record of a forge, of which only the declared fields are read."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)


def parse_output(adapter: TypeAdapter[_T], output: bytes) -> _T:
    """Return the records that a program printed.

    @raise ForgeUnavailableError: the output has another form.
    """
    try:
        return adapter.validate_json(output)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "it"
        message = f"the program's output could not be read: {where}: {first['msg']}"
        raise ForgeUnavailableError(UnavailableReason.FAILED, message[:500]) from None


def cut_text(text: str) -> str:
    """Return C{text}, cut at the bound of a comment."""
    return text if len(text) <= TEXT_LENGTH else text[: TEXT_LENGTH - 3] + "..."


def keep_web_address(url: str | None) -> str:
    """Return C{url} if it is an address of the web, else an empty string."""
    return url if url is not None and url.startswith(("https://", "http://")) else ""


def find_refusal(output: bytes) -> str:
    """Return why a forge refused a request, from the record that it answered.

    GitHub answers C{errors[].message}, GitLab a list of texts as C{message}.
    """
    try:
        answer: Any = json.loads(output)
    except ValueError:
        return ""
    if not isinstance(answer, dict):
        return ""
    texts: list[str] = []
    for name in ("errors", "message"):
        found = answer.get(name)
        for each in found if isinstance(found, list) else []:
            text = each.get("message") if isinstance(each, dict) else each
            texts += [text] if isinstance(text, str) else []
    return "; ".join(texts)
