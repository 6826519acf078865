/** One SSH host: where it is, how it stands, and what can be done about it. */
import { useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import type { RemoteHost, Session } from "../../api/types.ts";
import { select } from "../../ui/pages/select.ts";
import { StatusDot } from "../sessions/StatusDot.tsx";
import { openPage } from "../../ui/pages/registry.ts";
import { sessions } from "../../store/state.ts";
import { askQuestion } from "../../ui/ask.ts";
import { Icon } from "../../ui/Icon.tsx";
import { RemoteTmuxSessions } from "./RemoteTmuxSessions.tsx";
import { HostForm } from "./HostForm.tsx";
import { HostCheckResult } from "./HostKeyCheck.tsx";
import { isUnreachable } from "./state.ts";
import type { Hosts } from "./useHosts.ts";
import { Wake } from "./Wake.tsx";
import { formatAddress, type State, getHostState, describeWakeMethod } from "./texts.ts";

interface Props {
  host: RemoteHost;
  page: Hosts;
}

async function remove({ host, page }: Props): Promise<void> {
  const agreed = await askQuestion({
    title: `Remove ${host.label}?`,
    text: "This removes the host from the list. Nothing changes on the host. Its trusted key stays trusted.",
    action: "Remove",
    danger: true,
  });
  if (agreed !== undefined)
    await page.attempt(() => api.delete("/api/remote-hosts/{id}", { path: { id: host.id } }));
}

function show(id: string): void {
  select(id);
  openPage.value = undefined;
}

function Here({ found, label }: { found: readonly Session[]; label: string }) {
  if (found.length === 0) return null;
  return (
    <ul class="host-sessions" aria-label={`Sessions on ${label}`}>
      {found.map((session) => (
        <li key={session.id}>
          <button type="button" class="chip" onClick={() => show(session.id)} data-testid="host-session">
            <StatusDot session={session} /> <bdi>{session.name}</bdi>
          </button>
        </li>
      ))}
    </ul>
  );
}

function Actions(props: Props & { state: State; onEdit: () => void }) {
  const { host, page, state, onEdit } = props;
  const looking = page.looking.has(host.id);
  const action = (name: string, shown: string, off: boolean, testid: string, act: () => void) => (
    <button
      type="button"
      class="button small"
      aria-label={`${name} ${host.label}`}
      disabled={off}
      onClick={act}
      data-testid={testid}
    >
      {shown}
    </button>
  );
  return (
    <div class="host-actions">
      {action(
        "Check",
        looking ? "Checking…" : "Check",
        looking,
        "host-check",
        () => void page.check(host.id),
      )}
      {action("Edit", "Edit", page.busy, "host-edit", onEdit)}
      {action("Remove", "Remove", page.busy, "host-remove", () => void remove(props))}
      <Wake host={host} page={page} state={state} />
    </div>
  );
}

/** Away as soon as one session there says so: they share the way. */
const awayIn = (found: readonly Session[]): boolean | undefined =>
  found.length === 0 ? undefined : found.some(({ id }) => isUnreachable(id));

export function HostRow({ host, page }: Props) {
  const [editing, setEditing] = useState(false);
  const told = page.found[host.id];
  const here = sessions.value.filter(({ remote }) => remote?.hostId === host.id);
  const state = getHostState(told, awayIn(here));
  if (editing)
    return (
      <li>
        <HostForm
          host={host}
          onClose={() => setEditing(false)}
          onKept={(id) => {
            setEditing(false);
            void page.attempt().then(() => page.check(id));
          }}
        />
      </li>
    );
  const way = describeWakeMethod(host);
  return (
    <li class="record host-row" data-testid="host" data-host={host.label}>
      <span class="record-mark" data-tone={state.tone === "accent" ? "accent" : undefined} aria-hidden="true">
        <Icon name="server" size={16} />
      </span>
      <div class="record-main">
        <span class="record-title">
          <strong>{host.label}</strong>
          <span class="tag" data-tone={state.tone} data-testid="host-state">
            {state.word}
          </span>
        </span>
        <small class="host-address">
          {formatAddress(host)}
          {host.jumpHost && ` via ${host.jumpHost}`}
          {way !== undefined && ` · ${way}`}
        </small>
        <Here found={here} label={host.label} />
        <Actions host={host} page={page} state={state} onEdit={() => setEditing(true)} />
        {told && (
          <HostCheckResult
            key={told.fingerprint}
            label={host.label}
            found={told}
            busy={page.looking.has(host.id)}
            onTrust={(fingerprint) => void page.trust(host.id, fingerprint)}
          />
        )}
        {(told?.ok === true || here.length > 0) && <RemoteTmuxSessions host={host} />}
      </div>
    </li>
  );
}
