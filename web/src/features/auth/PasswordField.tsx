/** A field for a password, which can be shown. */
import { useState } from "preact/hooks";
import "./access.css";

interface PasswordFieldProps {
  label: string;
  name: string;
  hint?: string;
  autocomplete: "current-password" | "new-password";
}

export function PasswordField({ label, name, hint, autocomplete }: PasswordFieldProps) {
  const [shown, setShown] = useState(false);
  const field = {
    class: "field",
    id: `password-${name}`,
    name,
    autocomplete,
    autocapitalize: "off",
    spellcheck: false,
    required: true,
  } as const;
  return (
    <div class="labelled">
      <label id={`label-${name}`} for={field.id}>
        {label} {hint && <small>{hint}</small>}
      </label>
      <span class="password-box">
        {shown ? <input type="text" {...field} /> : <input type="password" {...field} />}
        <button
          type="button"
          class="password-eye"
          aria-pressed={shown}
          aria-label="Show password"
          aria-describedby={`label-${name}`}
          onClick={() => setShown(!shown)}
        >
          {shown ? "Hide" : "Show"}
        </button>
      </span>
    </div>
  );
}

/** The text in a form's named field: password managers fill it in without telling. */
export function valueOf(form: HTMLFormElement, name: string): string {
  const field = form.elements.namedItem(name);
  return field instanceof HTMLInputElement ? field.value : "";
}
