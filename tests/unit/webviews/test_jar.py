"""Cookies of targets (protocol-webtabs)."""

from __future__ import annotations

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tservice.webviews.jar import COOKIE_BYTES, COOKIES, JARS, Jar, Jars


class JarTests(SynchronousTestCase):
    def setUp(self) -> None:
        clock = Clock()
        clock.advance(1_800_000_000)
        self.jar = Jar(clock)

    def test_what_is_kept_and_where_it_goes(self) -> None:
        self.jar.take("a=1; Path=/; HttpOnly; SameSite=Lax")
        self.jar.take("b=2=3; path=/lab")
        self.jar.take("c=; Domain=elsewhere; Path=lab")
        self.assertEqual("a=1; c=", self.jar.sent("/"))
        self.assertEqual("b=2=3; a=1; c=", self.jar.sent("/lab/x"))
        self.assertEqual("a=1; c=", self.jar.sent("/labs"))
        self.assertEqual("b=2=3; c=", self.jar.readable("/lab"))

    def test_what_is_set_again_or_ends(self) -> None:
        for ending in ("Max-Age=0", "max-age=-1", "Expires=Thu, 01 Jan 1970 00:00:00 GMT"):
            self.jar.take("a=1")
            self.jar.take("a=2; Max-Age=60; Expires=Fri, 01 Jan 2100 00:00:00 GMT")
            self.assertEqual("a=2", self.jar.sent("/"))
            self.jar.take(f"a=; {ending}")
            self.assertEqual("", self.jar.sent("/"), ending)

    def test_ages_of_any_length(self) -> None:
        for age, kept in (("9" * 5000, "a=1"), ("-" + "9" * 5000, ""), ("000", ""), ("--5", "a=1")):
            self.jar.take(f"a=1; Max-Age={age}")
            self.assertEqual(kept, self.jar.sent("/"), age[:4])

    def test_what_is_not_taken(self) -> None:
        for header in ("", "a", "=b", "ours=x", f"a={'x' * COOKIE_BYTES}"):
            self.jar.take(header, {"ours"})
        self.jar.take("b=1; Expires=nonsense; Max-Age=soon")
        self.assertEqual("b=1", self.jar.sent("/"))

    def test_bounds(self) -> None:
        for number in range(COOKIES + 1):
            self.jar.take(f"c{number}=x")
        kept = self.jar.sent("/").split("; ")
        self.assertEqual((COOKIES, "c1=x"), (len(kept), kept[0]))
        jars = Jars(Clock())
        jars.of("first").take("a=1")
        jars.of("second").take("a=1")
        for number in range(JARS - 2):
            jars.of(str(number))
        self.assertEqual("a=1", jars.of("first").sent("/"))
        jars.of("one more")
        self.assertEqual("a=1", jars.of("first").sent("/"))
        self.assertEqual("", jars.of("second").sent("/"), "the one that was asked longest ago")
