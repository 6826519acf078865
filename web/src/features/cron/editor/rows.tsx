import type { ComponentProps } from "preact";
import { FormRow } from "../../../ui/FormRow.tsx";
import type { FieldName } from "./problems.ts";
import { useId } from "preact/hooks";
import { Segments } from "../../../ui/Segments.tsx";

export { type Tied, Wrong } from "../../../ui/FormRow.tsx";

type RowProps = Omit<ComponentProps<typeof FormRow>, "form" | "name"> & { name: FieldName };

/** A labelled control of a job with its problem below it. */
export function Row(props: RowProps) {
  return <FormRow form="job" {...props} />;
}

interface ChoiceProps<T extends string> {
  label: string;
  hint?: string;
  choices: readonly (readonly [T, string])[];
  value: T;
  testid: string;
  onChange: (value: T) => void;
}

/** A choice of few, all in sight. */
export function Choice<T extends string>({ label, hint, choices, value, testid, onChange }: ChoiceProps<T>) {
  const id = useId();
  return (
    <div class="labelled form-row">
      <span id={id}>
        {label} {hint && <small>{hint}</small>}
      </span>
      <Segments aria-labelledby={id} choices={choices} value={value} testid={testid} onChange={onChange} />
    </div>
  );
}
