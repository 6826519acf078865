import { expect, test } from "vitest";
import { isMarkdown, slugOf, targetOf } from "./places.ts";

test("links stay in the workspace or go to the web", () => {
  expect(targetOf("guide.md", "docs/index.md")).toEqual({ kind: "file", path: "docs/guide.md" });
  expect(targetOf("../a%20b.md#part", "docs/index.md")).toEqual({ kind: "file", path: "a b.md" });
  expect(targetOf("/LICENSE", "docs/index.md")).toEqual({ kind: "file", path: "LICENSE" });
  expect(targetOf("https://example.org/a", "a.md")).toEqual({ kind: "web", url: "https://example.org/a" });
  expect(targetOf("#part-one", "a.md")).toEqual({ kind: "heading", slug: "part-one" });
});

test("what leads anywhere else is text", () => {
  for (const url of [
    "../../etc/passwd",
    "javascript:alert(1)",
    "data:text/html,x",
    "//example.org",
    "",
    "%E0",
  ])
    expect(targetOf(url, "docs/index.md"), url).toEqual({ kind: "none" });
});

test("headings are named as forges do", () => {
  expect(slugOf("What's new, in 2.0?")).toBe("whats-new-in-20");
});

test("documents are known by their names", () => {
  expect(isMarkdown("a/README.MD")).toBe(true);
  expect(isMarkdown("README")).toBe(false);
});
