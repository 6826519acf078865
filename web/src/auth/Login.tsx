import { useState } from "preact/hooks";
import { signIn } from "../api/calls.ts";
import { ApiError, textOf } from "../api/errors.ts";
import { restartStream } from "../stream/connection.ts";
import { Brand } from "../ui/Brand.tsx";
import { Icon } from "../ui/Icon.tsx";
import { signedIn } from "./state.ts";

function wordsFor(error: unknown): string {
  if (error instanceof ApiError && error.status === 401) return "Wrong user name or password.";
  return textOf(error);
}

function valueOf(form: HTMLFormElement, name: string): string {
  const field = form.elements.namedItem(name);
  return field instanceof HTMLInputElement ? field.value : "";
}

export function Login() {
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    setBusy(true);
    setProblem("");
    try {
      await signIn(valueOf(form, "username"), valueOf(form, "password"));
      signedIn();
      restartStream();
    } catch (error) {
      setProblem(wordsFor(error));
      setBusy(false);
    }
  };
  return (
    <main class="login">
      <form class="login-card" onSubmit={(event) => void submit(event)} data-testid="login">
        <Brand large />
        <h1>Sign in</h1>
        <label class="labelled">
          <span>User name</span>
          <input
            class="field"
            name="username"
            autocomplete="username"
            autocapitalize="off"
            spellcheck={false}
            required
            autofocus
          />
        </label>
        <label class="labelled">
          <span>Password</span>
          <input class="field" name="password" type="password" autocomplete="current-password" required />
        </label>
        <p class="problem" role="alert" data-testid="login-problem" hidden={problem === ""}>
          <Icon name="alert" /> {problem}
        </p>
        <button type="submit" class="button primary wide" disabled={busy} data-testid="login-submit">
          {busy ? "Signing in…" : "Sign in"}
        </button>
      </form>
    </main>
  );
}
