/** A form whose problems stand at their fields, those of the service too. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { parseFieldError, formatError } from "../api/errors.ts";

/** What is wrong, by field. */
export type Wrong = Readonly<Partial<Record<string, string>>>;

export interface FieldForm<Draft> {
  draft: Draft;
  wrong: Wrong;
  /** What went wrong with no field of the form. */
  problem: string;
  busy: boolean;
  set: (part: Partial<Draft>) => void;
  submit: (event: Event) => Promise<void>;
}

/** @param draft its fields; `resources.memory` of the service is the field `memory`. */
export function parseFormError(error: unknown, draft: object): { wrong: Wrong; problem: string } {
  const found = parseFieldError(error);
  const name = [found?.part.slice(1), found?.field].find((each) => each && Object.hasOwn(draft, each));
  return found && name !== undefined
    ? { wrong: { [name]: found.rule }, problem: "" }
    : { wrong: {}, problem: formatError(error) };
}

/**
 * @param judge what is to be mended before anything is sent.
 * @param send ends with the form's end, or throws.
 */
export function useFieldForm<Draft extends object>(
  first: Draft,
  judge: (draft: Draft) => Wrong,
  send: (draft: Draft) => Promise<void>,
): FieldForm<Draft> {
  const [draft, setDraft] = useState(first);
  const [{ wrong, problem }, setFound] = useState<{ wrong: Wrong; problem: string }>({
    wrong: {},
    problem: "",
  });
  const [busy, setBusy] = useState(false);
  const set = (part: Partial<Draft>) => {
    setDraft((before) => ({ ...before, ...part }));
    setFound({ wrong: { ...wrong, ...blank(part) }, problem: "" });
  };
  const refused = useRef<HTMLElement | undefined>(undefined);
  // With the drawing of what is wrong: the first wrong field gets the caret, and no key before it.
  useLayoutEffect(() => {
    refused.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
    refused.current = undefined;
  });
  const submit = async (event: Event) => {
    event.preventDefault();
    if (busy) return;
    const form = event.currentTarget as HTMLElement;
    const found = judge(draft);
    setFound({ wrong: found, problem: "" });
    if (Object.keys(found).length > 0) {
      refused.current = form;
      return;
    }
    setBusy(true);
    try {
      await send(draft);
    } catch (error) {
      refused.current = form;
      setFound(parseFormError(error, draft));
      setBusy(false);
    }
  };
  return { draft, wrong, problem, busy, set, submit };
}

/** What is being mended is no longer called wrong. */
const blank = (part: object): Wrong => Object.fromEntries(Object.keys(part).map((name) => [name, undefined]));
