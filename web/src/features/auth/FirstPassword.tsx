/** The one page that is open to somebody whose password must be changed. */
import { Brand } from "../../ui/Brand.tsx";
import { me } from "../../store/me.ts";
import { PasswordForm } from "./PasswordForm.tsx";
import { resetSignIn, knowsCurrent } from "./state.ts";

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
