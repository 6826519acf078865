import type { ComponentChildren } from "preact";
import { FormRow } from "./FormRow.tsx";
import type { FieldForm } from "./useFieldForm.ts";

interface Props<Draft> {
  /** Of the form, for tests. */
  form: string;
  of: FieldForm<Draft>;
  name: keyof Draft & string;
  label: string;
  hint?: string;
  placeholder?: string;
  /** Rows of text; absent: one line. */
  rows?: number;
  numeric?: boolean;
  after?: ComponentChildren;
}

/** A field of text in a form, nothing of which a browser or a phone corrects. */
export function TextRow<Draft extends object>(props: Props<Draft>) {
  const { form, of, name, label, hint, placeholder = "", rows, numeric, after } = props;
  const common = {
    value: String(of.draft[name]),
    placeholder,
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: false,
    onInput: (event: Event) =>
      of.set({ [name]: (event.currentTarget as HTMLInputElement).value } as unknown as Partial<Draft>),
  } as const;
  return (
    <FormRow form={form} name={name} label={label} hint={hint} problem={of.wrong[name]} after={after}>
      {(tied) =>
        rows === undefined ? (
          <input class="field" {...common} {...(numeric && { inputMode: "numeric" })} {...tied} />
        ) : (
          <textarea class="field" rows={rows} {...common} {...tied} />
        )
      }
    </FormRow>
  );
}
