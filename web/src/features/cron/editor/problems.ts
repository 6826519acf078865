/** What is wrong with a draft, at the field that it is about. */
import { ApiError, getErrorText } from "../../../api/errors.ts";
import { fromField } from "../../../lib/zonetime.ts";
import { type Draft, keepsGoing, minutesOf } from "./draft.ts";
import { fieldsOf } from "../jobs/expression.ts";
import { type Definition, KEEP_GOING_MAX, LINE_MAX, MINUTES_MAX, NAME_MAX, PROMPT_MAX } from "../jobs/job.ts";

/** Fields as the service names them, in the order of the editor. */
export const FIELDS = [
  "name",
  "agentType",
  "workingDir",
  "launchCommand",
  "promptMode",
  "promptText",
  "promptFilePath",
  "inputMode",
  "scheduleType",
  "runAt",
  "intervalMinutes",
  "dailyTime",
  "weeklyDays",
  "weeklyTime",
  "cronExpression",
  "concurrencyPolicy",
  "autoClosePreviousSession",
  "keepGoingMinutes",
  "enabled",
  "notes",
] as const satisfies readonly (keyof Definition)[];

export type FieldName = (typeof FIELDS)[number];
/** Fields that say when a job fires. */
export const SCHEDULE_FIELDS: readonly FieldName[] = [
  "runAt",
  "intervalMinutes",
  "dailyTime",
  "weeklyDays",
  "weeklyTime",
  "cronExpression",
];

export type Problems = Partial<Record<FieldName, string>>;

const TIME = /^([01]\d|2[0-3]):[0-5]\d$/;
const REQUIRED = "Required";
const WHOLE_PATH = "Enter the full path, starting with /.";

function scheduleProblems(draft: Draft, zone: string, now: number, saved?: Draft): Problems {
  switch (draft.scheduleType) {
    case "once": {
      const at = fromField(draft.runAt, zone);
      if (at === undefined) return { runAt: "Choose a date and a time." };
      const kept = saved?.scheduleType === "once" && saved.runAt === draft.runAt;
      const same = kept && (saved.enabled || !draft.enabled);
      return at <= now && !same ? { runAt: "Choose a time in the future." } : {};
    }
    case "interval": {
      const minutes = minutesOf(draft);
      const fits = Number.isInteger(minutes) && minutes >= 1 && minutes <= MINUTES_MAX;
      return fits ? {} : { intervalMinutes: "Choose between 1 minute and 365 days, in whole minutes." };
    }
    case "daily":
      return TIME.test(draft.dailyTime) ? {} : { dailyTime: "Choose a time." };
    case "weekly":
      return {
        ...(draft.weeklyDays.length === 0 && { weeklyDays: "Choose at least one day." }),
        ...(!TIME.test(draft.weeklyTime) && { weeklyTime: "Choose a time." }),
      };
    case "cron": {
      const count = fieldsOf(draft.cronExpression).length;
      return count === 5 ? {} : { cronExpression: `Enter five fields, not ${count}.` };
    }
  }
}

function promptProblems(draft: Draft): Problems {
  if (draft.promptMode === "inline_text") {
    if (draft.promptText.trim() === "") return { promptText: REQUIRED };
    const over = draft.promptText.length > PROMPT_MAX;
    return over ? { promptText: `Use at most ${PROMPT_MAX} characters, or a file.` } : {};
  }
  const path = draft.promptFilePath.trim();
  if (path === "") return { promptFilePath: REQUIRED };
  if (!path.startsWith("/")) return { promptFilePath: WHOLE_PATH };
  const folder = draft.workingDir.trim().replace(/\/+$/, "");
  return path.startsWith(`${folder}/`) ? {} : { promptFilePath: "Choose a file inside the folder." };
}

function keepGoingProblems(draft: Draft): Problems {
  const minutes = Number(draft.keepGoing);
  const fits = Number.isInteger(minutes) && minutes >= 1 && minutes <= KEEP_GOING_MAX;
  return fits || !keepsGoing(draft) ? {} : { keepGoingMinutes: "Choose between 1 minute and 10 days." };
}

/**
 * What can be told without the service; it is asked all the same.
 * @param saved the job as it is: one that has run keeps its moment, unless it is switched on again.
 */
export function validateDraft(draft: Draft, zone: string, now: number, saved?: Draft): Problems {
  const folder = draft.workingDir.trim();
  return {
    ...(draft.name.trim() === "" && { name: REQUIRED }),
    ...(draft.name.trim().length > NAME_MAX && { name: `Use at most ${NAME_MAX} characters.` }),
    ...(draft.agentType === "" && { agentType: REQUIRED }),
    ...(!folder.startsWith("/") && {
      workingDir: folder === "" ? REQUIRED : WHOLE_PATH,
    }),
    ...(draft.launchCommand.length > LINE_MAX && { launchCommand: `Use at most ${LINE_MAX} characters.` }),
    ...promptProblems(draft),
    ...scheduleProblems(draft, zone, now, saved),
    ...keepGoingProblems(draft),
    ...(draft.notes.length > LINE_MAX && { notes: `Use at most ${LINE_MAX} characters.` }),
  };
}

/** A refusal of the service and the field that it names, if it names one of the editor's. */
export interface Refusal {
  field: FieldName | undefined;
  text: string;
}

const upper = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** @param error a 400 reads `field: rule`, perhaps with a path below the field (wire, Conventions). */
export function parseRefusal(error: unknown): Refusal {
  const text = getErrorText(error);
  const told = error instanceof ApiError && error.status === 400 ? /^(\w+)[\w.]*: (.+)$/s.exec(text) : null;
  const field = FIELDS.find((name) => name === told?.[1]);
  return field
    ? { field, text: `${upper(told?.[2] ?? "")}.`.replace(/\.\.$/, ".") }
    : { field: undefined, text };
}

/** A field that nobody has touched yet is not wrong, until the draft is sent. */
export function selectShownProblems(
  all: Problems,
  touched: ReadonlySet<FieldName>,
  sent: boolean,
  refusals: readonly (Refusal | undefined)[],
): Problems {
  const own = Object.entries(all).filter(([name]) => sent || touched.has(name as FieldName));
  const told = refusals.flatMap((refusal) => (refusal?.field ? [[refusal.field, refusal.text]] : []));
  return { ...Object.fromEntries(told), ...Object.fromEntries(own) } as Problems;
}
