/** Everybody with an account, for admins. */
import { useEffect, useState } from "preact/hooks";
import { me } from "../../store/me.ts";
import { formatAgo, formatDate } from "../../lib/ago.ts";
import { plural } from "../../lib/format.ts";
import { Icon } from "../../ui/Icon.tsx";
import { IconButton } from "../../ui/IconButton.tsx";
import { menuUnder } from "../../ui/menu.ts";
import { Problem } from "../../ui/Problem.tsx";
import { Secret } from "../../ui/Secret.tsx";
import { useReturnFocus } from "../../ui/useReturnFocus.ts";
import { useNow } from "../../ui/useNow.ts";
import type { UserResponse } from "./calls.ts";
import { userItems } from "./menu.ts";
import { NewUser } from "./NewUser.tsx";
import { busy, followUsers, shownOnce, trouble, users } from "./state.ts";
import { knowsOsUsers, listMarks, sharedText } from "./texts.ts";
import "../../ui/styles/records.css";

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

export function UsersPage() {
  const [creating, setCreating] = useState(false);
  const opener = useReturnFocus(creating);
  const now = useNow();
  useEffect(followUsers, []);
  const list = users.value;
  const osUsers = knowsOsUsers(list ?? []);
  const shared = sharedText(list ?? [], creating);
  return (
    <div class="records-page" data-testid="users">
      <div class="records-bar">
        <span class="dim" role="status">
          {list ? plural(list.length, "user") : "Loading…"}
        </span>
        {!creating && (
          <button
            ref={opener}
            type="button"
            class="button primary"
            onClick={() => setCreating(true)}
            data-testid="new-user"
          >
            <Icon name="plus" size={16} /> New user
          </button>
        )}
      </div>
      {shared && (
        <p class="dim" data-testid="users-shared">
          {shared}
        </p>
      )}
      {creating && <NewUser osUsers={osUsers} onClose={() => setCreating(false)} />}
      <OneTime />
      <Problem text={trouble.value?.name === "" ? trouble.value.text : ""} />
      <ul class="records">
        {list?.map((user) => (
          <Row key={user.username} user={user} osUsers={osUsers} now={now} />
        ))}
      </ul>
    </div>
  );
}
