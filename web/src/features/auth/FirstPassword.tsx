/** Whoever came in with a one-time password chooses another one first. */
import { me } from "../../store/me.ts";
import { Brand } from "../../ui/Brand.tsx";
import { PasswordForm } from "./PasswordForm.tsx";
import { knowsCurrent, resetSignIn } from "./state.ts";

export function FirstPassword() {
  return (
    <main class="login">
      <section class="login-card" data-testid="first-password">
        <Brand large />
        <h1>Choose a password</h1>
        <p class="dim">
          You are signed in as <strong>{me.value?.username}</strong> with a one-time password. Choose your own
          password to continue.
        </p>
        <PasswordForm askCurrent={!knowsCurrent.value} action="Set password" />
        <button type="button" class="link" onClick={resetSignIn} data-testid="other-account">
          Sign in with another account
        </button>
      </section>
    </main>
  );
}
