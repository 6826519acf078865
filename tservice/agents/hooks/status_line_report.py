"""Reports of status lines: tolerant parsing, clamping of values, and the footer line
(protocol-telemetry).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from tservice.agents.model import PlanUsage, UsageWindow
from tservice.core.kernel.event_payloads import PlanUsagePayload, RateLimitWindow, TelemetryPayload
from tservice.core.values.numbers import TOKENS_MAX
from tservice.terminal.model_name import sanitize_text

COST_MAX = 1e9
_LATEST = 32_503_680_000
"""Latest accepted reset time in epoch seconds, in the year 3000."""


@frozen(kw_only=True)
class StatusLineReport:
    """Report of a status line, with C{None} for values that it does not contain.

    @ivar context_used: used part of the context window in percent, 0 to 100.
    @ivar input_tokens: total number of tokens sent so far.
    @ivar output_tokens: total number of tokens generated so far.
    @ivar cost: total cost in US dollars.
    @ivar model: display name of the model.
    """

    five_hour: UsageWindow | None = None
    seven_day: UsageWindow | None = None
    context_used: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    model: str | None = None

    def make_plan_usage(self, at: int) -> PlanUsage | None:
        """Return the usage of the plan's windows; C{None} if there are none, as with an API key.

        @param at: time of the report, in Unix milliseconds.
        """
        if self.five_hour is None and self.seven_day is None:
            return None
        return PlanUsage(five_hour=self.five_hour, seven_day=self.seven_day, at=at)


def parse_report(data: Mapping[str, Any] | None) -> StatusLineReport:
    """Return the report that C{data} contains.

    Every field may be missing or null (protocol-telemetry). A value of another type counts as
    missing, so that the footer also works with a later version of the agent. Numbers are clamped to
    their range.
    """
    given = data or {}
    limits, context = _get_object(given, "rate_limits"), _get_object(given, "context_window")
    model = _get_object(given, "model")
    name = model.get("display_name") or model.get("id")
    return StatusLineReport(
        five_hour=_parse_window(limits, "five_hour"),
        seven_day=_parse_window(limits, "seven_day"),
        context_used=_parse_number(context.get("used_percentage"), 100),
        input_tokens=_parse_whole(context.get("total_input_tokens")),
        output_tokens=_parse_whole(context.get("total_output_tokens")),
        cost=_parse_number(_get_object(given, "cost").get("total_cost_usd"), COST_MAX),
        model=sanitize_text(name) if isinstance(name, str) else None,
    )


def format_footer(report: StatusLineReport) -> str:
    """Return the footer line C{<model>  in:<n> out:<n>  ctx:<p>%}, without unknown values."""
    tokens = [
        f"{name}:{count}"
        for name, count in (("in", report.input_tokens), ("out", report.output_tokens))
        if count is not None
    ]
    context = "" if report.context_used is None else f"ctx:{report.context_used:.4g}%"
    return "  ".join(filter(None, (report.model, " ".join(tokens), context)))


def make_telemetry_payload(session_id: str, report: StatusLineReport) -> TelemetryPayload:
    """Return the payload of C{session:statusTelemetry}."""
    return TelemetryPayload(
        session_id=session_id,
        five_hour=_make_window_payload(report.five_hour),
        seven_day=_make_window_payload(report.seven_day),
        context_used_percentage=report.context_used,
        cost_usd=report.cost,
        model_display_name=report.model,
    )


def make_usage_payload(usage: PlanUsage | None) -> PlanUsagePayload | None:
    """Return C{planUsage} of the C{init} event (protocol-state): the known windows, and C{at}."""
    if usage is None:
        return None
    five, seven = _make_window_payload(usage.five_hour), _make_window_payload(usage.seven_day)
    return PlanUsagePayload(five_hour=five, seven_day=seven, at=usage.at)


def _make_window_payload(window: UsageWindow | None) -> RateLimitWindow | None:
    if window is None:
        return None
    return RateLimitWindow(used_percentage=window.used_percentage, reset_at=window.reset_at)


def _get_object(given: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = given.get(name)
    return found if isinstance(found, Mapping) else {}


def _parse_window(limits: Mapping[str, Any], name: str) -> UsageWindow | None:
    window = _get_object(limits, name)
    used = _parse_number(window.get("used_percentage"), 100)
    if used is None:
        return None
    resets = _parse_number(window.get("resets_at"), _LATEST)
    return UsageWindow(
        used_percentage=used,
        reset_at=None if resets is None else int(resets * 1000),
    )


def _parse_number(value: object, most: float) -> float | None:
    """Return a number clamped to the range 0 to C{most}; C{None} for any other value.

    Booleans and infinities are no numbers.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return max(0, min(value, most))


def _parse_whole(value: object) -> int | None:
    number = _parse_number(value, TOKENS_MAX)
    return None if number is None else int(number)
