"""Cookies of targets (protocol-webtabs)."""

from __future__ import annotations

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tservice.webviews.cookie_jar import COOKIE_BYTES, COOKIES, JARS, CookieJar, CookieJars


class JarTests(SynchronousTestCase):
    def setUp(self) -> None:
        clock = Clock()
        clock.advance(1_800_000_000)
        self.jar = CookieJar(clock)

    def test_cookies_are_kept_by_name_and_sent_by_path(self) -> None:
        self.jar.store_cookie("a=1; Path=/; HttpOnly; SameSite=Lax")
        self.jar.store_cookie("b=2=3; path=/lab")
        self.jar.store_cookie("c=; Domain=elsewhere; Path=lab")
        self.assertEqual("a=1; c=", self.jar.build_cookie_header("/"))
        self.assertEqual("b=2=3; a=1; c=", self.jar.build_cookie_header("/lab/x"))
        self.assertEqual("a=1; c=", self.jar.build_cookie_header("/labs"))
        self.assertEqual("b=2=3; c=", self.jar.list_script_cookies("/lab"))

    def test_cookie_set_again_is_replaced_or_expired(self) -> None:
        for ending in ("Max-Age=0", "max-age=-1", "Expires=Thu, 01 Jan 1970 00:00:00 GMT"):
            self.jar.store_cookie("a=1")
            self.jar.store_cookie("a=2; Max-Age=60; Expires=Fri, 01 Jan 2100 00:00:00 GMT")
            self.assertEqual("a=2", self.jar.build_cookie_header("/"))
            self.jar.store_cookie(f"a=; {ending}")
            self.assertEqual("", self.jar.build_cookie_header("/"), ending)

    def test_cookie_ages_of_any_length_are_accepted(self) -> None:
        for age, kept in (("9" * 5000, "a=1"), ("-" + "9" * 5000, ""), ("000", ""), ("--5", "a=1")):
            self.jar.store_cookie(f"a=1; Max-Age={age}")
            self.assertEqual(kept, self.jar.build_cookie_header("/"), age[:4])

    def test_malformed_and_reserved_cookies_are_refused(self) -> None:
        for header in ("", "a", "=b", "ours=x", f"a={'x' * COOKIE_BYTES}"):
            self.jar.store_cookie(header, {"ours"})
        self.jar.store_cookie("b=1; Expires=nonsense; Max-Age=soon")
        self.assertEqual("b=1", self.jar.build_cookie_header("/"))

    def test_cookies_and_jars_are_bounded(self) -> None:
        for number in range(COOKIES + 1):
            self.jar.store_cookie(f"c{number}=x")
        kept = self.jar.build_cookie_header("/").split("; ")
        self.assertEqual((COOKIES, "c1=x"), (len(kept), kept[0]))
        jars = CookieJars(Clock())
        jars.get_jar("first").store_cookie("a=1")
        jars.get_jar("second").store_cookie("a=1")
        for number in range(JARS - 2):
            jars.get_jar(str(number))
        self.assertEqual("a=1", jars.get_jar("first").build_cookie_header("/"))
        jars.get_jar("one more")
        self.assertEqual("a=1", jars.get_jar("first").build_cookie_header("/"))
        self.assertEqual(
            "",
            jars.get_jar("second").build_cookie_header("/"),
            "the one that was asked longest ago",
        )
