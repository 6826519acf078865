// @vitest-environment happy-dom
import { useRef } from "preact/hooks";
import { expect, test, vi } from "vitest";
import { show } from "../../ui/rendered.ts";
import { colourText, LONGEST } from "./highlight.ts";
import { areTokensOf, cutTokens } from "./tokens.ts";
import { Tokens } from "./Tokens.tsx";
import { useColours } from "./useColours.ts";

test("lines keep their text, and words get kinds", async () => {
  const text = 'def f(x):\n    return "ü" # why\n';
  const lines = await colourText(text, { path: "a.py" });
  expect(lines?.map((line) => line.map((token) => token.text).join("")).join("\n")).toBe(text);
  expect(lines?.[0]?.[0]).toEqual({ text: "def", kind: "syn-keyword" });
  expect(lines?.[1]?.find(({ text: each }) => each === '"ü"')?.kind).toBe("syn-string");
});

test("modes that read line by line colour, too", async () => {
  const lines = await colourText("if true; then\n  echo 'x'\nfi", { name: "bash" });
  expect(lines?.[0]?.[0]?.kind).toBe("syn-keyword");
  expect(lines?.length).toBe(3);
});

test("plain and very long texts have no colours", async () => {
  expect(await colourText("x", { path: "LICENSE" })).toBeUndefined();
  expect(await colourText("x", { name: "" })).toBeUndefined();
  expect(await colourText("1".repeat(LONGEST + 1), { path: "a.py" })).toBeUndefined();
});

test("languages are known by the words behind a fence", async () => {
  for (const name of ["python", "ts", "TypeScript title=x", "c++", "dockerfile", "rust"])
    expect(await colourText("x", { name }), name).toBeDefined();
});

test("tokens are cut where a change begins and ends", () => {
  const tokens = [
    { text: "abc", kind: "k" },
    { text: "def", kind: "" },
  ];
  expect(cutTokens(tokens, 2, 4)).toEqual([
    { text: "c", kind: "k" },
    { text: "d", kind: "" },
  ]);
  expect(cutTokens(tokens, 6, 9)).toEqual([]);
  expect(areTokensOf(tokens, "abcdef")).toBe(true);
  expect(areTokensOf(tokens, "abcde")).toBe(false);
});

test("a text is coloured once it is near the window", async () => {
  let near: (() => void) | undefined;
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      constructor(hear: (entries: { isIntersecting: boolean }[]) => void) {
        near = () => hear([{ isIntersecting: true }]);
      }
      observe(): void {}
      disconnect(): void {}
    },
  );
  function Line() {
    const place = useRef<HTMLElement>(null);
    const [colours] = useColours(place, ["return 1"], "a.py") ?? [];
    return <code ref={place}>{colours?.[0] && <Tokens tokens={colours[0]} />}</code>;
  }
  const { container } = show(<Line />);
  expect(container.querySelector(".syn-keyword")).toBeNull();
  near?.();
  await vi.waitFor(() => expect(container.querySelector(".syn-keyword")?.textContent).toBe("return"));
});
