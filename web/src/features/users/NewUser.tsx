/** The form of a new account. */
import { Field, Switch } from "../settings/fields.tsx";
import { SheetForm } from "../../ui/SheetForm.tsx";
import { useForm } from "../../ui/useForm.ts";
import type { UserResponse } from "../../api/types.ts";
import { create } from "./state.ts";
import { validateUserName } from "./texts.ts";

type Role = UserResponse["role"];
type Draft = Pick<UserResponse, "username" | "role" | "canBypassPermissions" | "osUser">;

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

interface Props {
  osUsers: boolean;
  onClose: () => void;
}

export function NewUser({ osUsers, onClose }: Props) {
  const { draft, set, submit, problem, busy } = useForm(
    EMPTY,
    async ({ osUser, ...rest }) => {
      await create(osUser ? { ...rest, osUser } : rest);
      onClose();
    },
    { validate: ({ username }) => validateUserName(username) },
  );
  const setOsUser = (osUser: string) => set({ osUser });
  return (
    <SheetForm
      label="New user"
      testid="new-user"
      onSubmit={submit}
      onClose={onClose}
      problem={problem}
      busy={busy}
      action="Create"
      pending="Creating…"
      actionTestid="new-user-create"
      note="A one-time password is created and shown once."
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
    </SheetForm>
  );
}
