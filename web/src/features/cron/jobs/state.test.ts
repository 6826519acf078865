import { beforeEach, expect, test, vi } from "vitest";
import { FakeService } from "../../../api/fakeservice.ts";
import { dispatchServerEvent } from "../../../api/stream/events.ts";
import { toasts } from "../../../store/toasts.ts";
import { job, run } from "./fixtures.ts";

const service = new FakeService();
const calls = {
  listJobs: service.on("GET /api/cron/jobs"),
  listRuns: service.on("GET /api/cron/runs"),
  runsOfJob: service.on("GET /api/cron/jobs/{id}/runs"),
};

const {
  jobList: book,
  followCron,
  isLoaded: known,
  readAll,
  refreshRuns,
  loadProblem: trouble,
} = await import("./state.ts");

const names = () => book.value.jobs.map((each) => each.name);

beforeEach(() => {
  toasts.value = [];
  for (const call of Object.values(calls)) call.mockReset();
  calls.listJobs.mockResolvedValue([job()]);
  calls.listRuns.mockResolvedValue([run()]);
});

async function follow(): Promise<() => void> {
  const end = followCron();
  await vi.waitFor(() => expect(known.value && book.value.runs.length > 0).toBe(true));
  return end;
}

test("an event brings the list anew, at once and again for what was told meanwhile", async () => {
  const end = await follow();
  calls.listJobs.mockReset();
  calls.listJobs.mockResolvedValueOnce([job({ name: "between" })]).mockResolvedValue([job({ name: "last" })]);
  for (let n = 0; n < 5; n++) dispatchServerEvent("cron:jobsChanged", { jobs: [] });
  await vi.waitFor(() => expect(names()).toEqual(["last"]));
  expect(calls.listJobs).toHaveBeenCalledTimes(2);
  end();
});

test("a run's event shows at once", async () => {
  const end = await follow();
  dispatchServerEvent("cron:runCreated", run({ id: "r2", startedAt: 5000 }));
  expect(book.value.runs.map((each) => each.id)).toEqual(["r2", "r1"]);
  dispatchServerEvent("cron:jobDeleted", { id: "j1" });
  expect(book.value).toEqual({ jobs: [], runs: [] });
  end();
});

test("a job that is deleted while the list is read stays away", async () => {
  const end = await follow();
  let arrive = (_: unknown[]) => {};
  calls.listJobs.mockReturnValueOnce(new Promise((done) => (arrive = done))).mockResolvedValue([]);
  const shown: string[][] = [];
  dispatchServerEvent("cron:jobsChanged", {});
  dispatchServerEvent("cron:jobDeleted", { id: "j1" });
  const stop = book.subscribe((now) => void shown.push(now.jobs.map((each) => each.id)));
  arrive([job()]);
  await vi.waitFor(() => expect(calls.listJobs).toHaveBeenCalledTimes(3));
  stop();
  expect(shown.flat()).toEqual([]);
  end();
});

test("after a lost connection everything is read again; after the end nothing", async () => {
  const end = await follow();
  dispatchServerEvent("init", {});
  await vi.waitFor(() => expect(calls.listRuns).toHaveBeenCalledTimes(2));
  end();
  dispatchServerEvent("init", {});
  dispatchServerEvent("cron:jobsChanged", {});
  expect(calls.listRuns).toHaveBeenCalledTimes(2);
});

test("a failure is told and leaves what was known", async () => {
  const end = await follow();
  calls.runsOfJob.mockRejectedValue(new Error("away"));
  await refreshRuns("j1");
  expect(toasts.value.map((toast) => toast.text)).toEqual(["away"]);
  expect(book.value.runs).toHaveLength(1);
  end();
});

test("a list that cannot be read says why, until it can", async () => {
  calls.listJobs.mockRejectedValueOnce(new Error("away"));
  const end = followCron();
  await vi.waitFor(() => expect(trouble.value).toContain("away"));
  expect(known.value).toBe(false);
  readAll();
  await vi.waitFor(() => expect(known.value).toBe(true));
  expect(trouble.value).toBe("");
  end();
});
