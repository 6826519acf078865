"""Cron expressions by crontab(5), and what is said of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tests.unit.cron.vixie_cron import fires_at
from tservice.cron.crontab import find_expression_fault, find_next_match, parse_expression
from tservice.cron.explanation import explain_expression

START = datetime(2026, 1, 1, tzinfo=UTC)
NAMES = {3: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
         4: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]}  # fmt: skip


def fires(text: str, count: int, start: datetime = START) -> list[datetime]:
    """The next fires of an expression in UTC."""
    found: list[datetime] = []
    at = int(start.timestamp())
    for _ in range(count):
        at = find_next_match(text, at, UTC) or 0
        found.append(datetime.fromtimestamp(at, UTC))
    return found


def parts(number: int, low: int, high: int) -> st.SearchStrategy[str]:
    """What may stand between the commas of a field."""

    @st.composite
    def part(draw: st.DrawFn) -> str:
        step = draw(st.sampled_from(("", "", "/1", "/2", "/3", "/7", "/40")))
        kind = draw(st.sampled_from(("star", "one", "range")))
        if kind == "star":
            return f"*{step}"
        first, last = sorted(draw(st.tuples(*[st.integers(low, high)] * 2)))
        words = NAMES.get(number, [])
        least = 0 if number == 4 else 1
        named = draw(st.booleans())

        def show(value: int) -> str:
            place = value - least
            return words[place] if named and 0 <= place < len(words) else str(value)

        return show(first) if kind == "one" else f"{show(first)}-{show(last)}{step}"

    return part()


def fields(number: int, low: int, high: int) -> st.SearchStrategy[str]:
    several = st.lists(parts(number, low, high), min_size=1, max_size=3).map(",".join)
    return st.one_of(st.just("*"), several)


EXPRESSIONS = st.tuples(
    fields(0, 0, 59), fields(1, 0, 23), fields(2, 1, 31), fields(3, 1, 12), fields(4, 0, 7)
).map(" ".join)
DAY_FIELDS = ((2, 1, 31), (3, 1, 12), (4, 0, 7))
DAYS = st.tuples(*(fields(*each) for each in DAY_FIELDS)).map(
    lambda found: f"0 0 {' '.join(found)}"
)


class CrontabTests(SynchronousTestCase):
    """The rule of the days, and forms that are easily read in another way."""

    def test_star_in_a_day_field_needs_both_days(self) -> None:
        """Debian's cron takes a field that begins with C{*} for unrestricted."""
        for text in ("0 0 */2 * 1", "0 0 */2 * mon", "0 0 */2,31 * 1-1"):
            found = fires(text, 12)
            self.assertEqual({1}, {at.isoweekday() for at in found}, text)
            self.assertEqual({1}, {at.day % 2 for at in found}, text)

    def test_star_in_the_weekday_needs_both_days(self) -> None:
        found = fires("0 0 1-7 * */6", 12)
        self.assertTrue(all(at.day <= 7 and at.isoweekday() in (6, 7) for at in found), found)

    def test_two_restricted_day_fields_fire_on_either(self) -> None:
        found = fires("0 0 1,15 * 1", 6)
        self.assertEqual([5, 12, 15, 19, 26, 1], [at.day for at in found])

    def test_star_inside_a_list_does_not_count(self) -> None:
        self.assertEqual([2, 3, 4], [at.day for at in fires("0 0 5,* * 1", 3)])

    def test_range_of_one_value_is_that_value(self) -> None:
        self.assertEqual([9, 9], [at.hour for at in fires("0 9-9 * * *", 2)])
        self.assertEqual({7}, {at.isoweekday() for at in fires("0 0 * * 7-7", 3)})

    def test_range_past_the_end_goes_on_at_the_beginning(self) -> None:
        hours = [at.hour for at in fires("30 22-2 * * *", 8)]
        self.assertEqual([0, 1, 2, 22, 23, 0, 1, 2], hours)
        self.assertEqual({5, 6, 7, 1}, {at.isoweekday() for at in fires("0 0 * * fri-mon", 9)})
        self.assertEqual([8, 10, 12], [at.hour for at in fires("0 8/2 * * *", 3)])

    def test_refusal_names_the_field_and_the_rule(self) -> None:
        for text, part in (
            ("61 * * * *", "minute '61' must be 0 to 59"),
            ("0 24 * * *", "hour '24' must be 0 to 23"),
            ("0 0 0 * *", "day '0' must be 1 to 31"),
            ("0 0 1 13 *", "month '13' must be 1 to 12"),
            ("0 0 * * 8", "weekday '8' must be 0 to 7"),
            ("0 0 * mon *", "month 'mon' must be 1 to 12"),
            ("*/0 * * * *", "minute '*/0' has a step of 0"),
            ("1, * * * *", "minute '' is no number"),
            ("*-5 * * * *", "minute '*-5' is no number"),
            ("1-2-3 * * * *", "minute '1-2-3' is no number"),
            ("0 0 30 2 *", "never fires"),
            ("0 0 30 2 */2", "never fires"),
        ):
            self.assertIn(part, find_expression_fault(text) or "", text)

    def test_large_steps_name_the_first_value(self) -> None:
        self.assertEqual((0,), parse_expression(f"*/{'9' * 150} * * * *").minutes)

    @settings(max_examples=example_count(150), deadline=None)
    @given(DAYS)
    def test_fire_days_match_the_reference(self, text: str) -> None:
        """Each day of three years, against the rule of the C program."""
        days = [START + timedelta(days=number) for number in range(3 * 365)]
        want = [day for day in days if fires_at(text, day)]
        if find_expression_fault(text) is None and want:
            before = START - timedelta(seconds=1)
            self.assertEqual(want[:60], fires(text, len(want[:60]), before), text)
        else:
            self.assertEqual([], want, text)

    @settings(max_examples=example_count(150), deadline=None)
    @given(EXPRESSIONS, st.integers(0, 3 * 365 * 24 * 60))
    def test_fire_minutes_match_the_reference(self, text: str, begin: int) -> None:
        """The two days from any minute on."""
        start = START + timedelta(minutes=begin)
        minutes = [start + timedelta(minutes=number) for number in range(1, 2 * 24 * 60)]
        want = [at for at in minutes if fires_at(text, at)][:50]
        if want:
            self.assertEqual(want, fires(text, len(want), start), text)
        elif find_expression_fault(text) is None:
            self.assertGreater(fires(text, 1, start)[0], minutes[-1], text)


class ExplanationTests(SynchronousTestCase):
    """Expressions in words."""

    def test_expressions_are_explained_in_words(self) -> None:
        for text, words in (
            ("* * * * *", "Every minute, every day."),
            ("*/15 * * * *", "Every 15 minutes, every day."),
            ("30 * * * *", "At minute 30 of every hour, every day."),
            ("*/7 8-18 * * mon-fri",
             "At every 7th minute from 0 to 56, from 08:00 to 18:59, on Monday to Friday."),
            ("0 9 * * 1-5", "At 09:00, on Monday to Friday."),
            ("0,30 9,17 * * sat,sun",
             "At 09:00, 09:30, 17:00 and 17:30, on Saturday and Sunday."),
            ("0 */2 * * *", "At minute 0, in every 2nd hour from 0 to 22, every day."),
            ("0 0 */2 * 1",
             "At 00:00, on every 2nd day from the 1st to the 31st, only if it is Monday."),
            ("0 0 1,15 * 1",
             "At 00:00, on the 1st and 15th of the month, and also on Monday."),
            ("0 0 1-31 * 1", "At 00:00, every day."),
            ("0 0 1-31 * */7", "At 00:00, on Sunday."),
            ("0 6 1 1,7 *", "At 06:00, on the 1st of the month, only in January and July."),
            ("0 22-2 * * fri-mon", "At 00:00, 01:00, 02:00, 22:00 and 23:00, "
             "on Monday and Friday to Sunday."),
        ):  # fmt: skip
            self.assertEqual(words, explain_expression(text))

    def tell_apart(self, one: str, other: str) -> None:
        """Assert that the words are alike where, and only where, the times are."""
        same = explain_expression(one) == explain_expression(other)
        self.assertEqual(same, _effect(one) == _effect(other), (one, other))

    @settings(max_examples=example_count(300), deadline=None)
    @given(EXPRESSIONS, EXPRESSIONS)
    def test_different_schedules_have_different_explanations(self, one: str, other: str) -> None:
        self.tell_apart(one, other)

    @settings(max_examples=example_count(200), deadline=None)
    @given(DAYS, st.integers(0, 2), st.data())
    def test_changed_field_changes_the_explanation(
        self, text: str, place: int, data: st.DataObject
    ) -> None:
        words = text.split()
        words[2 + place] = data.draw(fields(*DAY_FIELDS[place]))
        self.tell_apart(text, " ".join(words))


def _effect(text: str) -> object:
    """The minutes, hours and months, and each pair of a day and a weekday that matches."""
    found = parse_expression(text)
    both = all if found.both_days else any
    pairs = [
        (day, weekday)
        for day in range(1, 32)
        for weekday in range(7)
        if both((day in found.days, weekday in found.weekdays))
    ]
    return found.minutes, found.hours, found.months, pairs
