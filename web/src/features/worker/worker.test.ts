import { describe, expect, test, vi } from "vitest";
import type { ApprovalItemResponse } from "../approvals/item.ts";
import { listActions, parseAnswer, parseNotificationData, buildNotice } from "./answers.ts";
import { sendAnswer, readNotice, type WorkerContext, type Fetch } from "./requests.ts";
import { FILE_MOST, FILES_MOST, sharedOf, TEXT_MOST } from "./shared.ts";

const item = (part: Partial<ApprovalItemResponse> = {}): ApprovalItemResponse => ({
  id: "a1",
  sessionId: "s1",
  sessionName: "one",
  kind: "permission",
  createdAt: 0,
  toolName: "Bash",
  toolSummary: "make test",
  complete: true,
  frame: "f1",
  options: [
    { n: 1, label: "Yes", selected: false },
    { n: 2, label: "No, tell Claude what to do", selected: false },
  ],
  ...part,
});

const ids = (part?: Partial<ApprovalItemResponse>): string[] =>
  listActions(item(part)).map(({ action }) => action);

describe("buttons of a notification", () => {
  test("agreeing and declining; of a risky command declining alone", () => {
    expect(ids()).toEqual(["option-1", "deny"]);
    expect(ids({ options: [] })).toEqual(["approve", "deny"]);
    const grave = { riskHint: "Deletes files for good" };
    expect(ids(grave)).toEqual(["deny", "open"]);
    const { toolName: _, toolSummary: __, ...unknown } = item();
    expect(listActions(unknown).map(({ action }) => action)).toEqual(["deny", "open"]);
    expect(buildNotice(item(grave)).body).toBe("Hint: Deletes files for good. wants to run make test");
  });

  test("of what is not wholly in view declining and opening alone", () => {
    expect(ids({ toolSummary: `echo ${"x".repeat(200)}` })).toEqual(["deny", "open"]);
    expect(ids({ toolSummary: "a\nb\nc\nd" })).toEqual(["deny", "open"]);
    expect(ids({ complete: false, toolMissing: 26 })).toEqual(["deny", "open"]);
    expect(ids({ complete: false, toolOther: ["content"] })).toEqual(["deny", "open"]);
    const { complete: _, ...old } = item();
    expect(listActions(old).map(({ action }) => action)).toEqual(["deny", "open"]);
    expect(ids({ options: [{ n: 1, label: "y".repeat(200), selected: false }] })).toEqual(["deny", "open"]);
    expect(buildNotice(item({ complete: false, toolMissing: 1026 })).body).toMatch(
      /^Not in this summary: 1,026 more/,
    );
  });

  test("what wants more than a press has none", () => {
    expect(ids({ kind: "question" })).toEqual([]);
    expect(ids({ kind: "idle" })).toEqual([]);
    expect(ids({ options: [{ n: 1, label: "a", selected: false, checked: false }] })).toEqual([
      "deny",
      "open",
    ]);
  });

  test("texts are bounded", () => {
    const { body } = buildNotice(item({ toolSummary: "x".repeat(2000) }));
    expect(body.length).toBeLessThanOrEqual(240);
    const shown = body.match(/x/g)?.length ?? 0;
    expect(body).toContain(`(${2000 - shown} more characters)`);
  });

  test("their names lead back to answers", () => {
    expect(parseAnswer("option-2")).toEqual({ action: "option", option: 2 });
    expect(parseAnswer("open")).toBeUndefined();
    expect(parseAnswer("deny")).toEqual({ action: "deny" });
    expect([parseAnswer(""), parseAnswer("option-0"), parseAnswer("option-12")]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(parseNotificationData({ sessionId: "s" })).toBeUndefined();
  });
});

interface Sent {
  url: string;
  init: RequestInit;
}

function by(answer: () => Response, key: string | undefined = "k"): { asking: WorkerContext; sent: Sent[] } {
  const sent: Sent[] = [];
  const fetch = (async (url: URL, init: RequestInit) => {
    sent.push({ url: String(url), init });
    return answer();
  }) as unknown as Fetch;
  return { asking: { scope: "https://x.example/base/", fetch, key: async () => key }, sent };
}

const listed = (): Response => Response.json({ success: true, data: { approvals: [item()] } });

describe("the worker's requests", () => {
  test("what is asked is read with the page's key, below its path", async () => {
    const { asking, sent } = by(listed);
    expect(await readNotice(asking, "s1")).toEqual(buildNotice(item()));
    expect(await readNotice(asking, "s2")).toBeUndefined();
    expect(sent[0]?.url).toBe("https://x.example/base/api/approvals");
    expect(sent[0]?.init.headers).toMatchObject({ "X-Service-Key": "k" });
  });

  test("without a key nothing is asked or answered", async () => {
    const { asking, sent } = by(listed);
    const off = { ...asking, key: async () => undefined };
    expect(await readNotice(off, "s1")).toBeUndefined();
    const broken = { ...asking, key: () => Promise.reject(new Error("this browser keeps nothing")) };
    const complaint = vi.spyOn(console, "warn").mockImplementation(() => {});
    expect(await readNotice(broken, "s1")).toBeUndefined();
    expect(complaint).toHaveBeenCalledOnce();
    complaint.mockRestore();
    expect(await sendAnswer(off, "deny", buildNotice(item()).data)).toBe("none");
    expect(sent).toEqual([]);
  });

  test("an answer names the dialog that was shown", async () => {
    const { asking, sent } = by(() => Response.json({ success: true }));
    expect(await sendAnswer(asking, "option-1", buildNotice(item()).data)).toBe("taken");
    expect(sent[0]?.url).toBe("https://x.example/base/api/approvals/a1/answer");
    expect(JSON.parse(String(sent[0]?.init.body))).toEqual({
      action: "option",
      option: 1,
      expectFrame: "f1",
    });
    expect(await sendAnswer(asking, "", buildNotice(item()).data)).toBe("none");
    expect(await sendAnswer(asking, "deny", { sessionId: "s1" })).toBe("none");
  });

  test("what is refused or does not arrive is no answer", async () => {
    const refused = by(() => new Response("", { status: 409 }));
    expect(await sendAnswer(refused.asking, "deny", buildNotice(item()).data)).toBe("refused");
    const cut = by(() => {
      throw new TypeError("no network");
    });
    expect(await sendAnswer(cut.asking, "deny", buildNotice(item()).data)).toBe("refused");
    expect(await readNotice(cut.asking, "s1")).toBeUndefined();
    expect(await readNotice(by(() => new Response("<html>")).asking, "s1")).toBeUndefined();
  });
});

function form(fields: Record<string, string>, files: File[] = []): FormData {
  const made = new FormData();
  for (const [name, value] of Object.entries(fields)) made.append(name, value);
  for (const file of files) made.append("files", file);
  return made;
}

describe("what is shared", () => {
  test("each thing once, without keys of a terminal", () => {
    const text = "see https://a.example/ \x1b[A\u202e";
    expect(sharedOf(form({ title: "t", text, url: "https://a.example/" })).text).toBe(
      "t\nsee https://a.example/ [A",
    );
    expect(sharedOf(form({ title: "same", text: "same" })).text).toBe("same");
    expect(sharedOf(form({ text: "x".repeat(TEXT_MOST + 5) })).text.length).toBe(TEXT_MOST);
  });

  test("pictures alone, and only so many", () => {
    const picture = (size = 1): File => new File([new Uint8Array(size)], "a.png", { type: "image/png" });
    const many = Array.from({ length: FILES_MOST + 2 }, () => picture());
    expect(sharedOf(form({}, many)).files.length).toBe(FILES_MOST);
    const others = [new File(["x"], "a.html", { type: "text/html" }), picture(FILE_MOST + 1)];
    expect(sharedOf(form({ files: "text" }, others)).files).toEqual([]);
  });
});
