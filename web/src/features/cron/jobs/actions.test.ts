import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { FakeService } from "../../../api/fakeservice.ts";
import { ApiError } from "../../../api/errors.ts";
import type { Session } from "../../../api/types.ts";
import { EMPTY as NO_SESSIONS, createSessionList } from "../../../store/sessions.ts";
import { clis, sessionList } from "../../../store/state.ts";
import { openQuestion } from "../../../ui/ask.ts";
import { toasts } from "../../../store/toasts.ts";
import { EMPTY, putRuns, withJobs } from "./state.ts";
import { job, run } from "./fixtures.ts";

const service = new FakeService();
const JOB = "/api/cron/jobs/{id}";
const calls = {
  deleteJob: service.on(`DELETE ${JOB}`),
  enableJob: service.on(`PUT ${JOB}/enabled`),
  runJob: service.on(`POST ${JOB}/run`),
};

const { busyJobs, enable, endsWork, remove, runNow } = await import("./actions.ts");
const { jobList: book, setJobList: setBook } = await import("./state.ts");

const NIGHTLY = job();
const session = (status: Session["status"]) =>
  ({ id: "s1", name: "its session", status, mode: "primary" }) as Session;

beforeEach(() => {
  setBook(() => putRuns(withJobs(EMPTY, [NIGHTLY]), [run()]));
  sessionList.value = NO_SESSIONS;
  toasts.value = [];
  for (const call of Object.values(calls)) call.mockReset();
});

afterEach(() => {
  expect(busyJobs.value.size).toBe(0);
  clis.value = [];
});

const said = () => toasts.value.map(({ tone, title, text }) => [tone, title, text]);

describe("the switch", () => {
  test("shows what the service made of it", async () => {
    calls.enableJob.mockResolvedValue({ job: job({ enabled: false, nextRunAt: null }) });
    await enable(NIGHTLY, false);
    expect(calls.enableJob.mock.lastCall?.[0]).toMatchObject({
      path: { id: "j1" },
      body: { enabled: false },
    });
    expect(book.value.jobs[0]?.enabled).toBe(false);
  });

  test("says why it was not moved", async () => {
    calls.enableJob.mockRejectedValue(new ApiError(400, "INVALID_INPUT", "runAt: must be in the future"));
    await enable(NIGHTLY, true);
    expect(book.value.jobs).toEqual([NIGHTLY]);
    expect(said()).toEqual([["bad", "Couldn't turn the job on", "Run at: must be in the future"]]);
  });
});

describe("run now", () => {
  const started = run({ id: "r2", status: "session_started", startedAt: 9000 });

  test("once, however often it is pressed", async () => {
    let answer: (value: unknown) => void = () => {};
    calls.runJob.mockReturnValue(new Promise((resolve) => (answer = resolve)));
    const both = [runNow(NIGHTLY), runNow(NIGHTLY)];
    await vi.waitFor(() => expect(calls.runJob).toHaveBeenCalled());
    answer({ run: started, activeAgents: 0 });
    await Promise.all(both);
    expect(calls.runJob).toHaveBeenCalledTimes(1);
    expect(book.value.runs[0]).toEqual(started);
    expect(said()).toEqual([["good", "nightly started", undefined]]);
  });

  test("tells of others that run too", async () => {
    calls.runJob.mockResolvedValue({ run: started, activeAgents: 2 });
    await runNow(NIGHTLY);
    expect(said()).toEqual([["good", "nightly started", "2 other primary sessions also running."]]);
  });

  test("a run that failed is no success, whatever the status of the answer", async () => {
    const failed = run({ id: "r2", status: "failed", errorMessage: "the folder is gone" });
    calls.runJob.mockResolvedValue({ run: failed, activeAgents: 0 });
    await runNow(NIGHTLY);
    expect(said()).toEqual([["bad", "nightly failed", "the folder is gone"]]);
  });

  test("asks before it ends work", async () => {
    sessionList.value = createSessionList([session("busy")]);
    const pressed = runNow(NIGHTLY);
    expect(openQuestion.value?.text).toContain("its session");
    openQuestion.value?.answer(undefined);
    await pressed;
    expect(calls.runJob).not.toHaveBeenCalled();
  });

  test("does not ask where nothing is ended", () => {
    sessionList.value = createSessionList([session("busy")]);
    expect(endsWork(NIGHTLY, [run()])).toBe("its session");
    expect(endsWork(job({ autoClosePreviousSession: false }), [run()])).toBeUndefined();
    expect(endsWork(job({ scheduleType: "once" }), [run()])).toBeUndefined();
    expect(endsWork(NIGHTLY, [])).toBeUndefined();
    sessionList.value = createSessionList([session("idle")]);
    expect(endsWork(NIGHTLY, [run()])).toBeUndefined();
  });
});

describe("delete", () => {
  test("asks first", async () => {
    const pressed = remove(NIGHTLY);
    openQuestion.value?.answer(undefined);
    await pressed;
    expect(calls.deleteJob).not.toHaveBeenCalled();
  });

  test("takes the job and its runs off the list", async () => {
    calls.deleteJob.mockResolvedValue({});
    const pressed = remove(NIGHTLY);
    openQuestion.value?.answer("Delete");
    await pressed;
    expect(book.value).toEqual(EMPTY);
  });

  test("keeps it where the service did", async () => {
    calls.deleteJob.mockRejectedValue(new ApiError(500, "INTERNAL_ERROR", "disk full"));
    const pressed = remove(NIGHTLY);
    openQuestion.value?.answer("Delete");
    await pressed;
    expect(book.value.jobs).toEqual([NIGHTLY]);
    expect(said()).toEqual([["bad", "Couldn't delete the job", "disk full"]]);
  });
});
