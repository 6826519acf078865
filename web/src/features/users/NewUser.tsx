/** The form of a new account. */
import { useState } from "preact/hooks";
import { getErrorText } from "../../api/errors.ts";
import { Field, Switch } from "../settings/fields.tsx";
import { Problem } from "../../ui/Problem.tsx";
import { useFirstField } from "../../ui/useFirstField.ts";
import type { NewUser as Draft, Role } from "./calls.ts";
import { create } from "./state.ts";
import { validateUserName } from "./texts.ts";

const ROLES: [Role, string][] = [
  ["user", "User"],
  ["admin", "Admin"],
];
const EMPTY: Draft = { username: "", role: "user", canBypassPermissions: false };

function RoleChoice({ role, onChange }: { role: Role; onChange: (role: Role) => void }) {
  return (
    <div class="setting">
      <span>
        Role
        <small>
          {role === "admin" ? "access to all sessions, manages users" : "access to their own sessions"}
        </small>
      </span>
      <div class="segments" role="radiogroup" aria-label="Role">
        {ROLES.map(([value, label]) => (
          <label key={value}>
            <input
              type="radio"
              name="role"
              checked={role === value}
              onChange={() => onChange(value)}
              data-testid={`new-user-${value}`}
            />
            <span>{label}</span>
          </label>
        ))}
      </div>
    </div>
  );
}

function useDraft(onDone: () => void) {
  const [draft, setDraft] = useState(EMPTY);
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const set = (part: Partial<Draft>) => {
    setProblem("");
    setDraft((before) => ({ ...before, ...part }));
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    const wrong = validateUserName(draft.username);
    if (wrong !== undefined) return setProblem(wrong);
    setBusy(true);
    try {
      const { osUser, ...rest } = draft;
      await create(osUser ? draft : rest);
      onDone();
    } catch (error) {
      setProblem(getErrorText(error));
      setBusy(false);
    }
  };
  return { draft, set, submit, problem, busy };
}

interface Props {
  osUsers: boolean;
  onClose: () => void;
}

export function NewUser({ osUsers, onClose }: Props) {
  const form = useFirstField();
  const { draft, set, submit, problem, busy } = useDraft(onClose);
  const setOsUser = (osUser: string) => set({ osUser });
  return (
    <form
      ref={form}
      class="sheet"
      onSubmit={(event) => void submit(event)}
      data-testid="new-user-form"
      aria-label="New user"
    >
      <Field label="User name" hint="lowercase letters, digits, - and _">
        <input
          class="field"
          value={draft.username}
          onInput={(event) => set({ username: event.currentTarget.value.trim().toLowerCase() })}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          data-testid="new-user-name"
        />
      </Field>
      <RoleChoice role={draft.role} onChange={(role) => set({ role })} />
      {draft.role === "user" && (
        <Switch
          label="Can run anything"
          hint="shells, agents that skip permission prompts, ! commands in prompts, configuration of agents"
          value={draft.canBypassPermissions}
          onChange={(canBypassPermissions) => set({ canBypassPermissions })}
        />
      )}
      {osUsers && (
        <Field label="OS user" hint="runs this user's sessions; leave empty for the server's own user">
          <input
            class="field"
            value={draft.osUser ?? ""}
            onInput={(event) => setOsUser(event.currentTarget.value)}
            autocapitalize="off"
            spellcheck={false}
            data-testid="new-user-os"
          />
        </Field>
      )}
      <Problem text={problem} testid="new-user-problem" />
      <div class="sheet-foot">
        <small>A one-time password is created and shown once.</small>
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" class="button primary" disabled={busy} data-testid="new-user-create">
          {busy ? "Creating…" : "Create"}
        </button>
      </div>
    </form>
  );
}
