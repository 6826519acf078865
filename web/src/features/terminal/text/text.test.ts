import { describe, expect, test } from "vitest";
import { leaveTabId, takeTabId } from "../link/cid.ts";
import { clipboardKey, platformOf } from "./keys.ts";
import { isWebAddress } from "./address.ts";
import { clipboardWish } from "./osc52.ts";
import { cleanPaste, pasteQuestion } from "./paste.ts";
import { selectEvicted } from "../eviction.ts";
import { asksColour } from "./reports.ts";

describe("paste", () => {
  test("control characters do not reach the program, tabs and lines do", () => {
    expect(cleanPaste("a\tb\r\nc\x1b[201~\x07\x00\x7f\x9bd")).toBe("a\tb\nc[201~d");
  });

  test("asks before what would run or flood", () => {
    expect(pasteQuestion("one", false)).toBeUndefined();
    expect(pasteQuestion("one\n", false)).toBeUndefined();
    expect(pasteQuestion("one\ntwo", false)).toMatch(/^Paste 2 lines\?/);
    expect(pasteQuestion("one\ntwo", true)).toBeUndefined();
    expect(pasteQuestion("x".repeat(5001), true)).toBe("Paste 5.0 KB in 1 line?");
  });
});

describe("clipboard keys", () => {
  const key = (code: string, held: string) => ({
    code,
    ctrlKey: held.includes("c"),
    shiftKey: held.includes("s"),
    altKey: held.includes("a"),
    metaKey: held.includes("m"),
  });

  test.each([
    ["KeyC", "cs", false, "other", "copy"],
    ["KeyV", "cs", false, "other", "browser"],
    ["KeyC", "c", true, "other", "program"],
    ["KeyV", "c", false, "other", "program"],
    ["KeyC", "c", true, "windows", "copy"],
    ["KeyC", "c", false, "windows", "program"],
    ["KeyV", "c", false, "windows", "browser"],
    ["KeyC", "m", true, "mac", "browser"],
    ["KeyC", "c", true, "mac", "program"],
    ["KeyC", "ca", true, "windows", "program"],
    ["KeyX", "cs", true, "other", "program"],
  ] as const)("%s with %s, selected %s, on %s: %s", (code, held, selected, platform, wanted) => {
    expect(clipboardKey(key(code, held), selected, platform)).toBe(wanted);
  });

  test("platforms by their user agents", () => {
    expect(platformOf("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)")).toBe("mac");
    expect(platformOf("Mozilla/5.0 (Windows NT 10.0; Win64; x64)")).toBe("windows");
    expect(platformOf("Mozilla/5.0 (X11; Linux x86_64)")).toBe("other");
  });
});

describe("OSC 52", () => {
  test("decodes what a program wants to copy", () => {
    expect(clipboardWish(`c;${btoa("hi")}`)).toBe("hi");
    expect(clipboardWish("c;w7w=")).toBe("ü");
  });

  test.each(["c;?", "c;", "nothing", "c;%%%", "c;/w=="])("refuses %s", (data) => {
    expect(clipboardWish(data)).toBeUndefined();
  });
});

test("only web addresses are followed", () => {
  expect(isWebAddress("https://example.org/x")).toBe(true);
  for (const text of ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "nothing"]) {
    expect(isWebAddress(text)).toBe(false);
  }
});

test("a colour is asked for where a value is a question mark", () => {
  expect(asksColour("?")).toBe(true);
  expect(asksColour("1;?")).toBe(true);
  expect(asksColour("rgb:00/00/00")).toBe(false);
});

test("the oldest terminals go, the wanted one stays", () => {
  expect(selectEvicted(["a", "b", "c"], ["d"], 3)).toEqual(["a"]);
  expect(selectEvicted(["a", "b", "c"], ["a"], 3)).toEqual([]);
  expect(selectEvicted([], ["a"], 3)).toEqual([]);
  expect(selectEvicted(["a", "b", "c"], ["b", "d", "e", "f"], 3)).toEqual(["a", "c"]);
});

describe("tab id", () => {
  function storage() {
    const map = new Map<string, string>();
    return {
      getItem: (key: string) => map.get(key) ?? null,
      setItem: (key: string, value: string) => void map.set(key, value),
      removeItem: (key: string) => void map.delete(key),
    };
  }

  test("a reload keeps it, a copy of a living page does not", () => {
    const store = storage();
    expect(takeTabId(store, () => "first")).toBe("first");
    expect(takeTabId(store, () => "copy")).toBe("copy");
    leaveTabId(store, "first");
    expect(takeTabId(store, () => "other")).toBe("first");
  });
});
