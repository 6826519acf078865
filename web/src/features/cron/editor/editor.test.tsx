// @vitest-environment happy-dom
/** The editor of jobs: prompts of several lines, the schedule in words, and a try. */
import { screen, waitFor } from "@testing-library/preact";
import { beforeEach, expect, test } from "vitest";
import { FakeService } from "../../../api/fakeservice.ts";
import { ApiError } from "../../../api/errors.ts";
import { listViolations, show } from "../../../ui/rendered.ts";
import { job, run } from "../jobs/fixtures.ts";
import { putJob, setJobList } from "../jobs/state.ts";
import { type Draft, draftOf, newDraft } from "./draft.ts";
import { Editor } from "./Editor.tsx";
import { type Editing, editing } from "./editing.ts";

let service: FakeService;

beforeEach(() => {
  service = new FakeService();
  service.on("POST /api/cron/preview", { fires: [] });
});

function draft(part: Partial<Draft> = {}): Draft {
  return { ...newDraft(Date.now(), "UTC", "primary", "/w"), name: "n", promptText: "go on", ...part };
}

function open(start: Editing) {
  editing.value = start;
  return show(<Editor start={start} />);
}

test("a prompt keeps its lines", async () => {
  const made = service.on("POST /api/cron/jobs", { job: job() });
  const { user } = open({ draft: draft({ promptText: "" }) });
  await user.type(screen.getByTestId("job-promptText"), "first{Enter}{Enter}- second");
  await user.click(screen.getByTestId("job-save"));
  await waitFor(() => expect(made).toHaveBeenCalledOnce());
  expect(made.mock.calls[0]?.[0].body.promptText).toBe("first\n\n- second");
});

test("the schedule stands there in words, while it is complete", async () => {
  const { container, user } = open({ draft: draft() });
  expect(screen.getByTestId("schedule-sentence").textContent).toMatch(/^Every day at 09:00/);
  expect(await listViolations(container)).toEqual([]);
  await user.clear(screen.getByTestId("job-dailyTime"));
  expect(screen.queryByTestId("schedule-sentence")).toBeNull();
});

test("delivery is under Advanced, open where it is not the usual one", () => {
  open({ draft: draft() });
  expect(screen.getByTestId("job-advanced")).toHaveProperty("open", false);
});

test("delivery key by key is in sight", () => {
  open({ draft: draft({ inputMode: "typed" }) });
  expect(screen.getByTestId("job-advanced")).toHaveProperty("open", true);
});

test("Try it now saves a new job and runs it", async () => {
  const made = service.on("POST /api/cron/jobs", { job: job() });
  const ran = service.on("POST /api/cron/jobs/{id}/run", { run: run(), activeAgents: 0 });
  const { user } = open({ draft: draft() });
  await user.click(screen.getByTestId("job-try"));
  await waitFor(() => expect(ran).toHaveBeenCalledOnce());
  expect(made).toHaveBeenCalledOnce();
  expect(ran.mock.calls[0]?.[0].path).toEqual({ id: "j1" });
  expect(editing.value).toBeUndefined();
});

test("Try it now runs a job that nobody changed", async () => {
  setJobList((before) => putJob(before, job()));
  const ran = service.on("POST /api/cron/jobs/{id}/run", { run: run(), activeAgents: 0 });
  const { user } = open({ id: "j1", draft: draftOf(job(), Date.now(), "UTC") });
  await user.click(screen.getByTestId("job-try"));
  await waitFor(() => expect(ran).toHaveBeenCalledOnce());
});

test("Try it now runs nothing while the job is refused or unfinished", async () => {
  const ran = service.on("POST /api/cron/jobs/{id}/run", { run: run(), activeAgents: 0 });
  service.on("POST /api/cron/jobs").mockImplementation(() => {
    throw new ApiError(400, "INVALID_INPUT", "name: is taken");
  });
  const { user } = open({ draft: draft() });
  await user.click(screen.getByTestId("job-try"));
  await waitFor(() => expect(screen.getByTestId("wrong-name").textContent).toContain("Is taken"));
  await user.clear(screen.getByTestId("job-name"));
  await user.click(screen.getByTestId("job-try"));
  expect(screen.getByTestId("wrong-name").textContent).toContain("Required");
  expect(ran).not.toHaveBeenCalled();
});
