import { describe, expect, test } from "vitest";
import {
  apply,
  type JobList,
  dropJob,
  EMPTY,
  nextJob,
  putJob,
  putRuns,
  RUNS_MAX,
  runsOf,
  withJobs,
} from "./state.ts";
import { job, run } from "./fixtures.ts";

const names = (book: JobList) => book.jobs.map((each) => each.name);
const ids = (book: JobList) => book.runs.map((each) => each.id);

describe("jobs", () => {
  test("by name, with numbers by their size", () => {
    const list = [
      job({ id: "a", name: "job 10" }),
      job({ id: "b", name: "job 9" }),
      job({ id: "c", name: "Air" }),
    ];
    expect(names(withJobs(EMPTY, list))).toEqual(["Air", "job 9", "job 10"]);
  });

  test("timed runs of the older way come last", () => {
    const list = [job({ id: "timed-1", name: "Air" }), job({ id: "b", name: "job 9" })];
    expect(names(withJobs(EMPTY, list))).toEqual(["job 9", "Air"]);
  });

  test("a changed one takes its own place", () => {
    const book = withJobs(EMPTY, [job(), job({ id: "j2", name: "other" })]);
    expect(names(putJob(book, job({ name: "zebra" })))).toEqual(["other", "zebra"]);
  });

  test("a deleted one takes its runs with it", () => {
    const book = putRuns(withJobs(EMPTY, [job()]), [run(), run({ id: "r2", cronJobId: "j2" })]);
    expect(ids(dropJob(book, "j1"))).toEqual(["r2"]);
    expect(apply(book, "cron:jobDeleted", { id: "j1" })).toEqual({ book: dropJob(book, "j1"), stale: false });
  });

  test("the next is the earliest that has a time", () => {
    const list = [job({ nextRunAt: null }), job({ id: "j2", nextRunAt: 9 }), job({ id: "j3", nextRunAt: 5 })];
    expect(nextJob(withJobs(EMPTY, list))?.id).toBe("j3");
    expect(nextJob(EMPTY)).toBeUndefined();
  });
});

describe("runs", () => {
  test("newest first, each as it was told last", () => {
    const book = putRuns(EMPTY, [run({ status: "created" }), run({ id: "r2", startedAt: 5000 })]);
    const after = apply(book, "cron:runUpdated", run({ status: "failed" }));
    expect(ids(after.book)).toEqual(["r2", "r1"]);
    expect(runsOf(after.book, "j1")[1]?.status).toBe("failed");
    expect(after.stale).toBe(true);
  });

  test("as many as the service keeps: the oldest go", () => {
    const many = Array.from({ length: RUNS_MAX + 5 }, (_, n) => run({ id: `r${n}`, startedAt: n }));
    const book = putRuns(EMPTY, many);
    expect(book.runs).toHaveLength(RUNS_MAX);
    expect(book.runs.at(-1)?.id).toBe("r5");
  });

  test.each([undefined, null, 7, "x", {}, { id: "r" }, { id: "r", cronJobId: "j" }])(
    "%o is no run",
    (data) => {
      expect(apply(EMPTY, "cron:runCreated", data).book).toEqual(EMPTY);
    },
  );

  test("a change of the jobs asks for the list anew", () => {
    const book = withJobs(EMPTY, [job()]);
    expect(apply(book, "cron:jobsChanged", { jobs: [] })).toEqual({ book, stale: true });
    expect(apply(book, "cron:jobDeleted", null)).toEqual({ book, stale: true });
  });
});
