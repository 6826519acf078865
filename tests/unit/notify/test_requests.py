"""What each kind of receiver gets, byte for byte."""

from __future__ import annotations

import json
from email.header import decode_header, make_header

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tservice.core.net.outbound import OutboundRequest
from tservice.notify.model import MessageUrgency, ReceiverKind, WebhookConfig, WebhookMessage
from tservice.notify.requests import CHAT_B_LIMIT, build_request, encode_header_text

MESSAGE = WebhookMessage(
    event="permission_prompt",
    title="api <&> b\u00fc asks for permission",
    body="Tool: Bash & <more>",
    urgency=MessageUrgency.CRITICAL,
    host="desk",
    at=1_700_000_000_042,
    session_id="s1",
    session_name="api <&> b\u00fc",
)


def sent(kind: ReceiverKind, message: WebhookMessage = MESSAGE) -> OutboundRequest:
    return build_request(WebhookConfig(kind=kind, url="http://x.example/"), message)


class WebhookRequestBytesTests(SynchronousTestCase):
    def check(self, kind: ReceiverKind, headers: dict[str, str], body: str) -> None:
        request = sent(kind)
        self.assertEqual(("POST", "http://x.example/"), (request.method, request.url))
        self.assertEqual({"User-Agent": "tservice", **headers}, dict(request.headers))
        self.assertEqual(body.encode(), request.body)
        self.assertIsNone(request.body_limit)

    def test_ntfy_request_bytes(self) -> None:
        title = "=?utf-8?B?ZGVzazogYXBpIDwmPiBiw7wgYXNrcyBmb3IgcGVybWlzc2lvbg==?="
        self.check(
            ReceiverKind.TOPIC,
            {
                "Content-Type": "text/plain; charset=utf-8",
                "Title": title,
                "Priority": "5",
                "Tags": "rotating_light",
            },
            "Tool: Bash & <more>",
        )

    def test_ntfy_priority_follows_the_urgency(self) -> None:
        for urgency, priority, tag in (
            (MessageUrgency.WARNING, "4", "warning"),
            (MessageUrgency.INFO, "3", "white_check_mark"),
        ):
            headers = sent(
                ReceiverKind.TOPIC, evolve(MESSAGE, urgency=urgency, title="done")
            ).headers
            self.assertEqual(
                (priority, tag, "desk: done"),
                (headers["Priority"], headers["Tags"], headers["Title"]),
            )

    def test_slack_request_bytes(self) -> None:
        self.check(
            ReceiverKind.CHAT_A,
            {"Content-Type": "application/json"},
            '{"text":"desk: api &lt;&amp;&gt; b\u00fc asks for permission\\n'
            'Tool: Bash &amp; &lt;more&gt;"}',
        )

    def test_discord_request_bytes(self) -> None:
        self.check(
            ReceiverKind.CHAT_B,
            {"Content-Type": "application/json"},
            '{"content":"desk: api <&> b\u00fc asks for permission\\nTool: Bash & <more>",'
            '"allowed_mentions":{"parse":[]}}',
        )

    def test_discord_text_is_truncated(self) -> None:
        body = sent(ReceiverKind.CHAT_B, evolve(MESSAGE, body="@everyone" * 500)).body or b""
        self.assertEqual(CHAT_B_LIMIT, len(json.loads(body)["content"]))

    def test_generic_request_bytes(self) -> None:
        self.check(
            ReceiverKind.GENERIC,
            {"Content-Type": "application/json"},
            '{"event":"permission_prompt","title":"api <&> b\u00fc asks for permission",'
            '"body":"Tool: Bash & <more>","urgency":"critical","sessionId":"s1",'
            '"sessionName":"api <&> b\u00fc","host":"desk","at":"2023-11-14T22:13:20.042Z"}',
        )

    @given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=200))
    def test_any_notification_title_becomes_one_plain_header_line(self, text: str) -> None:
        header = encode_header_text(text)
        self.assertTrue(header.isascii() and header.isprintable())
        self.assertLessEqual(max(len(word) for word in header.split("?= ")), 75 if "=?" in header
                             else 200)  # fmt: skip
        if header != text:
            self.assertEqual(text, str(make_header(decode_header(header))))
