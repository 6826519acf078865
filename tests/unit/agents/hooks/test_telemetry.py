"""Status line reports: read leniently, clamped, told once (protocol-telemetry)."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.event_helpers import to_wire
from tests.examples import example_count
from tests.unit.agents.harness import AgentHarnessCase
from tservice.agents.hooks.status_line_report import (
    format_footer,
    make_telemetry_payload,
    make_usage_payload,
    parse_report,
)
from tservice.agents.model import PlanUsage, UsageWindow
from tservice.core.kernel.errors import ServiceError

FULL = {
    "model": {"id": "claude-sonnet-5", "display_name": "Sonnet 5"},
    "cost": {"total_cost_usd": 0.5},
    "context_window": {
        "total_input_tokens": 6200,
        "total_output_tokens": 34,
        "used_percentage": 3,
    },
    "rate_limits": {
        "five_hour": {"used_percentage": 42, "resets_at": 1795177738},
        "seven_day": {"used_percentage": 17, "resets_at": 1795570538},
    },
}
values: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.just([])
)
inner = st.dictionaries(
    st.sampled_from(
        [
            *("used_percentage", "resets_at", "total_input_tokens", "total_output_tokens"),
            *("total_cost_usd", "id", "display_name"),
        ]
    ),
    values,
)
reports = st.dictionaries(
    st.sampled_from(["model", "cost", "context_window", "rate_limits"]),
    values | inner | st.dictionaries(st.sampled_from(["five_hour", "seven_day"]), values | inner),
)


YEAR_3000 = 32_503_680_000_000


class TelemetryReadingTests(SynchronousTestCase):
    """The pure part."""

    def test_reset_time_is_clamped(self) -> None:
        for sent, told in ((1e12, YEAR_3000), (10**30, YEAR_3000), (-5, 0), (1.5, 1500)):
            window = {"used_percentage": 1, "resets_at": sent}
            report = parse_report({"rate_limits": {"five_hour": window}})
            assert report.five_hour is not None
            self.assertEqual(told, report.five_hour.reset_at, sent)

    @settings(max_examples=example_count(100))
    @given(reports | st.none())
    def test_any_telemetry_is_clamped_to_its_range(self, data: Any) -> None:
        report = parse_report(data)
        told = to_wire(make_telemetry_payload("s", report))
        json.dumps(told, allow_nan=False)
        for window in (report.five_hour, report.seven_day):
            if window is not None:
                self.assertTrue(0 <= window.used_percentage <= 100)
                self.assertTrue(0 <= (window.reset_at or 0) <= YEAR_3000)
        if report.context_used is not None:
            self.assertTrue(0 <= report.context_used <= 100)
        for count in (report.input_tokens, report.output_tokens, report.cost):
            self.assertTrue(count is None or 0 <= count <= 2**53)
        self.assertTrue(format_footer(report).isprintable())

    def test_full_telemetry_report_is_read(self) -> None:
        report = parse_report(FULL)
        self.assertEqual("Sonnet 5  in:6200 out:34  ctx:3%", format_footer(report))
        self.assertEqual(
            {
                "sessionId": "s",
                "fiveHour": {"usedPercentage": 42, "resetAt": 1795177738000},
                "sevenDay": {"usedPercentage": 17, "resetAt": 1795570538000},
                "contextUsedPercentage": 3,
                "costUsd": 0.5,
                "modelDisplayName": "Sonnet 5",
            },
            to_wire(make_telemetry_payload("s", report)),
        )

    def test_missing_telemetry_fields_are_left_out(self) -> None:
        self.assertEqual("", format_footer(parse_report(None)))
        self.assertEqual({"sessionId": "s"}, to_wire(make_telemetry_payload("s", parse_report({}))))
        partly = {"model": {"id": "m\x1b[31m"}, "context_window": {"used_percentage": 3.456}}
        self.assertEqual("m [31m  ctx:3.456%", format_footer(parse_report(partly)))

    def test_plan_usage_response_holds_known_windows_only(self) -> None:
        self.assertIsNone(make_usage_payload(None))
        usage = PlanUsage(five_hour=UsageWindow(used_percentage=1), at=5)
        shown = make_usage_payload(usage)
        assert shown is not None
        self.assertEqual({"fiveHour": {"usedPercentage": 1}, "at": 5}, to_wire(shown))


class IntakeTests(AgentHarnessCase):
    """L{tservice.agents.hooks.telemetry.TelemetryIntake}."""

    def take(self, session_id: str, data: Any) -> str:
        return self.agents.telemetry.handle_telemetry_report(session_id, data)

    def told(self) -> list[Any]:
        return [to_wire(e) for e in self.machine.events if e.name == "session:statusTelemetry"]

    def test_telemetry_updates_the_session(self) -> None:
        session = self.ready()
        self.assertEqual("Sonnet 5  in:6200 out:34  ctx:3%", self.take(session.id, FULL))
        shown = to_wire(self.sessions.describe_session(session.id))
        self.assertEqual({"input": 6200, "output": 34, "total": 6234}, shown["tokens"])
        self.assertEqual((3, 0.5), (shown["contextUsedPercentage"], shown["totalCost"]))
        self.assertEqual(
            ("Sonnet 5", "statusline"), (shown["displayModel"], shown["displayModelSource"])
        )

    def test_telemetry_is_published_only_on_change(self) -> None:
        session = self.ready()
        self.take(session.id, {})
        self.assertEqual([], self.told())
        for _ in range(3):
            self.take(session.id, FULL)
        self.assertEqual(1, len(self.told()))
        self.take(session.id, {**FULL, "cost": {"total_cost_usd": 0.6}})
        self.assertEqual(0.6, self.told()[-1]["costUsd"])
        self.assertEqual(2, len(self.told()))

    def test_plan_usage_outlives_a_restart_and_empty_reports(self) -> None:
        session = self.ready()
        self.assertIsNone(self.agents.agents.get_plan_usage())
        self.take(session.id, FULL)
        self.take(session.id, {"rate_limits": None})
        self.machine.restart()
        usage = self.agents.agents.get_plan_usage()
        assert usage is not None
        assert usage.five_hour is not None
        self.assertEqual(42, usage.five_hour.used_percentage)
        self.assertEqual(usage, self.agents.telemetry.get_plan_usage())

    def test_telemetry_of_an_unknown_session_is_not_found(self) -> None:
        with self.assertRaises(ServiceError) as caught:
            self.take("nobody", FULL)
        self.assertEqual(404, caught.exception.status)

    def test_telemetry_forgets_a_deleted_session(self) -> None:
        session = self.ready()
        self.take(session.id, FULL)
        self.run_now(self.sessions.delete(session.id))
        self.assertEqual({}, self.agents.telemetry._told)
