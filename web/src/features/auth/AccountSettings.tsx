/** Who is signed in here, with what password, and the way out. */
import { Button } from "../../ui/Button.tsx";
import { useState } from "preact/hooks";
import { Dialog } from "../../ui/Dialog.tsx";
import { isMultiUser, me } from "../../store/me.ts";
import { PasswordForm } from "./PasswordForm.tsx";
import { canSignOut, signOutHere } from "./state.ts";

function PasswordDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Change password" onClose={onClose} class="ask" testid="password-dialog">
      <p class="dialog-lead dim">This signs out all your other devices.</p>
      <PasswordForm askCurrent action="Change" onDone={onClose}>
        <Button onClick={onClose}>Cancel</Button>
      </PasswordForm>
    </Dialog>
  );
}

export function AccountSettings() {
  const [changing, setChanging] = useState(false);
  const person = me.value;
  if (!person || !canSignOut.value) return null;
  return (
    <section data-testid="account-settings">
      <h3>Account</h3>
      <div class="setting">
        <span>
          {person.username}
          <small>{person.role === "admin" ? "admin" : "user"}</small>
        </span>
        <span class="setting-buttons">
          {isMultiUser.value && (
            <Button onClick={() => setChanging(true)} testid="change-password">
              Change password
            </Button>
          )}
          <Button onClick={() => void signOutHere()} testid="sign-out">
            Sign out
          </Button>
        </span>
      </div>
      {changing && <PasswordDialog onClose={() => setChanging(false)} />}
    </section>
  );
}
