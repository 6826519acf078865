// @vitest-environment happy-dom
import { fireEvent, waitFor, within } from "@testing-library/preact";
import { beforeEach, expect, test, vi } from "vitest";
import type { NoticeRulesResponse } from "../../api/types.ts";

vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => {} }));
const { api } = await import("../../api/client.ts");
const { show } = await import("../../ui/rendered.ts");
const { newHook } = await import("./rules.ts");
const { RuleSettings } = await import("./RuleSettings.tsx");

const KEPT: NoticeRulesResponse = {
  custom: true,
  browser: { enabled: true, events: ["error"] },
  push: { enabled: true, events: ["error"] },
  webhooks: [],
  quietHours: { enabled: false, start: "22:00", end: "07:00", timeZone: "UTC", critical: true },
  onlyUnwatched: true,
  groupFamilies: true,
  digest: true,
  urgency: { stop: "info", exit: "info" },
};

const HOOK = { ...newHook([]), urlMasked: "https://ntfy.example" };

type Answer = { body: NoticeRulesResponse; keep: () => void; refuse: (error: Error) => void };

/** A server that answers when a test says so. */
function open(kept = KEPT) {
  const answers: Answer[] = [];
  vi.spyOn(api, "get").mockImplementation(async () => kept as never);
  vi.spyOn(api, "put").mockImplementation(
    (_path, request) =>
      new Promise((keep, refuse) => {
        const body = (request as unknown as { body: NoticeRulesResponse }).body;
        answers.push({ body, keep: () => keep(body as never), refuse });
      }),
  );
  const { container } = show(<RuleSettings />);
  return { answers, ...within(container as HTMLElement) };
}

const isChecked = (box: HTMLElement) => (box as HTMLInputElement).checked;

beforeEach(() => void vi.restoreAllMocks());

test("a slow answer takes back nothing that was chosen meanwhile", async () => {
  const page = open();
  fireEvent.click(await page.findByTestId("notice-push-stop"));
  fireEvent.click(page.getByTestId("notice-push-exit"));
  await waitFor(() => expect(page.answers).toHaveLength(1));
  page.answers[0]?.keep();
  await waitFor(() => expect(page.answers).toHaveLength(2));
  expect(isChecked(page.getByTestId("notice-push-exit"))).toBe(true);
  expect(page.answers[1]?.body.push.events).toEqual(["error", "stop", "exit"]);
  page.answers[1]?.keep();
  await waitFor(() => expect(isChecked(page.getByTestId("notice-push-exit"))).toBe(true));
  expect(page.answers).toHaveLength(2);
});

test("a refusal is shown, with what the server keeps", async () => {
  const page = open();
  fireEvent.click(await page.findByTestId("notice-push-stop"));
  await waitFor(() => expect(page.answers).toHaveLength(1));
  page.answers[0]?.refuse(new Error("quietHours: a time is HH:MM"));
  expect((await page.findByTestId("notice-problem")).textContent).toContain("quietHours");
  await waitFor(() => expect(isChecked(page.getByTestId("notice-push-stop"))).toBe(false));
});

const choose = (list: HTMLElement, value: string) => fireEvent.change(list, { target: { value } });

test("an event gets another urgency, and the others keep theirs", async () => {
  const page = open();
  choose(await page.findByTestId("notice-urgency-stop"), "warning");
  await waitFor(() => expect(page.answers).toHaveLength(1));
  expect(page.answers[0]?.body.urgency).toEqual({ stop: "warning", exit: "info" });
});

test("a webhook's events have boxes only once they are chosen one by one", async () => {
  const page = open({ ...KEPT, webhooks: [HOOK] });
  const sent = await page.findByTestId("notice-hook-scope-1");
  expect(page.queryByTestId("notice-hook-events-1")).toBeNull();
  choose(sent, "chosen");
  fireEvent.click(await page.findByTestId("notice-hook-1-stop"));
  await waitFor(() => expect(page.answers).toHaveLength(1));
  page.answers[0]?.keep();
  await waitFor(() => expect(page.answers).toHaveLength(2));
  const events = page.answers[1]?.body.webhooks[0]?.events;
  expect(events).toContain("stop");
  expect(events).not.toContain("exit");
  choose(page.getByTestId("notice-hook-scope-1"), "all");
  expect(page.queryByTestId("notice-hook-events-1")).toBeNull();
});
