import { describe, expect, test } from "vitest";
import type { Session } from "../api/types.ts";
import {
  caseOf,
  cloneWords,
  consequences,
  inside,
  matching,
  nameOfRepository,
  nameProblem,
  placesOf,
  progressed,
  removalBar,
  sessionsIn,
  stepsOf,
} from "./rules.ts";
import type { CaseResponse } from "./types.ts";

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
    const found = placesOf(
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

  test("what is cloned or does not answer is shown and cannot be chosen", () => {
    const cloning = { ...shop, cloning: { phase: "receiving", percent: 41.7 } };
    expect(placesOf([], [cloning], [])[0]?.off).toBe("Receiving, 41 %");
    expect(placesOf([], [{ ...shop, unreachable: true }], [])[0]?.off).toBe("does not answer");
    expect(placesOf([], [shop], [])[0]).not.toHaveProperty("off");
  });

  test("a search wants every word, whatever its case", () => {
    const all = placesOf(["/home/a/docs"], [shop], folders);
    expect(matching(all, "SHOP linked").map((each) => each.label)).toEqual(["shop"]);
    expect(matching(all, "shop docs")).toEqual([]);
    expect(matching(all, " ")).toHaveLength(all.length);
  });

  test("the way to a folder", () => {
    expect(stepsOf("/home/a").map((each) => each.path)).toEqual(["/", "/home", "/home/a"]);
    expect(stepsOf("/")).toEqual([{ name: "/", path: "/" }]);
    expect(inside("/", "a")).toBe("/a");
    expect(inside("/home", "a")).toBe("/home/a");
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
    expect(nameOfRepository(repository)).toBe(name);
  });

  test("what the service would refuse is said before", () => {
    expect(nameProblem("a b", [])).toContain("Letters");
    expect(nameProblem("SHOP", [shop])).toContain("There is a case");
    expect(nameProblem("a".repeat(129), [])).toContain("128");
    expect(nameProblem("new", [shop])).toBeUndefined();
    expect(nameProblem("", [shop])).toBeUndefined();
  });
});

describe("clones", () => {
  test("progress goes to the case that it is of", () => {
    const other = { ...shop, name: "other" };
    const [first, second] = progressed([shop, other], { name: "other", phase: "resolving", percent: null });
    expect(first).toBe(shop);
    expect(second?.cloning).toEqual({ phase: "resolving", percent: null });
  });

  test("a phase that is not known keeps its own name", () => {
    expect(cloneWords({ phase: "connecting", percent: null })).toBe("Connecting…");
    expect(cloneWords({ phase: "constructor", percent: 3 })).toBe("constructor, 3 %");
  });
});

describe("removal", () => {
  test("says what becomes of the folder", () => {
    expect(consequences(shop)).toContain("Only the name is forgotten");
    expect(consequences({ ...shop, location: "local", linked: false })).toContain("trash");
    const worktree = { repository: "api", branch: "fix" };
    expect(consequences({ ...shop, worktree })).toContain("The branch fix stays");
    expect(consequences({ ...shop, location: "container" })).toContain("container is removed");
  });

  test("sessions and clones are in the way", () => {
    expect(removalBar(shop)).toBeUndefined();
    expect(removalBar({ ...shop, liveSessions: 1 })).toBe("A session works in it. Close it first.");
    expect(removalBar({ ...shop, liveSessions: 2 })).toContain("Close them first");
    expect(removalBar({ ...shop, cloning: { phase: "x", percent: null } })).toContain("being cloned");
  });
});

describe("sessions of a case", () => {
  const at = (workingDir: string, caseName?: string) => ({ workingDir, caseName }) as Session;
  const inner = { ...shop, name: "inner", path: "/srv/shop/inner" };

  test("are those of its name and of its folder", () => {
    const all = [at("/srv/shop"), at("/srv/shop/src"), at("/srv/shopping"), at("/x", "shop")];
    expect(sessionsIn(shop, all)).toEqual([all[0], all[1], all[3]]);
  });

  test("a session is in the case of its name, else in the innermost", () => {
    expect(caseOf(at("/srv/shop/inner/a"), [shop, inner])).toBe(inner);
    expect(caseOf(at("/srv/shop/inner", "shop"), [inner, shop])).toBe(shop);
    expect(caseOf(at("/y"), [inner, shop])).toBeUndefined();
  });
});
