/** Two new passwords that are alike, and the present one where this page does not know it. */
import { Button } from "../../ui/Button.tsx";
import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { ApiError, getErrorText } from "../../api/errors.ts";
import { Problem } from "../../ui/Problem.tsx";
import { useFirstField } from "../../ui/useFirstField.ts";
import { me } from "../../store/me.ts";
import { PasswordField, valueOf } from "./PasswordField.tsx";
import { setPassword } from "./state.ts";

export const SHORTEST = 8;
export const LONGEST = 1024;

export interface PasswordDraft {
  current: string;
  wanted: string;
  repeated: string;
}

/** The service counts code points, not the halves that a script sees. */
const length = (text: string): number => [...text].length;

/** @returns what is wrong with the draft, in words; undefined when it can be sent. */
export function problemOf({ current, wanted, repeated }: PasswordDraft): string | undefined {
  if (length(wanted) < SHORTEST) return `Choose a password with at least ${SHORTEST} characters.`;
  if (length(wanted) > LONGEST) return `Choose a password with at most ${LONGEST} characters.`;
  if (wanted === current) return "Choose a password that differs from the current one.";
  if (wanted !== repeated) return "The new passwords don't match.";
  return undefined;
}

function wordsFor(error: unknown): string {
  if (error instanceof ApiError && error.status === 403) return "The current password is wrong.";
  return getErrorText(error);
}

interface Props {
  askCurrent: boolean;
  action: string;
  /** Where it is not the password of an account that is changed. */
  save?: (current: string, wanted: string) => Promise<void>;
  onDone?: () => void;
  children?: ComponentChildren;
}

export function PasswordForm({ askCurrent, action, save = setPassword, onDone, children }: Props) {
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
      await save(draft.current, draft.wanted);
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
        <Button submit primary disabled={busy} testid="password-submit">
          {busy ? "Changing…" : action}
        </Button>
      </div>
    </form>
  );
}
