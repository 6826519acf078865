import { describe, expect, test } from "vitest";
import type { Session } from "../../api/types.ts";
import {
  findCaseOfSession,
  formatCloneProgress,
  describeRemoval,
  joinPath,
  filterFolderChoices,
  suggestCaseName,
  validateCaseName,
  listFolderChoices,
  applyCloneProgress,
  explainRemovalBlock,
  findSessionsInCase,
  splitPath,
} from "./rules.ts";
import type { CaseResponse } from "../../api/types.ts";

const shop: CaseResponse = {
  name: "shop",
  path: "/srv/shop",
  location: "linked",
  linked: true,
  hasInstructions: false,
  liveSessions: 0,
};

describe("what is offered", () => {
  const folders = [
    { name: "api", path: "/home/a/api", isRepository: true },
    { name: "docs", path: "/home/a/docs", isRepository: false },
    { name: "shop", path: "/srv/shop", isRepository: true },
  ];

  test("recent folders, then cases, then repositories, each folder once", () => {
    const found = listFolderChoices(
      ["/home/a/docs", "/srv/shop"],
      [shop, { ...shop, name: "x", path: "/x" }],
      folders,
    );
    expect(found.map((each) => [each.kind, each.path, each.caseName])).toEqual([
      ["recent", "/home/a/docs", undefined],
      ["recent", "/srv/shop", "shop"],
      ["case", "/x", "x"],
      ["repository", "/home/a/api", undefined],
    ]);
  });

  test("what is cloned or not responding is shown and cannot be chosen", () => {
    const cloning = { ...shop, cloning: { phase: "receiving", percent: 41.7 } };
    expect(listFolderChoices([], [cloning], [])[0]?.off).toBe("Receiving, 41 %");
    expect(listFolderChoices([], [{ ...shop, unreachable: true }], [])[0]?.off).toBe("not responding");
    expect(listFolderChoices([], [shop], [])[0]).not.toHaveProperty("off");
  });

  test("a search wants every word, whatever its case", () => {
    const all = listFolderChoices(["/home/a/docs"], [shop], folders);
    expect(filterFolderChoices(all, "SHOP linked").map((each) => each.label)).toEqual(["shop"]);
    expect(filterFolderChoices(all, "shop docs")).toEqual([]);
    expect(filterFolderChoices(all, " ")).toHaveLength(all.length);
  });

  test("the way to a folder", () => {
    expect(splitPath("/home/a").map((each) => each.path)).toEqual(["/", "/home", "/home/a"]);
    expect(splitPath("/")).toEqual([{ name: "/", path: "/" }]);
    expect(joinPath("/", "a")).toBe("/a");
    expect(joinPath("/home", "a")).toBe("/home/a");
  });
});

describe("names", () => {
  test.each([
    ["https://git.example.org/team/api.git", "api"],
    ["git@example.org:team/web-ui.git/", "web-ui"],
    ["example.org:site", "site"],
    ["https://example.org/a.b?x=1", "a-b"],
    ["https://git.example.org/équipe/café.git", "cafe"],
    ["https://git.example.org/队/登录.git", ""],
    ["", ""],
  ])("%s is cloned as %s", (repository, name) => {
    expect(suggestCaseName(repository)).toBe(name);
  });

  test("what the service would refuse is said before", () => {
    expect(validateCaseName("a b", [])).toContain("letters");
    expect(validateCaseName("SHOP", [shop])).toContain("A workspace with this name");
    expect(validateCaseName("a".repeat(129), [])).toContain("128");
    expect(validateCaseName("new", [shop])).toBeUndefined();
    expect(validateCaseName("", [shop])).toBeUndefined();
  });
});

describe("clones", () => {
  test("progress goes to the case that it is of", () => {
    const other = { ...shop, name: "other" };
    const [first, second] = applyCloneProgress([shop, other], {
      name: "other",
      phase: "resolving",
      percent: null,
    });
    expect(first).toBe(shop);
    expect(second?.cloning).toEqual({ phase: "resolving", percent: null });
  });

  test("a phase that is not known keeps its own name", () => {
    expect(formatCloneProgress({ phase: "connecting", percent: null })).toBe("Connecting…");
    expect(formatCloneProgress({ phase: "constructor", percent: 3 })).toBe("constructor, 3 %");
  });
});

describe("removal", () => {
  test("says what becomes of the folder", () => {
    expect(describeRemoval(shop)).toContain("only the name");
    expect(describeRemoval({ ...shop, location: "local", linked: false })).toContain("trash");
    const worktree = { repository: "api", branch: "fix" };
    expect(describeRemoval({ ...shop, worktree })).toContain("The branch fix stays");
    expect(describeRemoval({ ...shop, location: "container" })).toContain("removes its container");
  });

  test("sessions and clones are in the way", () => {
    expect(explainRemovalBlock(shop)).toBeUndefined();
    expect(explainRemovalBlock({ ...shop, liveSessions: 1 })).toBe("Close its session first.");
    expect(explainRemovalBlock({ ...shop, liveSessions: 2 })).toContain("Close its 2 sessions first");
    expect(explainRemovalBlock({ ...shop, cloning: { phase: "x", percent: null } })).toContain(
      "Cancel the clone",
    );
  });
});

describe("sessions of a case", () => {
  const at = (workingDir: string, caseName?: string) => ({ workingDir, caseName }) as Session;
  const inner = { ...shop, name: "inner", path: "/srv/shop/inner" };

  test("are those of its name and of its folder", () => {
    const all = [at("/srv/shop"), at("/srv/shop/src"), at("/srv/shopping"), at("/x", "shop")];
    expect(findSessionsInCase(shop, all)).toEqual([all[0], all[1], all[3]]);
  });

  test("a session is in the case of its name, else in the innermost", () => {
    expect(findCaseOfSession(at("/srv/shop/inner/a"), [shop, inner])).toBe(inner);
    expect(findCaseOfSession(at("/srv/shop/inner", "shop"), [inner, shop])).toBe(shop);
    expect(findCaseOfSession(at("/y"), [inner, shop])).toBeUndefined();
  });
});
