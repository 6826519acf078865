import { describe, expect, test } from "vitest";
import { ApiError } from "../../api/errors.ts";
import type { ContainerResponse, ContainerHostResponse } from "../../api/types.ts";
import { parseFormError } from "../../ui/useFieldForm.ts";
import {
  bodyOf,
  buildText,
  draftOf,
  EMPTY,
  listFigures,
  memoryText,
  validateDraft,
  resourcesText,
  getPercentUsed,
  sizeText,
  describeContainerState,
  addAdvice,
} from "./texts.ts";

const host: ContainerHostResponse = {
  id: "box",
  label: "Box",
  engine: "docker",
  image: "localhost/mine:1",
  context: "far",
  network: "none",
  resources: { memory: "512m", cpus: 1.5, pids: 64 },
  mountCredentials: "copy",
  hooksEnabled: false,
  extraCreateArgs: ["--env=A=b c", "--label=x"],
  extraExecArgs: [],
};
const box: ContainerResponse = {
  name: "service-case-a",
  caseName: "a",
  hostId: "box",
  state: "running",
  image: "localhost/mine:1",
  network: "bridge",
  created: 1,
  limits: { memory: 512 * 1024 ** 2, cpus: 2, pids: 64 },
};
const ended = (part: Partial<ContainerResponse>) =>
  describeContainerState({ ...box, state: "exited", ...part });

describe("the form", () => {
  test("a host goes in and comes out the same, without its id", () => {
    const { id: _, ...body } = host;
    expect(bodyOf(draftOf(host))).toEqual(body);
    expect(bodyOf(draftOf({ ...host, mountCredentials: false })).mountCredentials).toBe(false);
    expect(bodyOf(EMPTY)).not.toHaveProperty("context");
  });

  test("what is wrong is said at its field", () => {
    expect(Object.keys(validateDraft(EMPTY))).toEqual(["label"]);
    const wrong = { ...draftOf(host), image: " ", memory: "", cpus: "two", pids: "1.5" };
    expect(Object.keys(validateDraft(wrong))).toEqual(["image", "memory", "cpus", "pids"]);
  });

  test.each([
    ["resources.memory: a size such as 512m", { memory: "a size such as 512m" }, ""],
    ["network: a network by name", { network: "a network by name" }, ""],
    ["extraCreateArgs.0: too long", { extraCreateArgs: "too long" }, ""],
    ["cases use it: a, b", {}, "cases use it: a, b"],
    ["nowhere: no such field", {}, "Nowhere: no such field"],
  ])("%s stands where it belongs", (text, wrong, problem) => {
    expect(parseFormError(new ApiError(400, "INVALID_INPUT", text), EMPTY)).toEqual({ wrong, problem });
  });
});

describe("in words", () => {
  test("limits are powers of two", () => {
    expect(memoryText(512 * 1024 ** 2)).toBe("512 MiB");
    expect(memoryText(1.5 * 1024 ** 3)).toBe("1.5 GiB");
    expect(memoryText(900)).toBe("900 bytes");
    expect(sizeText("4g")).toBe("4 GiB");
    expect(sizeText("all")).toBe("all");
    expect(resourcesText(host)).toBe("512 MiB · 1.5 processors · 64 processes · network none");
  });

  test("what is used of them, or the limits alone", () => {
    const [memory, cpu, pids] = listFigures(box.limits, { memory: 256 * 1024 ** 2, cpu: 50, pids: null });
    expect([memory?.text, memory?.share]).toEqual(["256 MiB of 512 MiB", 50]);
    expect([cpu?.text, cpu?.share]).toEqual(["0.50 of 2", 25]);
    expect([pids?.text, pids?.share]).toEqual(["up to 64", undefined]);
    expect(listFigures(box.limits, undefined).map(({ share }) => share)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(getPercentUsed(300, 200)).toBe(100);
    expect(getPercentUsed(1, 0)).toBeUndefined();
  });

  test("how it stands, and what that means", () => {
    expect(describeContainerState(box).word).toBe("running");
    expect(describeContainerState({ ...box, state: "paused" }).text).toContain("frozen");
    expect(describeContainerState({ ...box, state: "missing" }).text).toContain("create it");
    expect(describeContainerState({ ...box, state: "created" }).word).toBe("not started");
    expect(ended({ oomKilled: true, exitCode: 137 }).text).toContain("memory limit of 512 MiB");
    expect(ended({ exitCode: 137 }).word).toBe("killed");
    expect(ended({ exitCode: 143 }).word).toBe("stopped");
    expect(ended({ exitCode: 3 }).text).toContain("status 3");
  });

  test("a build and its refusals", () => {
    expect(buildText({ image: "i", percent: null, line: "" })).toBe("Building i…");
    expect(buildText({ image: "i", percent: 40.9, line: "" })).toBe("Building i, 40 %");
    expect(addAdvice("cases use it: a")).toBe(
      "Cases use it: a. Remove them first; their folders are not changed.",
    );
    expect(addAdvice("anything")).toBe("anything");
  });
});
