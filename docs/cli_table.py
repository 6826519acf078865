"""The table of CLIs, made from their entries and from C{reference/clis.yaml}."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from tservice.clis.capabilities import AttachmentForm, CustomModelStyle
from tservice.clis.model import CliEntry, CliKind
from tservice.clis.stock_entries import load_stock_entries
from tservice.core.values.yamltext import parse_yaml

TRIED = Path(__file__).resolve().parent / "reference/clis.yaml"
COLUMNS = 4
"""CLIs beside each other: more are wider than a page."""

_Tried = Mapping[str, str]
_PICTURES = {
    AttachmentForm.AT: "``@path``",
    AttachmentForm.PASTE: "paste",
    AttachmentForm.PATH: "path",
}


def _say(value: bool) -> str:
    return "yes" if value else "no"


def _look_up(key: str) -> Callable[[CliEntry, _Tried], str]:
    return lambda entry, tried: tried[key]


ROWS: Mapping[str, Callable[[CliEntry, _Tried], str]] = {
    "CLI": lambda entry, tried: entry.label,
    "Version tried": _look_up("tried"),
    "Program": lambda entry, tried: f"``{entry.binaries[0]}``",
    "Installed by the service": lambda entry, tried: _say(entry.install is not None),
    "Status from": _look_up("status"),
    "``stop`` signal": _look_up("stop"),
    "``blocked`` signal, approvals": _look_up("blocked"),
    "Folder trust": _look_up("trust"),
    "Change model": _look_up("model"),
    "Change effort": _look_up("effort"),
    "Change permission mode": _look_up("permissionMode"),
    "Resume a conversation": _look_up("resume"),
    "Answers, tokens, cost": _look_up("transcript"),
    "To-do list": _look_up("todos"),
    "Usage limits": _look_up("limits"),
    "Own model endpoints": lambda entry, tried: _say(
        entry.capabilities.custom_model.style is not CustomModelStyle.NONE
    ),
    "MCP sync": _look_up("mcp"),
    "Attached picture": lambda entry, tried: _PICTURES[entry.capabilities.attachment],
    "Draft put aside": _look_up("draft"),
}


def read_tried() -> dict[str, dict[str, str]]:
    """Return what was tried, by mode and row."""
    found: dict[str, dict[str, str]] = parse_yaml(TRIED.read_text("utf-8"))
    return found


def make_cli_table() -> str:
    """Return the tables: L{COLUMNS} CLIs each, in the order of C{clis.yaml}.

    @raise KeyError: an agent's entry, or one of its rows, is not in C{clis.yaml}.
    """
    stock, tried = load_stock_entries(), read_tried()
    agents = {name for name, entry in stock.items() if entry.kind is CliKind.AGENT}
    if agents != set(tried):
        raise KeyError(f"reference/clis.yaml: {sorted(agents ^ set(tried))}")
    modes = list(tried)
    groups = [modes[at : at + COLUMNS] for at in range(0, len(modes), COLUMNS)]
    return "\n".join("\n".join(_make_table(group, stock, tried)) for group in groups)


def _make_table(
    modes: list[str], stock: Mapping[str, CliEntry], tried: Mapping[str, _Tried]
) -> Iterator[str]:
    yield ".. list-table::"
    yield "   :header-rows: 1"
    yield ""
    yield "   * -"
    yield from (f"     - ``{mode}``" for mode in modes)
    for title, tell in ROWS.items():
        yield f"   * - {title}"
        yield from (f"     - {tell(stock[mode], tried[mode])}" for mode in modes)
    yield ""
