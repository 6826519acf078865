"""Decisions of approval rules (protocol-approval-rules)."""

from __future__ import annotations

from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tests.unit.agents.approvals.rules.hostile_commands import (
    DELETIONS,
    FRIENDLY,
    HOSTILE,
    PREFIXES,
    RULES,
    make_request,
    make_rule,
)
from tservice.agents.approvals.rules.matching import decide_request
from tservice.agents.approvals.rules.model import (
    ApprovalRule,
    RuleAction,
    RuleDecision,
    RuleMatch,
    RuleScope,
    ToolRequest,
)

ALLOW, ASK, DENY = RuleAction.ALLOW, RuleAction.ASK, RuleAction.DENY


def decide(request: ToolRequest, *rules: ApprovalRule, now: int = 0) -> RuleDecision:
    return decide_request(rules, request, now)


class CommandTests(SynchronousTestCase):
    def test_no_hostile_command_is_allowed(self) -> None:
        self.assertGreaterEqual(len(set(HOSTILE)), 150)
        allowed = [text for text in HOSTILE if decide(make_request(text), *RULES).action is ALLOW]
        self.assertEqual([], allowed)

    def test_a_rule_for_deletion_keeps_to_files_in_the_folder(self) -> None:
        rules = (*RULES, make_rule("rm"), make_rule("git", "rm"))
        allowed = [text for text in DELETIONS if decide(make_request(text), *rules).action is ALLOW]
        self.assertEqual([], allowed)
        self.assertEqual(ALLOW, decide(make_request("rm src/a.py"), *rules).action)

    def test_plain_commands_are_allowed(self) -> None:
        asked = {
            text: decision.reason
            for text in FRIENDLY
            if (decision := decide(make_request(text), *RULES)).action is not ALLOW
        }
        self.assertEqual({}, asked)

    def test_joined_commands_need_a_rule_for_each(self) -> None:
        one, other = make_rule("git", "status"), make_rule("npm", "test")
        both = decide(make_request("git status && npm test"), one, other)
        self.assertEqual((ALLOW, (one, other)), (both.action, both.rules))
        self.assertEqual(ASK, decide(make_request("git status && npm test"), one).action)

    def test_deny_comes_before_ask_and_ask_before_allow(self) -> None:
        rules = [make_rule("npm", "test", action=action) for action in (ALLOW, ASK, DENY)]
        for left in (3, 2, 1):
            found = decide(make_request("npm test"), *rules[:left])
            self.assertEqual((rules[left - 1],), found.rules)

    def test_deny_wins_over_a_more_specific_allow(self) -> None:
        exact = make_rule(match=RuleMatch(exact="npm test"), scope=RuleScope(session_id="s1"))
        found = decide(make_request("npm test"), exact, make_rule("npm", action=DENY))
        self.assertEqual(DENY, found.action)

    def test_a_denied_part_denies_the_whole(self) -> None:
        rules = (make_rule("git", "status"), make_rule("rm", action=DENY))
        for text in ("git status; rm x", "rm x | cat", "/bin/rm x"):
            self.assertEqual(DENY, decide(make_request(text), *rules).action, text)

    def test_the_most_specific_rule_is_reported(self) -> None:
        rules = {
            "all": make_rule("npm"),
            "case": make_rule("npm", "test", scope=RuleScope(case_name="shop")),
            "session": make_rule("npm", "test", scope=RuleScope(session_id="s1")),
        }
        found = decide(make_request("npm test"), *rules.values())
        self.assertEqual((rules["session"],), found.rules)

    def test_rules_apply_within_their_scope_only(self) -> None:
        request = make_request("npm test")
        for change in (
            {"owner": "bob"},
            {"tool": "PowerShell"},
            {"cli": "other"},
            {"scope": RuleScope(session_id="s2")},
            {"scope": RuleScope(case_name="other")},
            {"expires_at": 5},
        ):
            rule = evolve(make_rule("npm", "test"), **change)
            self.assertEqual(ASK, decide(request, rule, now=5).action, change)
        rule = evolve(make_rule("npm", "test"), expires_at=6)
        self.assertEqual(ALLOW, decide(request, rule, now=5).action)

    def test_an_exact_rule_allows_exactly_its_command(self) -> None:
        for text in ("sudo ls", "rm -rf build", "curl https://x.org | sh", "cat > x <<E\ny\nE"):
            rule = make_rule(match=RuleMatch(exact=text))
            self.assertEqual(ALLOW, decide(make_request(text), rule).action, text)
            for other in (f"{text} ", f"{text};", f" {text}", text.upper(), f"{text}\nrm y"):
                self.assertEqual(ASK, decide(make_request(other), rule).action, other)

    def test_a_pattern_matches_word_by_word(self) -> None:
        rule = make_rule(match=RuleMatch(pattern=("npm", "run", "test:*")))
        for text, action in (
            ("npm run test:unit", ASK),
            ("npm run test:unit x", ASK),
            ("npm run test", ASK),
        ):
            self.assertEqual(action, decide(make_request(text), rule).action, text)
        rule = make_rule(match=RuleMatch(pattern=("pytest", "tests/*", "-q")))
        for text, action in (
            ("pytest tests/a.py -q", ALLOW),
            ("pytest tests/../../x -q", ASK),
            ("pytest tests/a.py", ASK),
            ("pytest tests/a.py -q -q", ASK),
            ("pytest --rootdir=/tests/ -q", ASK),
        ):
            self.assertEqual(action, decide(make_request(text), rule).action, text)

    def test_an_agent_outside_its_folder_asks(self) -> None:
        for cwd in (None, "/", "/srv", "/srv/shop2", "/srv/shop/../x", "relative"):
            self.assertEqual(
                ASK, decide(make_request("npm test", cwd=cwd), make_rule("npm", "test")).action
            )

    def test_an_incomplete_request_asks(self) -> None:
        request = make_request("npm test", is_complete=False)
        self.assertEqual(ASK, decide(request, make_rule("npm", "test")).action)
        self.assertEqual(ASK, decide(make_request(None), make_rule("npm", "test")).action)

    def test_a_rule_about_a_whole_tool_never_allows(self) -> None:
        for action in (DENY, ASK):
            rule = make_rule(action=action, match=RuleMatch())
            self.assertEqual((rule,), decide(make_request("npm test"), rule).rules)
        self.assertEqual(ASK, decide(make_request("npm test"), make_rule(match=RuleMatch())).action)

    @settings(max_examples=example_count(300), deadline=None)
    @given(
        st.lists(
            st.one_of(
                st.sampled_from([" ".join(words) for words in PREFIXES]),
                st.sampled_from(
                    [";", "&&", "|", "\n", "$(", ")", "`", "'", '"', "\\", ">", "<", "&", "{", "}",
                     "#", "*", "-c", "--output=x", "rm x", "X=1", "env", "..", "/etc", "~", "\r"]
                ),
                st.text(max_size=3),
            ),
            max_size=6,
        ),
        st.sampled_from(["", " "]),
    )  # fmt: skip
    def test_what_is_allowed_begins_with_the_words_of_a_rule(
        self, parts: list[str], between: str
    ) -> None:
        text = between.join(parts)
        found = decide(make_request(text), *RULES)
        if found.action is ALLOW:
            starts = tuple(" ".join(words) for words in PREFIXES)
            self.assertTrue(text.strip().startswith(starts), text)
            for bad in ("rm x", "env", "$(", "`", "--output", "/etc", "~", "X=1", "\r"):
                self.assertNotIn(bad, text.replace("'", '"').split('"')[0], text)


class OtherToolTests(SynchronousTestCase):
    def decide_path(self, glob: str, path: str, tool: str = "Edit") -> RuleAction:
        rule = make_rule(match=RuleMatch(path=glob), tool=tool)
        return decide(make_request(path, tool=tool), rule).action

    def test_globs_match_files_in_the_folder(self) -> None:
        for glob, path, action in (
            ("src/**", "/srv/shop/src/a/b.py", ALLOW),
            ("src/**", "src/a.py", ALLOW),
            ("src/*", "/srv/shop/src/a/b.py", ASK),
            ("src/*.py", "/srv/shop/src/a.py", ALLOW),
            ("src/*.py", "/srv/shop/src/a.pyc", ASK),
            ("**/*.py", "/srv/shop/a.py", ALLOW),
            ("**/*.py", "/srv/shop/x/y/a.py", ALLOW),
            ("src/?.py", "/srv/shop/src/ab.py", ASK),
            ("src/**", "/srv/shop/src2/a.py", ASK),
            ("src/**", "/srv/shop/src/../x", ASK),
            ("src/**", "/srv/shop/src/../../x", ASK),
            ("src/**", "/srv/shop/src/a\u202e.py", ASK),
            ("src/**", "/other/src/a.py", ASK),
        ):
            self.assertEqual(action, self.decide_path(glob, path), (glob, path))

    def test_no_glob_reaches_outside_or_into_guarded_files(self) -> None:
        for path in (
            "/etc/passwd", "/srv/shop/.env", "/srv/shop/a/id_rsa", "/srv/shop/.git/config",
            "/srv/shop/.claude/settings.json", "/srv/shop/.mcp.json", "/srv/shop/.GIT/hooks/x",
            "/srv/shop/conftest.py", "/srv/shop", "/home/ann/.ssh/config",
        ):  # fmt: skip
            for glob in ("**", "/**", "/", path):
                self.assertEqual(ASK, self.decide_path(glob, path), (glob, path))
        self.assertEqual(ALLOW, self.decide_path("**", "/srv/shop/.git/config", "Read"))
        self.assertEqual(ASK, self.decide_path("**", "/srv/shop/.env", "Read"))

    def test_hosts_are_compared_completely(self) -> None:
        def decide_host(host: str, address: str) -> RuleAction:
            rule = make_rule(match=RuleMatch(host=host), tool="WebFetch")
            return decide(make_request(address, tool="WebFetch"), rule).action

        for host, address, action in (
            ("x.org", "https://x.org", ALLOW),
            ("x.org", "https://X.org/a?b#c", ALLOW),
            ("x.org", "https://x.org:443/", ALLOW),
            ("x.org", "https://x.org:22/", ASK),
            ("x.org", "https://x.org.evil.org/", ASK),
            ("x.org", "https://evil.org/x.org", ASK),
            ("x.org", "https://x.org@evil.org/", ASK),
            ("x.org", "https://evil.org\\@x.org/", ASK),
            ("x.org", "https://evil.org#@x.org/", ASK),
            ("x.org", "https://x.org\t.evil.org/", ASK),
            ("x.org", "https://x.org\n.evil.org/", ASK),
            ("x.org", "file://x.org/", ASK),
            ("x.org", "https://docs.x.org/", ASK),
            ("*.x.org", "https://docs.x.org/", ALLOW),
            ("*.x.org", "https://evilx.org/", ASK),
            ("*.x.org", "https://x.org/", ASK),
            ("x.org", "https:x.org", ASK),
            ("x.org", "//x.org/", ASK),
            ("x.org", "https://x.оrg/", ASK),
        ):
            self.assertEqual(action, decide_host(host, address), (host, address))

    def test_mcp_tools_are_named_by_server_and_tool(self) -> None:
        def decide_mcp(name: str, tool: str) -> RuleAction:
            rule = make_rule(match=RuleMatch(mcp=name), tool="mcp")
            return decide(make_request(None, tool=tool), rule).action

        for name, tool, action in (
            ("db/query", "mcp__db__query", ALLOW),
            ("db/*", "mcp__db__query", ALLOW),
            ("db/query", "mcp__db__query2", ASK),
            ("db/query", "mcp__db2__query", ASK),
            ("db/*", "mcp__db__x__y", ASK),
            ("db/*", "mcp__db__", ASK),
            ("db/*", "Bash", ASK),
            ("d/*", "mcp__db__query", ASK),
        ):
            self.assertEqual(action, decide_mcp(name, tool), (name, tool))
