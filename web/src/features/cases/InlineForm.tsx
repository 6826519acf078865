/** A field with its button within a form, which Enter in it does not send. */
import { useState } from "preact/hooks";

interface Props {
  label: string;
  action: string;
  placeholder?: string;
  problem: string;
  onSubmit: (value: string) => Promise<void>;
}

export function InlineForm({ label, action, placeholder, problem, onSubmit }: Props) {
  const [value, setValue] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = async () => {
    if (busy || value.trim() === "") return;
    setBusy(true);
    await onSubmit(value.trim());
    setBusy(false);
  };
  return (
    <div class="inline-form">
      <input
        class="field"
        type="text"
        value={value}
        placeholder={placeholder ?? label}
        aria-label={label}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        onInput={(event) => setValue(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          void submit();
        }}
        data-testid="inline-field"
      />
      <button
        type="button"
        class="button"
        disabled={busy || value.trim() === ""}
        onClick={() => void submit()}
        data-testid="inline-submit"
      >
        {action}
      </button>
      {problem !== "" && (
        <p class="field-problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
