"""Recorded screens with labels given by people; README.rst describes the format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import field, frozen
from attrs.validators import in_, optional

from tservice.core.values.yamltext import parse_yaml

HERE = Path(__file__).parent
STATES = ("dialog", "working", "idle", "unknown")
KINDS = (
    "trust",
    "permission",
    "plan",
    "question",
    "review",
    "form",
    "bypass",
    "api-key",
    "mcp",
    "notice",
)


def _texts(value: Sequence[str]) -> tuple[str, ...]:
    return tuple(value)


def _size(value: Sequence[int]) -> tuple[int, int]:
    cols, rows = value
    return cols, rows


def _numbers(value: list[int] | None) -> tuple[int, ...] | None:
    return None if value is None else tuple(value)


@frozen(kw_only=True)
class DialogLabel:
    """The dialog that a person sees; see README.rst for the keys."""

    kind: str = field(validator=in_(KINDS))
    question: str | None = None
    options: tuple[str, ...] = field(converter=_texts, default=())
    selected: int | None = None
    checked: tuple[int, ...] | None = field(converter=_numbers, default=None)


def _dialog(value: Mapping[str, Any] | None) -> DialogLabel | None:
    return None if value is None else DialogLabel(**value)


@frozen(kw_only=True)
class ScreenLabel:
    """What a person sees on one screen; see README.rst for the keys."""

    state: str = field(validator=in_(STATES))
    composer: bool = False
    model: str | None = None
    title: str = ""
    size: tuple[int, int] = field(converter=_size, default=(120, 40))
    limit: str | None = None
    trust: str | None = field(validator=optional(in_(("Down", "Up", "Enter"))), default=None)
    dialog: DialogLabel | None = field(converter=_dialog, default=None)
    note: str = ""

    def __attrs_post_init__(self) -> None:
        if (self.state == "dialog") != (self.dialog is not None):
            raise ValueError("a label has a dialog exactly when its state is dialog")
        if self.dialog is not None and self.composer:
            raise ValueError("a dialog takes the keys: its label cannot say composer")


@frozen(kw_only=True)
class ScreenRecording:
    """One labelled screen.

    @ivar plain: C{capture-pane -p}.
    @ivar ansi: C{capture-pane -p -e}, or C{None} where it was not recorded.
    """

    cli: str
    name: str
    plain: bytes
    ansi: bytes | None
    label: ScreenLabel

    @property
    def best(self) -> bytes:
        """The capture with colours where there is one: what the service reads."""
        return self.plain if self.ansi is None else self.ansi

    def __str__(self) -> str:
        return f"{self.cli}/{self.name}"


def _labels(folder: Path) -> dict[str, ScreenLabel]:
    labels: dict[str, ScreenLabel] = {}
    for path in sorted(folder.glob("labels*.yaml")):
        for name, value in parse_yaml(path.read_text("utf-8")).items():
            if name in labels:
                raise ValueError(f"{path}: {name} is labelled twice")
            try:
                labels[name] = ScreenLabel(**value)
            except (TypeError, ValueError) as why:
                raise ValueError(f"{path}: {name}: {why}") from why
    return labels


def _recordings(cli: str, folder: Path) -> Iterator[ScreenRecording]:
    labels = _labels(folder)
    names = {p.name.split(".", 1)[0] for p in folder.glob("*.txt")}
    if names != set(labels):
        raise ValueError(f"{folder}: label and recording must pair: {sorted(names ^ set(labels))}")
    for name in sorted(names):
        plain, ansi = folder / f"{name}.txt", folder / f"{name}.ansi.txt"
        coloured = ansi.read_bytes() if ansi.exists() else None
        yield ScreenRecording(
            cli=cli,
            name=name,
            plain=plain.read_bytes(),
            ansi=coloured,
            label=labels[name],
        )


def load(root: Path = HERE) -> tuple[ScreenRecording, ...]:
    """Every labelled recording below C{root}, one folder a CLI.

    @raise ValueError: a label breaks the format, or recordings and labels do not pair.
    """
    found = [
        recording
        for cli in sorted(path for path in root.iterdir() if path.is_dir())
        for series in sorted({path.parent for path in cli.rglob("labels*.yaml")})
        for recording in _recordings(cli.name, series)
    ]
    for name, times in Counter(map(str, found)).items():
        if times > 1:
            raise ValueError(f"{name} is in several series")
    return tuple(found)


def capture(cli: str, name: str, *, ansi: bool = False) -> Path:
    """The file of one recording, whatever series it is in.

    @raise ValueError: there is none.
    """
    (found,) = (HERE / cli).rglob(f"{name}{'.ansi' if ansi else ''}.txt")
    return found
