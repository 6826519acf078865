import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import "./pages/styles.ts";

/** What ties a control to its label and to what is wrong with it. */
export interface Tied {
  id: string;
  "aria-invalid": boolean;
  "aria-describedby": string | undefined;
  "data-testid": string;
}

interface Props {
  /** Of the form, for tests: `job` makes `job-name`. */
  form: string;
  name: string;
  label: string;
  hint?: string | undefined;
  problem: string | undefined;
  /** Below the control. */
  after?: ComponentChildren;
  children: (tied: Tied) => ComponentChildren;
}

/** A labelled control with its problem below it. */
export function FormRow({ form, name, label, hint, problem, after, children }: Props) {
  const id = useId();
  const wrong = `${id}-wrong`;
  return (
    <div class="labelled form-row">
      <label for={id}>
        {label} {hint && <small>{hint}</small>}
      </label>
      {children({
        id,
        "aria-invalid": problem !== undefined,
        "aria-describedby": problem === undefined ? undefined : wrong,
        "data-testid": `${form}-${name}`,
      })}
      {problem !== undefined && <Wrong id={wrong} name={name} text={problem} />}
      {after}
    </div>
  );
}

export function Wrong({ id, name, text }: { id: string; name: string; text: string }) {
  return (
    <p class="field-problem" id={id} role="alert" data-testid={`wrong-${name}`}>
      {text}
    </p>
  );
}
