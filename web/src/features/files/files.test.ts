import { describe, expect, test } from "vitest";
import type { GitStatusResponse } from "../../api/types.ts";
import { type Followed, applyTailMessage, KEPT_CHARS, START } from "./Follow.tsx";
import { hexOf } from "./FilesPage.tsx";
import { languageOf } from "../syntax/languages.ts";
import { searchTree, getMark, collectMarks, listRows } from "./tree.ts";
import { relativePath } from "./relativepath.ts";
import { canReveal } from "./keys.ts";
import type { Entry } from "./state.ts";

const file = (path: string): Entry => ({
  name: path.slice(path.lastIndexOf("/") + 1),
  path,
  type: "file",
  mtimeMs: 0,
});
const folder = (path: string, children?: Entry[]): Entry => ({
  ...file(path),
  type: "dir",
  ...(children && { children }),
});

describe("the tree", () => {
  const folders = new Map([
    [".", [folder("src"), file("README")]],
    ["src", [folder("src/deep"), file("src/a.ts")]],
  ]);

  test("open folders have their entries below them, one that is still read has none", () => {
    const rows = listRows(folders, new Set(["src", "src/deep"]));
    expect(rows.map(({ entry, level, open }) => [entry.path, level, open])).toEqual([
      ["src", 1, true],
      ["src/deep", 2, true],
      ["src/a.ts", 2, undefined],
      ["README", 1, undefined],
    ]);
    expect(listRows(folders, new Set()).map(({ entry }) => entry.path)).toEqual(["src", "README"]);
  });

  const deep = [folder("src", [file("src/tree.ts"), file("src/a/street.ts")]), file("tree/x.ts")];

  test("a filter finds files: names that begin so, names, paths", () => {
    expect(searchTree(deep, "TREE").map(({ path }) => path)).toEqual([
      "src/tree.ts",
      "src/a/street.ts",
      "tree/x.ts",
    ]);
    expect(searchTree(deep, "tree src")).toHaveLength(2);
    expect(searchTree(deep, "tree", 1)).toHaveLength(1);
    expect(searchTree(deep, "nothing")).toEqual([]);
  });
});

describe("git states", () => {
  const change = (path: string, kind: string, letter = "M") => ({
    path,
    kind,
    index: letter,
    worktree: letter,
  });
  const status = (repoRoot: string, files: unknown[]) =>
    ({ repos: [{ status: { state: "ok", repoRoot, files } }] }) as unknown as GitStatusResponse;

  test("of files, and of the folders above them", () => {
    const marks = collectMarks(status("/w/api", [change("src/a.ts", "unstaged")]), "/w");
    expect([...marks].map(([path, { letter }]) => [path, letter])).toEqual([
      ["api/src/a.ts", "M"],
      ["api/src", "•"],
      ["api", "•"],
    ]);
  });

  test("the worse of two stays, and what is outside is not there", () => {
    const both = [change("a", "staged", "A"), change("a", "unstaged"), change("a", "staged", "A")];
    expect(collectMarks(status("/w", both), "/w").get("a")).toMatchObject({ letter: "M", kind: "unstaged" });
    expect(collectMarks(status("/", [change("etc/x", "staged")]), "/w").size).toBe(0);
  });

  test("what is in an untracked folder is untracked too", () => {
    const marks = collectMarks(
      status("/w", [change("new/", "untracked"), change("src/a.ts", "unstaged")]),
      "/w",
    );
    expect(getMark(marks, "new/deep/b.ts")?.kind).toBe("untracked");
    expect(getMark(marks, "src/b.ts")).toBeUndefined();
    expect(getMark(marks, "src/a.ts")?.letter).toBe("M");
  });

  test("a new folder is one mark; a repository that cannot be read has none", () => {
    expect(collectMarks(status("/w", [change("new/", "untracked")]), "/w").get("new")?.letter).toBe("?");
    const broken = { repos: [{ status: { state: "error" } }] } as unknown as GitStatusResponse;
    expect(collectMarks(broken, "/w").size).toBe(0);
  });

  test.each([
    ["/w/a", "/w", "a"],
    ["/wide/a", "/w", undefined],
    ["/w", "/w", undefined],
    ["/a", "/", "a"],
  ])("%s within %s is %s", (path, root, inside) => {
    expect(relativePath(path, root)).toBe(inside);
  });
});

describe("a file that is followed", () => {
  const live: Followed = { ...START, state: "live" };

  test("goes through its messages", () => {
    const first = applyTailMessage(applyTailMessage(START, { type: "connected" }), {
      type: "data",
      data: "one\n",
    });
    expect(first).toEqual({ text: "one\n", state: "live", problem: "" });
    expect(applyTailMessage(first, { type: "truncated" }).text).toContain("replaced");
    expect(applyTailMessage(first, { type: "end" }).state).toBe("ended");
    expect(applyTailMessage(first, { type: "error", message: "gone" })).toMatchObject({
      state: "ended",
      problem: "gone",
    });
  });

  test("is bounded, and begins with a whole line", () => {
    const long = applyTailMessage(live, {
      type: "data",
      data: `${"x".repeat(99)}\n`.repeat(KEPT_CHARS / 50),
    });
    expect(long.text.length).toBeLessThanOrEqual(KEPT_CHARS);
    expect(long.text.startsWith("x".repeat(99))).toBe(true);
    expect(applyTailMessage(live, { type: "data", data: "y".repeat(KEPT_CHARS * 2) }).text).toHaveLength(
      KEPT_CHARS,
    );
  });
});

describe("what is shown of a file", () => {
  test("bytes as a dump", () => {
    const bytes = new Uint8Array([0x7f, 0x45, 0x4c, 0x46, ...Array<number>(14).fill(0)]);
    const [first, second] = hexOf(bytes).split("\n");
    expect(first).toBe(
      "000000  7f 45 4c 46 00 00 00 00  00 00 00 00 00 00 00 00 .ELF............".replace(" .ELF", "  .ELF"),
    );
    expect(second).toMatch(/^000010 {2}00 00 +\.\.$/);
    expect(hexOf(new Uint8Array())).toBe("");
  });

  test("colours by name", () => {
    expect(languageOf("a/b.PY")).toBe(languageOf("x.py"));
    expect(languageOf("a/Dockerfile")).toBeDefined();
    expect(languageOf("a.py/notes")).toBeUndefined();
    expect(languageOf("LICENSE")).toBeUndefined();
  });

  test("every language loads", async () => {
    for (const end of ["py", "ts", "md", "json", "css", "html", "sh", "yml", "toml", "ini", "rs", "go"])
      expect(await languageOf(`x.${end}`)?.()).toBeDefined();
    for (const end of ["rb", "lua", "swift", "sql", "diff", "c", "cpp", "java", "cs", "kt"])
      expect(await languageOf(`x.${end}`)?.()).toBeDefined();
  });

  test("environment files can be revealed, keys cannot", () => {
    const paths = ["a/.env", ".ENV.local", "prod.env", "b/.env/x", "id_rsa", "a.pem"];
    expect(paths.map(canReveal)).toEqual([true, true, true, false, false, false]);
  });
});
