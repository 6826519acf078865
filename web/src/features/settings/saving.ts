/** Settings of the service, saved as they change; what came of it stands at the field. */
import { signal } from "@preact/signals";
import { writeSettings } from "../../api/calls.ts";
import { ApiError, getErrorText } from "../../api/errors.ts";
import type { SettingsPatch } from "../../api/types.ts";
import { settings } from "../../store/state.ts";

export type SettingName = keyof SettingsPatch;

/** `value` is what was asked for, which a field goes on showing. */
export type Mark =
  | { state: "undone" }
  | { state: "saving"; value: unknown }
  /** `before`: what it was, for whoever takes the change back; undefined where nobody can. */
  | { state: "saved"; before: unknown }
  | { state: "refused"; text: string; value: unknown };

/** One for each field that was changed since the page was opened. */
export const marks = signal<ReadonlyMap<SettingName, Mark>>(new Map());

function put(name: SettingName, mark: Mark): void {
  marks.value = new Map(marks.peek()).set(name, mark);
}

/** A refusal names its field, which is in front of the person, before the rule. */
export function formatRule(name: SettingName, error: unknown): string {
  const text = getErrorText(error);
  const rule =
    error instanceof ApiError && error.status === 400 && text.startsWith(name)
      ? text.replace(/^[^:]*: /, "")
      : text;
  const begun = rule.charAt(0).toUpperCase() + rule.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

/** @returns the value that was asked for and is not kept (yet). */
export function getPendingValue(mark: Mark | undefined): unknown {
  return mark?.state === "saving" || mark?.state === "refused" ? mark.value : undefined;
}

/** @returns the text that was asked for and is not kept (yet), else what is. */
export function getShownText(mark: Mark | undefined, kept: string): string {
  const asked = getPendingValue(mark);
  return typeof asked === "string" ? asked : kept;
}

async function send<Name extends SettingName>(
  name: Name,
  value: SettingsPatch[Name],
  done: Mark,
): Promise<void> {
  const saving: Mark = { state: "saving", value };
  // Of several changes of one field under way, the last one's end is told.
  const tell = (mark: Mark) => marks.peek().get(name) === saving && put(name, mark);
  put(name, saving);
  try {
    settings.value = await writeSettings({ [name]: value });
    tell(done);
  } catch (error) {
    tell({ state: "refused", text: formatRule(name, error), value });
  }
}

export function saveSetting<Name extends SettingName>(name: Name, value: SettingsPatch[Name]): Promise<void> {
  const before = settings.peek()[name] ?? (typeof value === "string" ? "" : null);
  return send(name, value, { state: "saved", before });
}

/**
 * Some fields of a setting that has several; the others stay.
 *
 * @param before what they were; undefined for a secret, which nobody is told.
 */
export const saveSome = <Name extends SettingName>(
  name: Name,
  value: SettingsPatch[Name],
  before: SettingsPatch[Name] | undefined,
): Promise<void> => send(name, value, { state: "saved", before });

/** What the last change of a field took the place of, put back. */
export async function undo(name: SettingName): Promise<void> {
  const mark = marks.peek().get(name);
  if (mark?.state !== "saved" || mark.before === undefined) return;
  await send(name, mark.before as SettingsPatch[SettingName], { state: "undone" });
}

export function forgetMarks(): void {
  marks.value = new Map();
}
