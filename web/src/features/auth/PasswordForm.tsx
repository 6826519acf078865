/** Two new passwords that are alike, and the present one where this page does not know it. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { ApiError, getErrorText } from "../../api/errors.ts";
import { Problem } from "../../ui/Problem.tsx";
import { useFirstField } from "../../ui/useFirstField.ts";
import { valueOf } from "./fieldvalue.ts";
import { me } from "../../store/me.ts";
import { problemOf, SHORTEST } from "./password.ts";
import { PasswordField } from "./PasswordField.tsx";
import { setPassword } from "./state.ts";

function wordsFor(error: unknown): string {
  if (error instanceof ApiError && error.status === 403) return "The current password is wrong.";
  return getErrorText(error);
}

interface Props {
  askCurrent: boolean;
  action: string;
  onDone?: () => void;
  children?: ComponentChildren;
}

export function PasswordForm({ askCurrent, action, onDone, children }: Props) {
  const form = useFirstField();
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const filled = event.currentTarget as HTMLFormElement;
    const [current, wanted, repeated] = ["current", "new", "repeated"].map((name) => valueOf(filled, name));
    const draft = { current: current ?? "", wanted: wanted ?? "", repeated: repeated ?? "" };
    const wrong = problemOf(draft);
    setProblem(wrong ?? "");
    if (wrong !== undefined) return;
    setBusy(true);
    try {
      await setPassword(draft.current, draft.wanted);
      onDone?.();
    } catch (error) {
      setProblem(wordsFor(error));
      setBusy(false);
    }
  };
  return (
    <form
      ref={form}
      class="password-form"
      onSubmit={(event) => void submit(event)}
      data-testid="password-form"
    >
      {/* Password managers keep the new password under this name. */}
      <input
        class="offscreen"
        name="username"
        autocomplete="username"
        value={me.value?.username ?? ""}
        readOnly
        tabIndex={-1}
        aria-hidden="true"
      />
      {askCurrent && (
        <PasswordField label="Current password" name="current" autocomplete="current-password" />
      )}
      <PasswordField
        label="New password"
        hint={`at least ${SHORTEST} characters`}
        name="new"
        autocomplete="new-password"
      />
      <PasswordField label="Repeat new password" name="repeated" autocomplete="new-password" />
      <Problem text={problem} testid="password-problem" />
      <div class="password-foot">
        {children}
        <button type="submit" class="button primary" disabled={busy} data-testid="password-submit">
          {busy ? "Changing…" : action}
        </button>
      </div>
    </form>
  );
}
