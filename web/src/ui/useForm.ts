/** A form that says what is wrong in one place. */
import { useState } from "preact/hooks";
import { getErrorText } from "../api/errors.ts";

export interface Form<Draft> {
  draft: Draft;
  problem: string;
  busy: boolean;
  set: (part: Partial<Draft>) => void;
  submit: (event: Event) => Promise<void>;
}

interface Options<Draft> {
  /** @returns what is to be mended before anything is sent. */
  validate?: (draft: Draft) => string | undefined;
  /** Words for a refusal. */
  describe?: (error: unknown) => string;
}

/** @param send ends with the form's end, or throws. */
export function useForm<Draft extends object>(
  first: Draft,
  send: (draft: Draft) => Promise<void>,
  { validate, describe = getErrorText }: Options<Draft> = {},
): Form<Draft> {
  const [draft, setDraft] = useState(first);
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const set = (part: Partial<Draft>) => {
    setProblem("");
    setDraft((before) => ({ ...before, ...part }));
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    if (busy) return;
    const wrong = validate?.(draft);
    if (wrong !== undefined) return setProblem(wrong);
    setBusy(true);
    try {
      await send(draft);
    } catch (error) {
      setProblem(describe(error));
    } finally {
      setBusy(false);
    }
  };
  return { draft, problem, busy, set, submit };
}
