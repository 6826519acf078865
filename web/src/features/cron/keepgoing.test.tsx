// @vitest-environment happy-dom
/** The page of jobs with runs that keep going, and the field that asks for them. */
import { screen, waitFor } from "@testing-library/preact";
import { beforeEach, expect, test } from "vitest";
import { FakeService } from "../../api/fakeservice.ts";
import { openQuestion } from "../../ui/ask.ts";
import { listViolations, show } from "../../ui/rendered.ts";
import { CronPage } from "./CronPage.tsx";
import { newDraft } from "./editor/draft.ts";
import { editing } from "./editor/editing.ts";
import { going, job, run } from "./jobs/fixtures.ts";

let service: FakeService;

const inAnHour = () => Date.now() + 3_600_000;

beforeEach(() => {
  service = new FakeService();
  editing.value = undefined;
  openQuestion.value = undefined;
  service.on("GET /api/cron/jobs", [job({ keepGoingMinutes: 90 })]);
  service.on("GET /api/cron/runs", [run({ keepGoing: going({ endAt: inAnHour() }) })]);
  service.on("POST /api/cron/preview", { fires: [] });
});

test("a run that keeps going shows its time, and is stopped after a question", async () => {
  const stopped = service.on("POST /api/cron/runs/{id}/stop", {});
  const { container, user } = show(<CronPage />);
  await waitFor(() => expect(screen.getByTestId("job-last").textContent).toContain("1 h left of 1 h 30 min"));
  expect(screen.getByTestId("job-keep-going").textContent).toBe("for 1 h 30 min");
  expect(await listViolations(container)).toEqual([]);
  await user.click(screen.getByTestId("run-stop"));
  await waitFor(() => expect(openQuestion.value?.title).toBe("Stop this run?"));
  expect(stopped).not.toHaveBeenCalled();
  openQuestion.value?.answer("Stop");
  await waitFor(() => expect(stopped).toHaveBeenCalledOnce());
  expect(stopped.mock.calls[0]?.[0].path).toEqual({ id: "r1" });
});

test("a run that is over cannot be stopped", async () => {
  service.on("GET /api/cron/runs", [run({ keepGoing: going({ state: "completed" }) })]);
  show(<CronPage />);
  await waitFor(() => expect(screen.getByTestId("job-last").textContent).toContain("time is up, 2 turns"));
  expect(screen.queryByTestId("run-stop")).toBeNull();
});

test("a job of the older way can be run again but not changed", async () => {
  service.on("GET /api/cron/jobs", [job({ id: "timed-1", enabled: false, completedOnce: true })]);
  service.on("GET /api/cron/runs", []);
  show(<CronPage />);
  await waitFor(() => expect(screen.getByTestId("job-run")).toBeTruthy());
  expect(screen.queryByTestId("job-edit")).toBeNull();
  expect(screen.queryByTestId("job-enabled")).toBeNull();
});

test("the minutes are sent with the job, within their bounds", async () => {
  const made = service.on("POST /api/cron/jobs", { job: job() });
  const draft = { ...newDraft(Date.now(), "UTC", "primary", "/w"), name: "n", promptText: "go on" };
  editing.value = { draft };
  const { user } = show(<CronPage />);
  await user.type(screen.getByTestId("job-keepGoingMinutes"), "0");
  await user.click(screen.getByTestId("job-save"));
  expect(screen.getByTestId("wrong-keepGoingMinutes").textContent).toContain("Choose between");
  await user.clear(screen.getByTestId("job-keepGoingMinutes"));
  await user.type(screen.getByTestId("job-keepGoingMinutes"), "60");
  await user.click(screen.getByTestId("job-save"));
  await waitFor(() => expect(made).toHaveBeenCalledOnce());
  expect(made.mock.calls[0]?.[0].body).toMatchObject({ keepGoingMinutes: 60 });
});

test("a shell has no field for it", () => {
  editing.value = { draft: newDraft(Date.now(), "UTC", "shell", "/w") };
  show(<CronPage />);
  expect(screen.queryByTestId("job-keepGoingMinutes")).toBeNull();
});
