import { beforeEach, describe, expect, test, vi } from "vitest";
import type { Kept } from "../files/state.ts";
import { compose, trayProblem } from "./compose.ts";
import type { Item } from "./tray.ts";

const uploads = vi.hoisted(() => ({ attach: vi.fn(), FILE_MAX: 100e6 }));
vi.mock("../files/upload.ts", () => uploads);
vi.stubGlobal("URL", Object.assign(URL, { createObjectURL: () => "blob:x", revokeObjectURL: vi.fn() }));

const { addFiles: add, ITEMS_MAX, removeFile: takeOut } = await import("./sending.ts");
const { clearTray, filesIn, itemsOf } = await import("./tray.ts");
const { dispatchServerEvent: tellServerEvent } = await import("../../api/stream/events.ts");

const kept = (attachment: Kept["attachment"], insert: string): Kept => ({
  path: `/w/${insert}`,
  filename: insert,
  insert,
  attachment,
});
const item = (key: number, part: Partial<Item>): Item => ({ key, name: "x", part: 1, ...part });

describe("a prompt with files", () => {
  test("names them before its text", () => {
    const items = [
      item(1, { kept: kept("at", "@a.png"), thumb: "blob:" }),
      item(2, { kept: kept("path", "/b") }),
    ];
    expect(compose("look", items)).toEqual({ pastes: [], text: "@a.png /b look" });
    expect(compose("", items).text).toBe("@a.png /b");
  });

  test("pastes a picture by itself where the agent wants it so, and once; other files are named", () => {
    const picture = item(1, { kept: kept("paste", "/a.png"), thumb: "blob:" });
    const other = item(2, { kept: kept("paste", "/b.csv") });
    expect(compose("look", [picture, other])).toEqual({
      pastes: [{ key: 1, path: "/a.png" }],
      text: "/b.csv look",
    });
    expect(compose("look", [{ ...picture, pasted: true }])).toEqual({ pastes: [], text: "look" });
  });

  test("waits for what is still uploading, and says what failed", () => {
    expect(trayProblem([item(1, { kept: kept("at", "a") })])).toBeUndefined();
    expect(trayProblem([item(1, {})])).toContain("still uploading");
    expect(trayProblem([item(1, {}), item(2, { problem: "no" })])).toContain("failed to upload");
  });
});

describe("the tray", () => {
  const file = (name: string, type = "") => new File(["x"], name, { type });
  const settle = () => new Promise((resolve) => setTimeout(resolve));

  beforeEach(() => {
    clearTray("s");
    uploads.attach.mockReset();
  });

  test("a file is still uploading, then kept", async () => {
    uploads.attach.mockReturnValue({ done: Promise.resolve(kept("at", "@a")), cancel: vi.fn() });
    add("s", [file("a.png", "image/png")]);
    expect(itemsOf("s")).toMatchObject([{ name: "a.png", thumb: "blob:x", part: 0 }]);
    await settle();
    expect(itemsOf("s")[0]?.kept?.insert).toBe("@a");
  });

  test("a refusal stays with its file", async () => {
    uploads.attach.mockReturnValue({ done: Promise.reject(new Error("image: is none")), cancel: vi.fn() });
    add("s", [file("a")]);
    await settle();
    expect(itemsOf("s")[0]?.problem).toBe("Image: is none");
  });

  test("taken out on the way it is cancelled, and gone", async () => {
    let stop = (_error: Error) => {};
    const done = new Promise<Kept>((_, reject) => (stop = reject));
    const cancel = vi.fn(() => stop(new DOMException("", "AbortError")));
    uploads.attach.mockReturnValue({ done, cancel });
    add("s", [file("a")]);
    takeOut("s", itemsOf("s")[0]?.key ?? 0);
    await settle();
    expect(cancel).toHaveBeenCalledOnce();
    expect(itemsOf("s")).toEqual([]);
  });

  test("is bounded, and goes with its session", async () => {
    const cancel = vi.fn();
    uploads.attach.mockReturnValue({ done: new Promise(() => {}), cancel });
    add(
      "s",
      Array.from({ length: ITEMS_MAX + 3 }, (_, n) => file(String(n))),
    );
    expect(itemsOf("s")).toHaveLength(ITEMS_MAX);
    tellServerEvent("session:deleted", { id: "s" });
    expect(itemsOf("s")).toEqual([]);
    expect(cancel).toHaveBeenCalledTimes(ITEMS_MAX);
  });

  test("a paste with text is text, whatever picture of it comes along", () => {
    const data = (text: string) => ({ getData: () => text, files: [file("a")] }) as unknown as DataTransfer;
    expect(filesIn(data("text"))).toEqual([]);
    expect(filesIn(data(""))).toHaveLength(1);
    expect(filesIn(null)).toEqual([]);
  });
});
