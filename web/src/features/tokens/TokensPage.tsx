/** Keys of one's own for programs. */
import { Select } from "../../ui/Select.tsx";
import { Button } from "../../ui/Button.tsx";
import { isAdmin } from "../../store/me.ts";
import { Field, Switch } from "../settings/fields.tsx";
import { sessions, sessionList } from "../../store/state.ts";
import { SheetForm } from "../../ui/SheetForm.tsx";
import { useForm } from "../../ui/useForm.ts";
import { bodyOf, type Draft, EMPTY, LIFETIMES, validateDraft, toggled } from "./draft.ts";
import {
  offered,
  labelOf,
  endsSoon,
  buildExample,
  describeExpiry,
  describeSessions,
  describeLastUse,
} from "./texts.ts";
import { create, openTokens, revoke, shownOnce, tokens } from "./state.ts";
import { useEffect } from "preact/hooks";
import { formatDate } from "../../lib/ago.ts";
import { Icon } from "../../ui/Icon.tsx";
import { ListPage } from "../../ui/ListPage.tsx";
import { Secret } from "../../ui/Secret.tsx";
import { useNow } from "../../ui/useNow.ts";
import type { TokenResponse } from "../../api/types.ts";

interface PartProps {
  draft: Draft;
  set: (part: Partial<Draft>) => void;
}

function Scopes({ draft, set }: PartProps) {
  return (
    <fieldset class="checks">
      <legend>Permissions</legend>
      {offered(isAdmin.value, draft.limited).map(({ id, label, hint }) => (
        <label key={id}>
          <input
            type="checkbox"
            checked={draft.scopes.includes(id)}
            onChange={(event) => set({ scopes: toggled(draft.scopes, id, event.currentTarget.checked) })}
            data-testid={`scope-${id}`}
          />
          <span>
            {label}
            <small>{hint}</small>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

function Sessions({ draft, set }: PartProps) {
  const list = sessions.value;
  return (
    <>
      <Switch
        label="Only some sessions"
        hint="no access to sessions created later"
        value={draft.limited}
        onChange={(limited) => set({ limited })}
      />
      {draft.limited && (
        <fieldset class="checks">
          <legend>Sessions</legend>
          {list.length === 0 && <small>No sessions yet.</small>}
          {list.map(({ id, name }) => (
            <label key={id}>
              <input
                type="checkbox"
                checked={draft.sessions.includes(id)}
                onChange={(event) =>
                  set({ sessions: toggled(draft.sessions, id, event.currentTarget.checked) })
                }
                data-testid={`token-session-${name}`}
              />
              <span>{name}</span>
            </label>
          ))}
        </fieldset>
      )}
    </>
  );
}

function Expiry({ draft, set }: PartProps) {
  return (
    <div class="setting">
      <label for="token-lifetime">Expires</label>
      <span class="setting-buttons">
        <Select
          id="token-lifetime"
          value={draft.lifetime}
          testid="token-lifetime"
          choices={LIFETIMES}
          onChoose={(chosen) => set({ lifetime: chosen })}
        />
        {draft.lifetime === "date" && (
          <input
            class="field"
            type="date"
            aria-label="Last day"
            value={draft.date}
            onInput={(event) => set({ date: event.currentTarget.value })}
            data-testid="token-date"
          />
        )}
      </span>
    </div>
  );
}

export function NewToken({ onClose }: { onClose: () => void }) {
  const send = async (draft: Draft) => {
    await create(bodyOf(draft, isAdmin.value, Date.now()));
    onClose();
  };
  const validate = (draft: Draft) => validateDraft(draft, isAdmin.value, Date.now());
  const { draft, set, submit, problem, busy } = useForm(EMPTY, send, { validate });
  return (
    <SheetForm
      label="New token"
      testid="new-token"
      onSubmit={submit}
      onClose={onClose}
      problem={problem}
      busy={busy}
      action="Create"
      pending="Creating…"
      actionTestid="new-token-create"
      note="Can't exceed your own permissions."
    >
      <Field label="Name" hint="what it is for">
        <input
          class="field"
          value={draft.name}
          maxLength={100}
          onInput={(event) => set({ name: event.currentTarget.value })}
          autocomplete="off"
          data-testid="new-token-name"
        />
      </Field>
      <Scopes draft={draft} set={set} />
      <Sessions draft={draft} set={set} />
      <Expiry draft={draft} set={set} />
    </SheetForm>
  );
}

const nameOf = (id: string): string | undefined => sessionList.value.byId.get(id)?.name;

function Row({ token, now }: { token: TokenResponse; now: number }) {
  return (
    <li class="record" data-testid="token">
      <span class="record-mark" aria-hidden="true">
        <Icon name="key" size={16} />
      </span>
      <div class="record-main">
        <span class="record-title">
          <strong>{token.name}</strong>
          <span
            class="tag"
            data-tone={endsSoon(token, now) ? "warn" : "plain"}
            title={token.expiresAt === null ? undefined : formatDate(token.expiresAt)}
          >
            {describeExpiry(token, now)}
          </span>
        </span>
        <span class="tags">
          {token.scopes.map((id) => (
            <span class="tag" data-tone={id === "admin" ? "warn" : "accent"} key={id} title={id}>
              {labelOf(id)}
            </span>
          ))}
        </span>
        <small>
          {describeLastUse(token, now)} · {describeSessions(token, nameOf)}
        </small>
      </div>
      <Button small label={`Revoke ${token.name}`} onClick={() => void revoke(token)} testid="token-revoke">
        Revoke
      </Button>
    </li>
  );
}

function JustMade() {
  const made = shownOnce.value;
  if (!made) return null;
  return (
    <>
      <Secret
        title={`Token “${made.name}”`}
        secret={made.token}
        hint="Copy it now; it won't be shown again. Send it as “Authorization: Bearer …”, never in a URL."
        onDone={() => (shownOnce.value = undefined)}
      />
      <pre class="example" aria-label="Example">
        {buildExample(document.baseURI)}
      </pre>
    </>
  );
}

export function TokensPage() {
  const now = useNow();
  useEffect(openTokens, []);
  return (
    <ListPage
      testid="tokens"
      summary="For scripts, with limited permissions."
      add={{ label: "New token", testid: "new-token", form: (close) => <NewToken onClose={close} /> }}
      problem={tokens.trouble.value}
      items={tokens.data.value}
      empty="No tokens yet. A script uses a token instead of a password and can do only what you allow."
      row={(token) => <Row key={token.id} token={token} now={now} />}
    >
      {() => <JustMade />}
    </ListPage>
  );
}
