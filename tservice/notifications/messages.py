"""Texts of notices as they are sent: one notice, or a digest of several."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from tservice.core.values.text import shorten_text
from tservice.notifications.model import Notice, NoticeRules, NoticeUrgency

DIGEST_BODY_LIMIT = 1000
NAME_LIMIT = 60
"""Maximum characters of a digest's body, and of a session's name in it."""
_RANK: dict[NoticeUrgency, int] = {"info": 0, "warning": 1, "critical": 2}


@frozen(kw_only=True)
class NoticeMessage:
    """Message for one channel.

    @ivar kind: kind of the notice, or C{digest}.
    @ivar session_id: session that a tap opens; empty if there is none.
    """

    kind: str
    urgency: NoticeUrgency
    session_id: str
    session_name: str
    title: str
    body: str
    at: int


def make_message(notices: Sequence[Notice], rules: NoticeRules) -> NoticeMessage:
    """Return the message about some notices of an account, at least one.

    A digest opens the oldest session that needs a person.
    """
    if len(notices) == 1:
        return _make_single(notices[0], rules)
    asking = [notice for notice in notices if notice.needs_person]
    first = (asking or list(notices))[0]
    urgency = max((rules.get_urgency(each.kind) for each in notices), key=_RANK.__getitem__)
    count = len(asking)
    title = f"{count} of {len(notices)} sessions need you" if count else "While you were away"
    if count == len(notices):
        title = f"{count} sessions need you"
    return NoticeMessage(
        kind="digest",
        urgency=urgency,
        session_id=first.session_id,
        session_name=first.session_name,
        title=title,
        body=_list_notices([*asking, *(each for each in notices if not each.needs_person)]),
        at=max(notice.at for notice in notices),
    )


def _make_single(notice: Notice, rules: NoticeRules) -> NoticeMessage:
    return NoticeMessage(
        kind=notice.kind,
        urgency=rules.get_urgency(notice.kind),
        session_id=notice.session_id,
        session_name=notice.session_name,
        title=f"{notice.session_name} {notice.says}",
        body=notice.body,
        at=notice.at,
    )


def _list_notices(notices: Sequence[Notice]) -> str:
    lines = [f"{shorten_text(each.session_name, NAME_LIMIT)} {each.says}" for each in notices]
    return shorten_text("; ".join(lines), DIGEST_BODY_LIMIT)
