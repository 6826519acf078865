import { expect, test } from "vitest";
import { SESSION } from "../../api/sample.ts";
import { type CaseHost, getHostKey, isComplete, type CaseDraft } from "./CaseHostPane.tsx";
import {
  describeRemoval,
  runsElsewhere,
  describeCaseKind,
  listFolderChoices,
  findSessionsInCase,
} from "./rules.ts";
import type { CaseResponse } from "../../api/types.ts";

const far: CaseHost = { kind: "remote", id: "box", label: "Box", makesFolders: false };
const boxes: CaseHost = { kind: "container", id: "default", label: "This machine", makesFolders: true };
const wish: CaseDraft = { host: far, folder: "there", path: "~/src", name: "src" };

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
  expect(isComplete(wish)).toBe(true);
  expect(isComplete({ ...wish, path: " " })).toBe(false);
  expect(isComplete({ ...wish, host: boxes, folder: "new", path: "" })).toBe(true);
  expect(isComplete({ ...wish, host: boxes, path: "" })).toBe(false);
  expect(isComplete({ ...wish, name: "" })).toBe(false);
  expect(getHostKey(far)).not.toBe(getHostKey({ ...boxes, id: "box" }));
});

test("a folder of another machine is none of this one, though their paths be the same", () => {
  const here = { ...SESSION, workingDir: "/srv/engine" };
  const remote = { hostId: "box", name: "service-s", owned: true };
  expect(findSessionsInCase(there, [here])).toEqual([]);
  expect(findSessionsInCase(there, [{ ...here, remote }])).toHaveLength(1);
  expect(findSessionsInCase(there, [{ ...here, remote: { ...remote, hostId: "other" } }])).toEqual([]);
  expect(
    listFolderChoices(["/srv/engine"], [there], []).map(({ kind, elsewhere }) => [kind, elsewhere]),
  ).toEqual([
    ["recent", undefined],
    ["case", "on box"],
  ]);
});

test("where it is, and what becomes of it", () => {
  expect([runsElsewhere(there), describeCaseKind(there)]).toEqual([true, "on box"]);
  expect(runsElsewhere({ ...there, location: "linked" })).toBe(false);
  expect(describeRemoval(there)).toContain("/srv/engine on box is not changed");
});
