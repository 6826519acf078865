import { describe, expect, test } from "vitest";
import { localAddresses, nameOf, closeTab, frontTab, OPEN_MAX, openTabs, showTab } from "./state.ts";

describe("addresses", () => {
  test("those of this machine, each once", () => {
    const text =
      "  ➜  Local:   http://localhost:5173/\n  (http://127.0.0.1:8888/lab?token=ab). http://localhost:5173/";
    expect(localAddresses(text)).toEqual(["http://localhost:5173/", "http://127.0.0.1:8888/lab?token=ab"]);
  });

  test("a wildcard is the machine itself, a port that is none is passed over", () => {
    expect(localAddresses("on http://0.0.0.0:8000, http://localhost:99999/")).toEqual([
      "http://localhost:8000/",
    ]);
  });

  test("no others", () => {
    expect(localAddresses("https://example.org:80 http://localhosts:1 http://10.0.0.1:5")).toEqual([]);
  });

  test("names", () => {
    expect([nameOf("http://localhost:5173/"), nameOf("http://127.0.0.1:8888/lab?token=ab")]).toEqual([
      "localhost:5173",
      "127.0.0.1:8888/lab",
    ]);
  });
});

test("so many are open, and the first gives way", () => {
  for (let n = 0; n <= OPEN_MAX; n++) showTab({ id: `${n}`, name: "a", url: "http://a/" });
  expect(openTabs.value.map((tab) => tab.id)).toEqual(["1", "2", "3", "4", "5", "6", "7", "8"]);
  showTab({ id: "3", name: "b", url: "http://b/" });
  expect(openTabs.value.length).toBe(OPEN_MAX);
  closeTab("3");
  expect([frontTab.value, openTabs.value.length]).toEqual([undefined, OPEN_MAX - 1]);
});
