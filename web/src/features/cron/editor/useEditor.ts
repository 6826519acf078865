/** The state of the editor: the draft, what is wrong with it, and its way to the service. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { serviceZone } from "../../../store/state.ts";
import { askQuestion } from "../../../ui/ask.ts";
import { showToast } from "../../../store/toasts.ts";
import { useNow } from "../../../ui/useNow.ts";
import { runNow } from "../jobs/actions.ts";
import { jobList, putJob, setJobList } from "../jobs/state.ts";
import { api } from "../../../api/client.ts";
import { bodyOf, changesOf, type Draft } from "./draft.ts";
import { type Editing, editing } from "./editing.ts";
import type { JobResponse } from "../jobs/job.ts";
import { type Preview, usePreview } from "./preview.ts";
import {
  type FieldName,
  type Problems,
  validateDraft,
  type Refusal,
  parseRefusal,
  selectShownProblems,
} from "./problems.ts";

export interface EditorState {
  draft: Draft;
  set: (part: Partial<Draft>) => void;
  /** What to show at the fields now. */
  problems: Problems;
  /** What is about no field. */
  trouble: string;
  preview: Preview;
  busy: boolean;
  /** @param run start the saved job once, too. */
  save: (form: HTMLFormElement, run: boolean) => void;
  close: () => void;
}

/** Draft fields that the service knows under another name. */
const WIRE_NAMES: Partial<Record<keyof Draft, FieldName>> = {
  every: "intervalMinutes",
  unit: "intervalMinutes",
  keepGoing: "keepGoingMinutes",
};

const touchedBy = (part: Partial<Draft>): FieldName[] =>
  (Object.keys(part) as (keyof Draft)[]).map((key) => WIRE_NAMES[key] ?? (key as FieldName));

const closeEditor = () => void (editing.value = undefined);

const isChanged = (start: Editing, draft: Draft): boolean =>
  JSON.stringify(draft) !== JSON.stringify(start.draft);

/** Whoever leaves the page with a job half written finds it there again. */
function useKept(start: Editing, draft: Draft): void {
  const latest = useRef(draft);
  latest.current = draft;
  useEffect(
    () => () => {
      if (editing.peek() !== start) return;
      const { current } = latest;
      editing.value = isChanged(start, current) ? { ...start, written: current } : undefined;
    },
    [],
  );
}

async function closeAfterAsking(): Promise<void> {
  const agreed = await askQuestion({
    title: "Discard your changes?",
    text: "The saved job is not changed.",
    action: "Discard",
    danger: true,
  });
  if (agreed !== undefined) closeEditor();
}

const send = (start: Editing, draft: Draft, zone: string): Promise<{ job: JobResponse }> =>
  start.id === undefined
    ? api.post("/api/cron/jobs", { body: bodyOf(draft, zone) })
    : api.put("/api/cron/jobs/{id}", {
        path: { id: start.id },
        body: changesOf(start.draft, draft, zone),
      });

interface Saving {
  busy: boolean;
  refusal: Refusal | undefined;
  /** The draft is another one by now: the refusal of the last is over. */
  forget: () => void;
  submit: (draft: Draft, zone: string, run: boolean) => Promise<void>;
}

/** One request at a time; the editor closes when it was taken. */
function useSaving(start: Editing): Saving {
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Refusal>();
  const submit = async (draft: Draft, zone: string, run: boolean) => {
    if (busy) return;
    setBusy(true);
    try {
      const { job } = await send(start, draft, zone);
      setJobList((before) => putJob(before, job));
      closeEditor();
      showToast("good", `${job.name} is ${start.id === undefined ? "scheduled" : "saved"}`);
      if (run) void runNow(job);
    } catch (error) {
      setRefusal(parseRefusal(error));
      setBusy(false);
    }
  };
  return { busy, refusal, forget: () => setRefusal(undefined), submit };
}

export function useEditor(start: Editing): EditorState {
  const zone = serviceZone.value;
  const now = useNow();
  const form = useRef<HTMLFormElement | undefined>(undefined);
  const [draft, setDraft] = useState<Draft>({ ...start.draft, ...start.wish, ...start.written });
  useKept(start, draft);
  const [touched, setTouched] = useState<ReadonlySet<FieldName>>(new Set());
  const [sends, setSends] = useState(0);
  const { busy, refusal, forget, submit } = useSaving(start);
  const preview = usePreview(draft, zone, now);
  const isNew = start.id === undefined;
  const changed = isChanged(start, draft);
  const all = validateDraft(draft, zone, now, isNew ? undefined : start.draft);

  // Behind the drawing of what is wrong: the first wrong field is where to go on.
  useLayoutEffect(() => {
    if (sends > 0) form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [sends, refusal]);

  const set = (part: Partial<Draft>) => {
    forget();
    setTouched((before) => new Set([...before, ...touchedBy(part)]));
    setDraft((before) => ({ ...before, ...part }));
  };
  const save = (element: HTMLFormElement, run: boolean) => {
    form.current = element;
    setSends(sends + 1);
    if (!isNew && !changed) {
      closeEditor();
      const saved = jobList.value.jobs.find(({ id }) => id === start.id);
      if (run && saved) void runNow(saved);
    } else if (Object.keys(all).length === 0) void submit(draft, zone, run);
  };
  return {
    draft,
    set,
    problems: selectShownProblems(all, touched, sends > 0, [...preview.refusals, refusal]),
    trouble: refusal && refusal.field === undefined ? refusal.text : "",
    preview,
    busy,
    save,
    close: changed ? () => void closeAfterAsking() : closeEditor,
  };
}
