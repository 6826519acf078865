"""Explanation of cron expressions as English sentences.

The sentence is made from the values of the fields, not from the text.  Two expressions that fire at
the same times therefore get the same explanation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tservice.cron.crontab import (
    DAY,
    HOUR,
    MINUTE,
    MONTH,
    WEEKDAY,
    CronExpression,
    FieldRule,
    parse_expression,
)

_MOST_TIMES = 6
"""Maximum number of times of day that are listed.

More are described by minutes and hours.
"""
_SHORTEST_RUN = 3
_SHORTEST_STEPS = 4
"""Minimum number of consecutive values for a range, and of equidistant values for "every n"."""

_MONTH_NAMES = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_WEEKDAY_NAMES = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


def explain_expression(text: str) -> str:
    """Explain a valid expression in one sentence.

    @raise ValueError: the text is no cron expression.
    """
    expression = parse_expression(text)
    parts = [_explain_times(expression), _explain_days(expression)]
    if not _covers_whole_range(expression.months, MONTH):
        parts.append("only in " + _list_values(expression.months, _month_name))
    return ", ".join(parts) + "."


def _explain_times(expression: CronExpression) -> str:
    minutes, hours = expression.minutes, expression.hours
    if len(minutes) * len(hours) <= _MOST_TIMES:
        times = [f"{hour:02}:{minute:02}" for hour in hours for minute in minutes]
        return "At " + _join_words(times)
    if _covers_whole_range(minutes, MINUTE):
        when = "Every minute"
    elif _is_evenly_spaced(minutes):
        when = f"Every {minutes[1]} minutes"
    else:
        when = "At " + (_explain_steps(minutes, "minute", str) or _format_minutes(minutes))
    if _covers_whole_range(hours, HOUR):
        return when if when.startswith("Every") else f"{when} of every hour"
    if _is_consecutive(hours):
        return f"{when}, from {hours[0]:02}:00 to {hours[-1]:02}:59"
    steps = _explain_steps(hours, "hour", str)
    return f"{when}, in " + (steps or "the hours " + _list_values(hours, str))


def _format_minutes(minutes: Sequence[int]) -> str:
    return ("minute " if len(minutes) == 1 else "minutes ") + _list_values(minutes, str)


def _explain_days(expression: CronExpression) -> str:
    any_day = _covers_whole_range(expression.days, DAY)
    any_weekday = _covers_whole_range(expression.weekdays, WEEKDAY)
    if (any_day and any_weekday) or (not expression.both_days and (any_day or any_weekday)):
        return "every day"
    # The list of names begins with Monday.
    week = sorted((weekday - 1) % 7 for weekday in expression.weekdays)
    if any_day:
        return "on " + _list_values(week, _weekday_name)
    steps = _explain_steps(expression.days, "day", lambda day: f"the {_format_ordinal(day)}")
    days = "on " + (steps or f"the {_list_values(expression.days, _format_ordinal)} of the month")
    if any_weekday:
        return days
    if expression.both_days:
        return f"{days}, only if it is {_list_values(week, _weekday_name, 'or')}"
    return f"{days}, and also on {_list_values(week, _weekday_name)}"


def _explain_steps(values: Sequence[int], unit: str, show: Callable[[int], str]) -> str | None:
    """Explain equidistant values, such as 1, 3, 5; C{None} if the values are not equidistant."""
    step = values[1] - values[0] if len(values) >= _SHORTEST_STEPS else 1
    if step == 1 or list(values) != list(range(values[0], values[-1] + 1, step)):
        return None
    return f"every {_format_ordinal(step)} {unit} from {show(values[0])} to {show(values[-1])}"


def _list_values(values: Sequence[int], show: Callable[[int], str], last: str = "and") -> str:
    """List ascending values.  Three or more consecutive ones become a range."""
    runs: list[list[int]] = []
    for value in values:
        if runs and runs[-1][-1] == value - 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    words: list[str] = []
    for run in runs:
        if len(run) >= _SHORTEST_RUN:
            words.append(f"{show(run[0])} to {show(run[-1])}")
        else:
            words.extend(map(show, run))
    return _join_words(words, last)


def _join_words(words: Sequence[str], last: str = "and") -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def _covers_whole_range(values: Sequence[int], rule: FieldRule) -> bool:
    return len(values) == rule.most - rule.least + 1


def _is_consecutive(values: Sequence[int]) -> bool:
    return values[-1] - values[0] == len(values) - 1


def _is_evenly_spaced(minutes: Sequence[int]) -> bool:
    """Return true if the minutes are equidistant, also from one hour to the next."""
    step = minutes[1] if len(minutes) > 1 else 60
    return list(minutes) == list(range(0, 60, step)) and 60 % step == 0 and step < 60


def _format_ordinal(number: int) -> str:
    teen = 10 < number % 100 < 14
    return f"{number}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def _month_name(number: int) -> str:
    return _MONTH_NAMES[number - 1]


def _weekday_name(number: int) -> str:
    return _WEEKDAY_NAMES[number]
