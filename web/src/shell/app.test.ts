import { describe, expect, test } from "vitest";
import { asLines, withoutBlankEnd } from "../features/history/capture.ts";
import { countLines, mostRows, partsOf, findCell, rowFor, type Rows } from "../features/history/rows.ts";
import { backoff } from "../lib/backoff.ts";
import { formatBytes, plural, shortenPath } from "../lib/format.ts";
import { uuid } from "../lib/ids.ts";
import { DEFAULTS, defaultsFor, isDark, parsePrefs, SIDEBAR_LEAST } from "../store/prefs.ts";
import { actionFor, digitOf, formatKeysOf, SHORTCUTS } from "../features/shortcuts/table.ts";
import { nextItem } from "../ui/menu.ts";
import { addToast, type Toast, TOASTS_MAX } from "../store/toasts.ts";
import { describeConnection } from "../store/connectionnotice.ts";
import { availablePages, findPage, registerPage } from "../ui/pages/registry.ts";
import { readRoute, titleOf, writeRoute } from "../ui/pages/route.ts";

describe("routes", () => {
  test.each([
    ["http://h/", { login: false }],
    ["http://h/p/?session=a&page=settings", { login: false, session: "a", page: "settings" }],
    ["http://h/p/login", { login: true }],
  ])("%s", (url, route) => {
    expect(readRoute(new URL(url))).toEqual(route);
    expect(readRoute(new URL(writeRoute(route), url))).toEqual(route);
  });

  test("the title names the session and how many wait", () => {
    expect(titleOf({ name: "build" }, 2, "")).toBe("(2) build · tservice");
    expect(titleOf(undefined, 0, "home")).toBe("home");
  });
});

describe("pages", () => {
  const load = () => Promise.resolve(() => null);

  test("are listed in their order, where they are available, and once", () => {
    registerPage({ id: "z", title: "Z", icon: "help", order: 9, load });
    registerPage({ id: "a", title: "A", icon: "help", order: 1, load });
    registerPage({ id: "off", title: "Off", icon: "help", order: 0, load, available: () => false });
    expect(availablePages().map((page) => page.id)).toEqual(["a", "z"]);
    expect(findPage("off")).toBeUndefined();
    expect(() => registerPage({ id: "a", title: "A", icon: "help", order: 1, load })).toThrow("twice");
  });
});

describe("shortcuts", () => {
  const key = (code: string, held: string, char = "") => ({
    code,
    key: char,
    ctrlKey: held.includes("c"),
    shiftKey: held.includes("s"),
    altKey: held.includes("a"),
    metaKey: held.includes("m"),
  });
  const find = (code: string, held: string, mac = false, char = "") =>
    actionFor(key(code, held, char), mac, true, false);

  test.each([
    ["KeyN", "as", "new"],
    ["Digit3", "a", "goto"],
    ["KeyF", "cs", "search"],
    ["Enter", "as", "next-blocked"],
    ["KeyV", "as", "review"],
    ["KeyQ", "as", "quote"],
  ])("%s with %s is %s", (code, held, action) => {
    expect(find(code, held)).toBe(action);
  });

  test.each([
    ["US", "Equal", "=", "c", "zoom-in"],
    ["US", "Equal", "+", "cs", "zoom-in"],
    ["US", "Minus", "-", "c", "zoom-out"],
    ["US", "NumpadSubtract", "-", "c", "zoom-out"],
    ["US", "Minus", "_", "cs", undefined],
    ["US", "Slash", "?", "cs", "help"],
    ["German", "BracketRight", "+", "c", "zoom-in"],
    ["German", "Equal", "´", "c", undefined],
    ["German", "Minus", "ß", "c", undefined],
    ["German", "Slash", "_", "cs", undefined],
    ["French", "Digit8", "_", "c", undefined],
    ["French", "Digit6", "-", "c", "zoom-out"],
    ["Japanese", "Equal", "^", "c", undefined],
    ["Japanese", "IntlRo", "_", "cs", undefined],
  ])("%s: %s that writes %s with %s is %s", (_layout, code, char, held, action) => {
    expect(find(code, held, false, char)).toBe(action);
  });

  test.each([
    ["KeyC", "c"],
    ["KeyN", "c"],
    ["KeyN", "a"],
    ["KeyF", "c"],
    ["KeyF", "a"],
    ["F2", ""],
    ["ArrowLeft", "a"],
    ["KeyN", "asm"],
    ["Digit1", "c"],
  ])("%s with %s is the program's", (code, held) => {
    expect(find(code, held)).toBeUndefined();
  });

  test("a Mac zooms with Command and leaves Control alone", () => {
    expect(find("Equal", "m", true, "=")).toBe("zoom-in");
    expect(find("Equal", "c", true, "=")).toBeUndefined();
  });

  test("a question mark opens the help only where nobody types", () => {
    const mark = key("Slash", "s", "?");
    expect(actionFor(mark, false, false, false)).toBe("help");
    expect(actionFor(mark, false, true, false)).toBeUndefined();
    expect(actionFor(mark, false, false, true)).toBeUndefined();
  });

  test("no two shortcuts share a key", () => {
    const keys = SHORTCUTS.flatMap((each) =>
      [...each.codes, ...(each.signs ?? "")].map((code) => [code, each.ctrl, each.shift, each.alt].join()),
    );
    expect(new Set(keys).size).toBe(keys.length);
  });

  test.each([
    ["new", "Alt+Shift+N"],
    ["next-blocked", "Alt+Shift+Enter"],
    ["next", "Alt+Shift+→"],
    ["goto", "Alt+1 … 9"],
    ["zoom-in", "Ctrl++"],
    ["help", "Ctrl+Shift+/"],
  ] as const)("%s is read as %s", (action, keys) => {
    expect(formatKeysOf(action)).toBe(keys);
  });

  test("digits count from the first", () => {
    expect([digitOf("Digit1"), digitOf("Digit9"), digitOf("KeyA")]).toEqual([0, 8, -1]);
  });
});

describe("choices of this browser", () => {
  test("stored ones come back", () => {
    const mine = { ...DEFAULTS, theme: "light" as const, fontSize: 20, programCopy: true };
    expect(parsePrefs(JSON.stringify(mine))).toEqual(mine);
  });

  test.each([null, "", "{", "7", "null", '{"theme":"pink","fontSize":"big","cursorBlink":1}'])(
    "%s is the defaults",
    (text) => {
      expect(parsePrefs(text)).toEqual(DEFAULTS);
    },
  );

  test("figures stay in their range", () => {
    expect(parsePrefs('{"sidebarWidth":9}').sidebarWidth).toBe(SIDEBAR_LEAST);
    expect(parsePrefs('{"fontSize":900,"scrollback":-3}')).toMatchObject({ fontSize: 32, scrollback: 500 });
  });

  test("a phone's text is smaller until chosen otherwise", () => {
    expect(parsePrefs("{}", defaultsFor(true)).fontSize).toBe(12);
    expect(parsePrefs('{"fontSize":15}', defaultsFor(true)).fontSize).toBe(15);
  });

  test("the system decides where nothing was chosen", () => {
    expect([
      isDark("system", true),
      isDark("system", false),
      isDark("light", true),
      isDark("dark", false),
    ]).toEqual([true, false, false, true]);
  });
});

describe("formatters", () => {
  test("bytes, counts and paths", () => {
    expect([formatBytes(999), formatBytes(1500), formatBytes(25_000), formatBytes(3.2e6)]).toEqual([
      "999 bytes",
      "1.5 KB",
      "25 KB",
      "3.2 MB",
    ]);
    expect([plural(1, "line"), plural(1234, "line"), plural(2, "match", "matches")]).toEqual([
      "1 line",
      "1,234 lines",
      "2 matches",
    ]);
    expect([shortenPath("/a/b"), shortenPath("/a/b/c/d")]).toEqual(["/a/b", "…/c/d"]);
  });

  test("retries double up to their bound, with half of each drawn", () => {
    const rule = { first: 100, most: 1000 };
    expect([0, 1, 2, 9, 999].map((n) => backoff(rule, n, 1))).toEqual([100, 200, 400, 1000, 1000]);
    expect(backoff(rule, 0, 0)).toBe(50);
  });

  test("ids are UUIDs of version 4 without crypto.randomUUID", () => {
    const zeros = { getRandomValues: <T>(array: T) => array };
    expect(uuid(zeros as Crypto)).toBe("00000000-0000-4000-8000-000000000000");
    expect(uuid()).not.toBe(uuid());
  });
});

/** Rows of seven cells, as a terminal keeps them. */
function rowsOf(texts: string[], wrapped: number[]): Rows {
  const lines = texts.map((text, y) => {
    const cells = [...text].flatMap((sign) => (sign > "\u2fff" ? [sign, undefined] : [sign]));
    return {
      isWrapped: wrapped.includes(y),
      length: 7,
      getCell: (x: number) => ({
        getChars: () => cells[x] ?? "",
        getWidth: () => (x < cells.length && cells[x] === undefined ? 0 : 1),
      }),
    };
  });
  return { length: lines.length, getLine: (y) => lines[y] };
}

describe("history", () => {
  test("bare line feeds return the caret, others are left", () => {
    expect(asLines("a\nb\r\nc")).toBe("a\r\nb\r\nc");
    expect(withoutBlankEnd("a\n\nb\n\x1b[0m \n\n")).toBe("a\n\nb");
    expect(withoutBlankEnd("$ \r\n\r\n\r\x1b[2A\x1b[2C")).toBe("$ \r");
    expect([withoutBlankEnd("a"), withoutBlankEnd(""), withoutBlankEnd("\n\n")]).toEqual(["a", "", ""]);
    expect([countLines(""), countLines("a\nb"), countLines("a\nb\n")]).toEqual([1, 2, 3]);
  });

  test("a match is shown with what surrounds it", () => {
    expect(partsOf("one two three", 4, 3)).toEqual({ before: "one ", match: "two", after: " three" });
    const long = partsOf(`${"x".repeat(100)}NEEDLE${"y".repeat(100)}`, 100, 6);
    expect(long.match).toBe("NEEDLE");
    expect(long.before).toBe(`…${"x".repeat(60)}`);
    expect(long.after).toHaveLength(60);
    expect([rowFor(100, 30), rowFor(3, 30)]).toEqual([90, 0]);
    expect(partsOf("🙂🙂 x needle", 5, 6).match).toBe("needle");
  });

  test("a match is found in a line that is wrapped over rows", () => {
    const rows = rowsOf(["first", "abcd日", "", "本efgh", "last"], [2, 3]);
    const at = (line: number, offset: number) => {
      const { row, column } = findCell(rows, line, offset);
      return [row, column];
    };
    expect([at(0, 0), at(1, 3), at(1, 4), at(1, 5), at(1, 6)]).toEqual([
      [0, 0],
      [1, 3],
      [1, 4],
      [3, 0],
      [3, 2],
    ]);
    expect([at(2, 2), at(9, 9)]).toEqual([
      [4, 2],
      [4, 0],
    ]);
    expect(mostRows("x".repeat(25), 10)).toBeGreaterThanOrEqual(3);
  });
});

describe("small things", () => {
  const toast = (id: number, title = String(id)): Toast => ({ id, tone: "info", title });

  test("toasts are bounded and the same one does not pile up", () => {
    let list: readonly Toast[] = [];
    for (let n = 0; n < TOASTS_MAX + 2; n++) list = addToast(list, toast(n));
    expect(list.map((each) => each.id)).toEqual([2, 3, 4, 5]);
    expect(addToast(list, toast(9, "3")).map((each) => each.id)).toEqual([2, 4, 5, 9]);
  });

  test("walking a menu passes over what is disabled and goes around", () => {
    const items = [{}, { disabled: true }, {}].map((part, n) => ({
      label: String(n),
      act: () => {},
      ...part,
    }));
    expect([
      nextItem(items, -1, 1),
      nextItem(items, 0, 1),
      nextItem(items, 2, 1),
      nextItem(items, 0, -1),
    ]).toEqual([0, 2, 0, 2]);
    expect(nextItem([{ label: "x", act: () => {}, disabled: true }], 0, 1)).toBe(0);
  });

  test.each([
    ["open", false, true, undefined],
    ["connecting", false, false, undefined],
    ["retrying", false, true, "Connection lost"],
    ["retrying", false, false, "Can't reach the server"],
    ["retrying", true, true, "The server is restarting"],
    ["open", true, true, undefined],
    ["offline", true, true, "offline"],
  ] as const)("banner for %s, restart %s, known %s", (state, restart, known, words) => {
    const text = describeConnection(state, restart, known);
    if (words === undefined) expect(text).toBeUndefined();
    else expect(text).toContain(words);
  });
});
