"""What a status line tells: read leniently, clamped, and put into one line of text
(protocol-telemetry)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from tservice.agents.model import PlanUsage, Window
from tservice.core.numbers import TOKENS_MAX
from tservice.terminal.model import sanitised

COST_MAX = 1e9
_LATEST = 32_503_680_000
"""Epoch seconds of the year 3000; a later reset counts as then."""


@frozen(kw_only=True)
class Telemetry:
    """One report; C{None}: it did not say.

    @ivar context_used: percent of the context window, 0 to 100.
    @ivar input_tokens: in all so far; so is C{output_tokens}.
    @ivar cost: US dollars.
    @ivar model: what to call the model, fit to show.
    """

    five_hour: Window | None = None
    seven_day: Window | None = None
    context_used: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    model: str | None = None

    def plan_usage(self, at: int) -> PlanUsage | None:
        """The plan's windows, where there are any (a key has none)."""
        if self.five_hour is None and self.seven_day is None:
            return None
        return PlanUsage(five_hour=self.five_hour, seven_day=self.seven_day, at=at)


def read_telemetry(data: Mapping[str, Any] | None) -> Telemetry:
    """The report in C{data}.

    Every field may be missing or null (protocol-telemetry); one of another type counts as missing,
    for the agent's next version must not lose its footer.  Numbers are clamped to their range.
    """
    given = data or {}
    limits, context = _inner(given, "rate_limits"), _inner(given, "context_window")
    model = _inner(given, "model")
    name = model.get("display_name") or model.get("id")
    return Telemetry(
        five_hour=_window(limits, "five_hour"),
        seven_day=_window(limits, "seven_day"),
        context_used=_number(context.get("used_percentage"), 100),
        input_tokens=_whole(context.get("total_input_tokens")),
        output_tokens=_whole(context.get("total_output_tokens")),
        cost=_number(_inner(given, "cost").get("total_cost_usd"), COST_MAX),
        model=sanitised(name) if isinstance(name, str) else None,
    )


def footer(report: Telemetry) -> str:
    """The line to show: C{<model>  in:<n> out:<n>  ctx:<p>%}, without what is not known."""
    tokens = [
        f"{name}:{count}"
        for name, count in (("in", report.input_tokens), ("out", report.output_tokens))
        if count is not None
    ]
    context = "" if report.context_used is None else f"ctx:{report.context_used:.4g}%"
    return "  ".join(filter(None, (report.model, " ".join(tokens), context)))


def event_data(session_id: str, report: Telemetry) -> dict[str, Any]:
    """The payload of C{session:statusTelemetry}."""
    parts = {
        "fiveHour": window_json(report.five_hour),
        "sevenDay": window_json(report.seven_day),
        "contextUsedPercentage": report.context_used,
        "costUsd": report.cost,
        "modelDisplayName": report.model,
    }
    return {"sessionId": session_id} | {k: v for k, v in parts.items() if v is not None}


def window_json(window: Window | None) -> dict[str, Any] | None:
    """A window for clients."""
    if window is None:
        return None
    shown: dict[str, Any] = {"usedPercentage": window.used_percentage}
    return shown if window.reset_at is None else shown | {"resetAt": window.reset_at}


def plan_usage_json(usage: PlanUsage | None) -> dict[str, Any] | None:
    """C{planUsage} of the C{init} event (protocol-state): the windows that are known, and C{at}."""
    if usage is None:
        return None
    windows = {"fiveHour": window_json(usage.five_hour), "sevenDay": window_json(usage.seven_day)}
    return {name: shown for name, shown in windows.items() if shown is not None} | {"at": usage.at}


def _inner(given: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = given.get(name)
    return found if isinstance(found, Mapping) else {}


def _window(limits: Mapping[str, Any], name: str) -> Window | None:
    window = _inner(limits, name)
    used = _number(window.get("used_percentage"), 100)
    if used is None:
        return None
    resets = _number(window.get("resets_at"), _LATEST)
    return Window(
        used_percentage=used,
        reset_at=None if resets is None else int(resets * 1000),
    )


def _number(value: object, most: float) -> float | None:
    """A number between 0 and C{most}; booleans, infinities and the like are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return max(0, min(value, most))


def _whole(value: object) -> int | None:
    number = _number(value, TOKENS_MAX)
    return None if number is None else int(number)
