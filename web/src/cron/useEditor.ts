/** The state of the editor: the draft, what is wrong with it, and its way to the service. */
import { useEffect, useRef, useState } from "preact/hooks";
import { serviceZone } from "../store/state.ts";
import { ask } from "../ui/ask.ts";
import { say } from "../ui/toasts.ts";
import { useNow } from "../ui/useNow.ts";
import { putJob } from "./book.ts";
import { changeJob, createJob } from "./calls.ts";
import { bodyOf, changesOf, type Draft } from "./draft.ts";
import { type Editing, editing } from "./editing.ts";
import type { Job } from "./job.ts";
import { type Preview, usePreview } from "./preview.ts";
import { type FieldName, type Problems, problemsOf, type Refusal, refusalOf } from "./problems.ts";
import { setBook } from "./state.ts";

export interface EditorState {
  draft: Draft;
  set: (part: Partial<Draft>) => void;
  /** What to show at the fields now. */
  problems: Problems;
  /** What is about no field. */
  trouble: string;
  preview: Preview;
  busy: boolean;
  save: (form: HTMLFormElement) => void;
  close: () => void;
}

/** Draft fields that the service knows under another name. */
const WIRE_NAMES: Partial<Record<keyof Draft, FieldName>> = {
  every: "intervalMinutes",
  unit: "intervalMinutes",
};

const touchedBy = (part: Partial<Draft>): FieldName[] =>
  (Object.keys(part) as (keyof Draft)[]).map((key) => WIRE_NAMES[key] ?? (key as FieldName));

/** A field that nobody has touched yet is not wrong, until the draft is sent. */
export function shownProblems(
  all: Problems,
  touched: ReadonlySet<FieldName>,
  sent: boolean,
  refusals: readonly (Refusal | undefined)[],
): Problems {
  const own = Object.entries(all).filter(([name]) => sent || touched.has(name as FieldName));
  const told = refusals.flatMap((refusal) => (refusal?.field ? [[refusal.field, refusal.text]] : []));
  return { ...Object.fromEntries(told), ...Object.fromEntries(own) } as Problems;
}

const send = (start: Editing, draft: Draft, zone: string): Promise<{ job: Job }> =>
  start.id === undefined
    ? createJob(bodyOf(draft, zone))
    : changeJob(start.id, changesOf(start.draft, draft, zone));

async function closeAfterAsking(changed: boolean): Promise<void> {
  const agreed =
    !changed ||
    (await ask({
      title: "Discard what you wrote?",
      text: "The job stays as it was saved last.",
      action: "Discard",
      danger: true,
    }));
  if (agreed) editing.value = undefined;
}

export function useEditor(start: Editing): EditorState {
  const zone = serviceZone.value;
  const now = useNow();
  const form = useRef<HTMLFormElement | undefined>(undefined);
  const [draft, setDraft] = useState(start.draft);
  const [touched, setTouched] = useState<ReadonlySet<FieldName>>(new Set());
  const [sends, setSends] = useState(0);
  const [refusal, setRefusal] = useState<Refusal>();
  const [busy, setBusy] = useState(false);
  const changed = JSON.stringify(draft) !== JSON.stringify(start.draft);
  const preview = usePreview(draft, zone, now);
  const saved = start.id === undefined ? undefined : start.draft;
  const all = problemsOf(draft, zone, now, saved);
  const problems = shownProblems(all, touched, sends > 0, [preview.refusal, refusal]);

  // Behind the drawing of what is wrong: the first wrong field is where to go on.
  useEffect(() => {
    if (sends > 0) form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [sends, refusal]);

  const set = (part: Partial<Draft>) => {
    setRefusal(undefined);
    setTouched((before) => new Set([...before, ...touchedBy(part)]));
    setDraft((before) => ({ ...before, ...part }));
  };
  const submit = async () => {
    setBusy(true);
    try {
      const { job } = await send(start, draft, zone);
      setBook((before) => putJob(before, job));
      editing.value = undefined;
      say("good", start.id === undefined ? `${job.name} is scheduled` : `${job.name} is saved`);
    } catch (error) {
      setRefusal(refusalOf(error));
      setBusy(false);
    }
  };
  const save = (element: HTMLFormElement) => {
    form.current = element;
    setSends(sends + 1);
    if (saved && !changed) editing.value = undefined;
    else if (!busy && Object.keys(all).length === 0) void submit();
  };
  const trouble = refusal && refusal.field === undefined ? refusal.text : "";
  const close = () => void closeAfterAsking(changed);
  return { draft, set, problems, trouble, preview, busy, save, close };
}
