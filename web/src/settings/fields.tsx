import type { ComponentChildren } from "preact";

interface FieldProps {
  label: string;
  hint?: string | undefined;
  children: ComponentChildren;
}

export function Field({ label, hint, children }: FieldProps) {
  return (
    <label class="setting">
      <span>
        {label}
        {hint && <small>{hint}</small>}
      </span>
      {children}
    </label>
  );
}

interface SwitchProps {
  label: string;
  hint?: string;
  value: boolean;
  onChange: (value: boolean) => void;
}

export function Switch({ label, hint, value, onChange }: SwitchProps) {
  return (
    <Field label={label} hint={hint}>
      <input
        type="checkbox"
        role="switch"
        class="switch"
        checked={value}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
    </Field>
  );
}

interface NumberProps {
  label: string;
  hint?: string;
  unit: string;
  value: number;
  least: number;
  most: number;
  onChange: (value: number) => void;
}

/** Out-of-range values are put back into the range when the field is left. */
export function NumberField({ label, hint, unit, value, least, most, onChange }: NumberProps) {
  const commit = (event: Event) => {
    const field = event.currentTarget as HTMLInputElement;
    const wanted = Math.round(Number(field.value));
    const next =
      Number.isFinite(wanted) && field.value !== "" ? Math.max(least, Math.min(most, wanted)) : value;
    field.value = String(next);
    if (next !== value) onChange(next);
  };
  return (
    <Field label={label} hint={hint}>
      <span class="number">
        <input
          class="field"
          type="number"
          inputMode="numeric"
          value={value}
          min={least}
          max={most}
          onChange={commit}
        />
        <small>{unit}</small>
      </span>
    </Field>
  );
}
