/** Everybody with an account, for admins. */
import { PlainInput } from "../../ui/PlainInput.tsx";
import { Field, Switch } from "../settings/fields.tsx";
import { SheetForm } from "../../ui/SheetForm.tsx";
import { useForm } from "../../ui/useForm.ts";
import type { UserResponse } from "../../api/types.ts";
import { create, userItems, busy, followUsers, shownOnce, trouble, users } from "./state.ts";
import { validateUserName, knowsOsUsers, listMarks, sharedText } from "./texts.ts";
import { useEffect } from "preact/hooks";
import { me } from "../../store/me.ts";
import { formatAgo, formatDate } from "../../lib/ago.ts";
import { plural } from "../../lib/format.ts";
import { Segments } from "../../ui/Segments.tsx";
import { IconButton } from "../../ui/IconButton.tsx";
import { ListPage } from "../../ui/ListPage.tsx";
import { menuUnder } from "../../ui/menu.ts";
import { Problem } from "../../ui/Problem.tsx";
import { Secret } from "../../ui/Secret.tsx";
import { useNow } from "../../ui/useNow.ts";

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
      <Segments label="Role" choices={ROLES} value={role} testid="new-user" onChange={onChange} />
    </div>
  );
}

interface NewUserProps {
  osUsers: boolean;
  onClose: () => void;
}

export function NewUser({ osUsers, onClose }: NewUserProps) {
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
        <PlainInput
          value={draft.username}
          onText={(text) => set({ username: text.trim().toLowerCase() })}
          testid="new-user-name"
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
          <PlainInput value={draft.osUser ?? ""} onText={setOsUser} testid="new-user-os" />
        </Field>
      )}
    </SheetForm>
  );
}

function Row({ user, osUsers, now }: { user: UserResponse; osUsers: boolean; now: number }) {
  const name = user.username;
  const open = (event: MouseEvent) =>
    menuUnder(`Actions for ${name}`, userItems(user, osUsers), event.currentTarget as Element);
  return (
    <li class="record" data-off={!user.enabled} aria-busy={busy.value === name} data-testid={`user-${name}`}>
      <span class="record-mark" data-tone={user.role === "admin" ? "accent" : "plain"} aria-hidden="true">
        {name.slice(0, 1).toUpperCase()}
      </span>
      <div class="record-main">
        <span class="record-title">
          <strong>{name}</strong>
          <span class="tag" data-tone={user.role === "admin" ? "accent" : "plain"}>
            {user.role}
          </span>
          {me.value?.username === name && <span class="tag">you</span>}
          {listMarks(user).map((mark) => (
            <span class="tag" data-tone="warn" key={mark}>
              {mark}
            </span>
          ))}
        </span>
        <small title={formatDate(user.createdAt)}>created {formatAgo(user.createdAt, now)}</small>
      </div>
      <IconButton icon="more" label={`Actions for ${name}`} testid={`user-actions-${name}`} onClick={open} />
      <Problem text={trouble.value?.name === name ? trouble.value.text : ""} testid="user-problem" />
    </li>
  );
}

function OneTime() {
  const shown = shownOnce.value;
  if (!shown) return null;
  return (
    <Secret
      title={`One-time password of ${shown.name}`}
      secret={shown.password}
      hint="Copy it now; it won't be shown again. The user must change it at the first sign-in."
      onDone={() => (shownOnce.value = undefined)}
    />
  );
}

function Shared({ adding }: { adding: boolean }) {
  const text = sharedText(users.data.value ?? [], adding);
  return text === undefined ? null : (
    <p class="dim" data-testid="users-shared">
      {text}
    </p>
  );
}

export function UsersPage() {
  const now = useNow();
  useEffect(followUsers, []);
  const list = users.data.value;
  const osUsers = knowsOsUsers(list ?? []);
  const form = (close: () => void) => <NewUser osUsers={osUsers} onClose={close} />;
  return (
    <ListPage
      testid="users"
      summary={list ? plural(list.length, "user") : "Loading…"}
      counted
      add={{ label: "New user", testid: "new-user", form }}
      lead={(adding) => <Shared adding={adding} />}
      problem={users.trouble.value}
      items={list}
      row={(user) => <Row key={user.username} user={user} osUsers={osUsers} now={now} />}
    >
      {() => <OneTime />}
    </ListPage>
  );
}
