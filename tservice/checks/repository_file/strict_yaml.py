"""Reading of YAML that strangers wrote: plain mappings, lists and values, and nothing else."""

from __future__ import annotations

from typing import Any

import yaml

from tservice.checks.repository_file.file_model import InvalidCheckFile

MAX_DEPTH = 6
"""Maximum number of mappings and lists inside each other."""
MAX_EVENTS = 4000
"""Maximum number of the parser's events; the largest set of checks has about 1500."""
MAX_VALUE = 4000
"""Maximum characters of one value; PyYAML takes quadratic time for some long numbers."""

_BASE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _StrictLoader(_BASE):  # type: ignore[misc]
    """Safe loader that refuses keys that are no text, or stand twice."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """Return a mapping.

        @raise InvalidCheckFile: a key is no text, or is there twice.
        """
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag != "tag:yaml.org,2002:str":
                raise InvalidCheckFile(f"{_describe_place(key)}: a key must be text")
            if key.value in seen:
                raise InvalidCheckFile(f"{_describe_place(key)}: {key.value} is there twice")
            seen.add(key.value)
        found: dict[Any, Any] = super().construct_mapping(node, deep)
        return found


def load_strict_yaml(text: str) -> Any:
    """Return the content of one YAML document.

    @raise InvalidCheckFile: it is not valid YAML, or has anchors, aliases, tags or keys that are
        there twice.
    """
    try:
        _check_events(text)
        return yaml.load(text, Loader=_StrictLoader)  # noqa: S506 - it is a safe loader
    except yaml.MarkedYAMLError as error:
        said = ", ".join(each for each in (error.context, error.problem) if each)
        raise InvalidCheckFile(f"{_describe_mark(error)}{said}") from None
    except (yaml.YAMLError, ValueError) as error:
        # PyYAML lets ValueError through, for example for a date that does not exist.
        raise InvalidCheckFile(f"it is no valid YAML: {error}") from None


def _check_events(text: str) -> None:
    """Check a document before it is built, which takes a recursion for each level."""
    depth = 0
    for count, event in enumerate(yaml.parse(text, Loader=_BASE)):
        if count > MAX_EVENTS:
            raise InvalidCheckFile("it has too many entries")
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise InvalidCheckFile(f"{_describe_place(event)}: anchors and aliases cannot be used")
        if getattr(event, "tag", None) is not None:
            raise InvalidCheckFile(f"{_describe_place(event)}: tags cannot be used")
        if isinstance(event, yaml.ScalarEvent) and len(event.value) > MAX_VALUE:
            raise InvalidCheckFile(f"{_describe_place(event)}: a value is too long")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            raise InvalidCheckFile(f"{_describe_place(event)}: it is nested too deeply")


def _describe_place(marked: Any) -> str:
    return f"line {marked.start_mark.line + 1}"


def _describe_mark(error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    return "" if mark is None else f"line {mark.line + 1}: "
