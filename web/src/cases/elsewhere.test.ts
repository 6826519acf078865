import { expect, test } from "vitest";
import { SESSION } from "../api/sample.ts";
import { type Elsewhere, keyOf, ready, type Wish } from "./elsewhere.ts";
import { consequences, isElsewhere, kindOf, placesOf, sessionsIn } from "./rules.ts";
import type { CaseResponse } from "./types.ts";

const far: Elsewhere = { kind: "remote", id: "box", label: "Box", makesFolders: false };
const boxes: Elsewhere = { kind: "container", id: "default", label: "This machine", makesFolders: true };
const wish: Wish = { host: far, folder: "there", path: "~/src", name: "src" };

const there: CaseResponse = {
  name: "engine",
  path: "/srv/engine",
  location: "remote",
  linked: true,
  hasInstructions: false,
  liveSessions: 0,
  remote: { hostId: "box", path: "/srv/engine" },
};

test("a folder has to be named unless the service makes it", () => {
  expect(ready(wish)).toBe(true);
  expect(ready({ ...wish, path: " " })).toBe(false);
  expect(ready({ ...wish, host: boxes, folder: "new", path: "" })).toBe(true);
  expect(ready({ ...wish, host: boxes, path: "" })).toBe(false);
  expect(ready({ ...wish, name: "" })).toBe(false);
  expect(keyOf(far)).not.toBe(keyOf({ ...boxes, id: "box" }));
});

test("a folder of another machine is none of this one, though their paths be the same", () => {
  const here = { ...SESSION, workingDir: "/srv/engine" };
  const remote = { hostId: "box", name: "service-s", owned: true };
  expect(sessionsIn(there, [here])).toEqual([]);
  expect(sessionsIn(there, [{ ...here, remote }])).toHaveLength(1);
  expect(sessionsIn(there, [{ ...here, remote: { ...remote, hostId: "other" } }])).toEqual([]);
  expect(placesOf(["/srv/engine"], [there], []).map(({ kind, elsewhere }) => [kind, elsewhere])).toEqual([
    ["recent", undefined],
    ["case", "on box"],
  ]);
});

test("where it is, and what becomes of it", () => {
  expect([isElsewhere(there), kindOf(there)]).toEqual([true, "on box"]);
  expect(isElsewhere({ ...there, location: "linked" })).toBe(false);
  expect(consequences(there)).toContain("/srv/engine on box stays");
});
