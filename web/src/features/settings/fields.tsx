import type { ComponentChildren } from "preact";
import { Icon } from "../../ui/Icon.tsx";
import { Segments } from "../../ui/Segments.tsx";
import { useDraftText } from "../../ui/useDraftText.ts";
import "../../ui/pages/styles.ts";
import "./fields.css";
import { type Mark, marks, type SettingName, getShownText, undo } from "./saving.ts";

const markId = (name: SettingName): string => `mark-${name}`;

const WORDS: Record<Exclude<Mark["state"], "refused">, string> = {
  saving: "Saving…",
  saved: "Saved",
  undone: "Undone",
};

/** What came of the last change of a field; it is there before it says anything, so that it is heard. */
export function SaveMark({ name }: { name: SettingName }) {
  const mark = marks.value.get(name);
  return (
    <p class="save-mark" id={markId(name)} role="status" data-state={mark?.state} data-testid={markId(name)}>
      {mark?.state === "refused" && (
        <>
          <Icon name="alert" size={15} /> {mark.text}
        </>
      )}
      {mark && mark.state !== "refused" && WORDS[mark.state]}
      {mark?.state === "saved" && mark.before !== undefined && (
        <button
          type="button"
          class="link-button"
          onClick={() => void undo(name)}
          data-testid={`undo-${name}`}
        >
          Undo
        </button>
      )}
    </p>
  );
}

/** Ties a field to what came of its change. */
export function getErrorAttributes(name: SettingName | undefined) {
  if (name === undefined) return {};
  const refused = marks.value.get(name)?.state === "refused";
  return { "aria-invalid": refused, "aria-describedby": markId(name) };
}

interface FieldProps {
  label: string;
  hint?: string | undefined;
  /** The service's setting that it changes. */
  name?: SettingName | undefined;
  children: ComponentChildren;
}

export function Field({ label, hint, name, children }: FieldProps) {
  return (
    <>
      <label class="setting">
        <span>
          {label}
          {hint && <small>{hint}</small>}
        </span>
        {children}
      </label>
      {name && <SaveMark name={name} />}
    </>
  );
}

interface SwitchProps {
  label: string;
  hint?: string;
  name?: SettingName;
  value: boolean;
  onChange: (value: boolean) => void;
}

export function Switch({ label, hint, name, value, onChange }: SwitchProps) {
  return (
    <Field label={label} hint={hint} name={name}>
      <input
        type="checkbox"
        role="switch"
        class="switch"
        checked={value}
        onChange={(event) => onChange(event.currentTarget.checked)}
        {...getErrorAttributes(name)}
      />
    </Field>
  );
}

interface NumberProps {
  label: string;
  hint?: string;
  name?: SettingName;
  unit: string;
  value: number;
  least: number;
  most: number;
  step?: number;
  testid?: string;
  onChange: (value: number) => void;
}

/** Out-of-range values are put back into the range when the field is left. */
export function NumberField({ label, hint, name, unit, value, onChange, ...rest }: NumberProps) {
  const { least, most, step, testid } = rest;
  const { settle, ...typed } = useDraftText(String(value));
  const commit = (event: Event) => {
    const field = event.currentTarget as HTMLInputElement;
    const wanted = Math.round(Number(field.value));
    const next =
      Number.isFinite(wanted) && field.value !== "" ? Math.max(least, Math.min(most, wanted)) : value;
    field.value = String(next);
    settle();
    if (next !== value) onChange(next);
  };
  return (
    <Field label={label} hint={hint} name={name}>
      <span class="number">
        <input
          class="field"
          type="number"
          inputMode="numeric"
          {...typed}
          min={least}
          max={most}
          step={step}
          onChange={commit}
          onBlur={settle}
          data-testid={testid}
          {...getErrorAttributes(name)}
        />
        <small>{unit}</small>
      </span>
    </Field>
  );
}

interface TextProps {
  label: string;
  hint?: string;
  name?: SettingName;
  value: string;
  /** What was asked for and is not kept (yet), where the field is a part of a setting. */
  asked?: string | undefined;
  placeholder?: string;
  list?: string;
  testid?: string;
  /** Why a text is none; the field keeps it, and nothing is changed. */
  problemOf?: (text: string) => string | undefined;
  onChange: (value: string) => void;
}

/** Saved when the field is left or Enter is pressed. */
export function TextField({ label, hint, name, value, asked, onChange, testid, ...rest }: TextProps) {
  const shown = asked ?? (name === undefined ? value : getShownText(marks.value.get(name), value));
  const { settle, ...typed } = useDraftText(shown);
  const commit = (event: Event) => {
    const field = event.currentTarget as HTMLInputElement;
    const wanted = field.value.trim();
    const problem = rest.problemOf?.(wanted) ?? "";
    field.setCustomValidity(problem);
    if (problem !== "") {
      field.reportValidity();
      return;
    }
    settle();
    if (wanted !== value || wanted !== shown) onChange(wanted);
  };
  return (
    <Field label={label} hint={hint} name={name}>
      <input
        class="field"
        autocomplete="off"
        spellcheck={false}
        {...typed}
        placeholder={rest.placeholder}
        list={rest.list}
        onChange={commit}
        onBlur={(event) => event.currentTarget.checkValidity() && settle()}
        data-testid={testid}
        {...getErrorAttributes(name)}
      />
    </Field>
  );
}

interface SegmentsProps<T extends string> {
  label: string;
  name: string;
  choices: readonly (readonly [T, string])[];
  value: T;
  onChange: (value: T) => void;
}

export function SegmentsField<T extends string>({ label, name, ...choice }: SegmentsProps<T>) {
  return (
    <div class="setting">
      <span>{label}</span>
      <Segments label={label} testid={name} {...choice} />
    </div>
  );
}
