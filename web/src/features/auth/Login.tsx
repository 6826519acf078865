import { Brand } from "../../ui/Brand.tsx";
import { PasswordField, valueOf } from "./PasswordField.tsx";
import { signInWithPassword, wasEnded } from "./state.ts";
import { useState } from "preact/hooks";
import { ApiError, getErrorText } from "../../api/errors.ts";
import { Problem } from "../../ui/Problem.tsx";
import { useFirstField } from "../../ui/useFirstField.ts";

function wordsFor(error: unknown): string {
  if (error instanceof ApiError && error.status === 401) return "Wrong user name or password.";
  return getErrorText(error);
}

export function Login() {
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const form = useFirstField();
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const filled = event.currentTarget as HTMLFormElement;
    setBusy(true);
    setProblem("");
    try {
      await signInWithPassword(valueOf(filled, "username"), valueOf(filled, "password"));
    } catch (error) {
      setProblem(wordsFor(error));
      setBusy(false);
    }
  };
  return (
    <main class="login">
      <form ref={form} class="login-card" onSubmit={(event) => void submit(event)} data-testid="login">
        <Brand large />
        <h1>Sign in</h1>
        {wasEnded.value && (
          <p class="login-note" role="status" data-testid="login-note">
            You were signed out, or your sign-in expired. Your sessions keep running.
          </p>
        )}
        <label class="labelled">
          <span>User name</span>
          <input
            class="field"
            name="username"
            autocomplete="username"
            autocapitalize="off"
            spellcheck={false}
            required
          />
        </label>
        <PasswordField label="Password" name="password" autocomplete="current-password" />
        <Problem text={problem} testid="login-problem" />
        <button type="submit" class="button primary wide" disabled={busy} data-testid="login-submit">
          {busy ? "Signing in…" : "Sign in"}
        </button>
      </form>
    </main>
  );
}
