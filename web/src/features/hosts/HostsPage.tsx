/** Other machines that sessions run on, by ssh. */
import { PlainInput } from "../../ui/PlainInput.tsx";
import { Button } from "../../ui/Button.tsx";
import { useState } from "preact/hooks";
import type { HostCheckResponse, RemoteHost, Session } from "../../api/types.ts";
import { copyText } from "../../ui/clipboard.ts";
import { Icon } from "../../ui/Icon.tsx";
import { IconButton } from "../../ui/IconButton.tsx";
import {
  getFingerprintEnding,
  formatCheckFigures,
  TYPED,
  canWake,
  type State,
  describeWakeMethod,
  describeWakeResult,
  formatAddress,
  getHostState,
} from "./texts.ts";
import { api } from "../../api/client.ts";
import { formatError } from "../../api/errors.ts";
import { type Hosts, useHosts } from "./useHosts.ts";
import { select } from "../../ui/pages/select.ts";
import { StatusDot } from "../sessions/StatusDot.tsx";
import { openPage } from "../../ui/pages/registry.ts";
import { sessions } from "../../store/state.ts";
import { askQuestion } from "../../ui/ask.ts";
import { RemoteTmuxSessions } from "./RemoteTmuxSessions.tsx";
import { HostForm } from "./HostForm.tsx";
import { isUnreachable } from "./state.ts";
import { ListPage } from "../../ui/ListPage.tsx";
import "./hosts.css";

const COMMAND = "ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub";

interface HostKeyCheckProps {
  label: string;
  found: HostCheckResponse;
  busy: boolean;
  onTrust: (fingerprint: string) => void;
}

function Key({ name, fingerprint }: { name: string; fingerprint: string }) {
  return (
    <p class="host-key">
      <span>{name}</span>
      <code>{fingerprint}</code>
      <IconButton
        icon="copy"
        label={`Copy fingerprint (${name.toLowerCase()})`}
        onClick={() => void copyText(fingerprint)}
      />
    </p>
  );
}

function CompareHint() {
  return (
    <p>
      Compare it with the key that the host's own console shows: <code>{COMMAND}</code>
    </p>
  );
}

function UnknownKey({
  label,
  fingerprint,
  busy,
  onTrust,
}: Omit<HostKeyCheckProps, "found"> & { fingerprint: string }) {
  return (
    <div class="host-trust" data-tone="warn" data-testid="key-unknown">
      <p>
        <strong>The key of {label} is not trusted yet.</strong> Nothing is sent to the host until you trust
        it.
      </p>
      <Key name="Its key is" fingerprint={fingerprint} />
      <CompareHint />
      <Button primary disabled={busy} onClick={() => onTrust(fingerprint)} testid="key-trust">
        It matches: trust it
      </Button>
    </div>
  );
}

interface ChangedProps extends Omit<HostKeyCheckProps, "found"> {
  fingerprint: string;
  known: string;
}

/** Somebody between may show a key of his own: trusting it takes more than one press. */
function ChangedKey({ label, fingerprint, known, busy, onTrust }: ChangedProps) {
  const [typed, setTyped] = useState("");
  const same = typed.trim() === getFingerprintEnding(fingerprint);
  return (
    <div class="host-trust" data-tone="bad" data-testid="key-changed">
      <p>
        <strong>The key of {label} has changed.</strong> The host was reinstalled, or somebody intercepts the
        connection. Nothing is sent to it.
      </p>
      <Key name="Trusted" fingerprint={known} />
      <Key name="Its key is" fingerprint={fingerprint} />
      <CompareHint />
      <label class="labelled">
        <span>
          To trust the new key, type its last {TYPED} characters <small>as shown on the host's console</small>
        </span>
        <PlainInput class="field code" value={typed} onText={setTyped} testid="key-typed" />
      </label>
      <Button danger disabled={busy || !same} onClick={() => onTrust(fingerprint)} testid="key-trust">
        Trust new key
      </Button>
    </div>
  );
}

function HostCheckResult(props: HostKeyCheckProps) {
  const { found } = props;
  const { hostKey, fingerprint, knownFingerprint = "" } = found;
  if (hostKey === "unknown" && fingerprint) return <UnknownKey {...props} fingerprint={fingerprint} />;
  if (hostKey === "changed" && fingerprint)
    return <ChangedKey {...props} fingerprint={fingerprint} known={knownFingerprint} />;
  const figures = formatCheckFigures(found);
  return (
    <p class="host-found" data-ok={found.ok} role="status" data-testid="host-found">
      <Icon name={found.ok ? "check" : "alert"} size={15} />
      <span>{found.error ?? `Ready to use${figures === "" ? "" : `: ${figures}`}.`}</span>
    </p>
  );
}

interface WakeProps {
  host: RemoteHost;
  page: Hosts;
  state: State;
}

function Wake({ host, page, state }: WakeProps) {
  const [told, setTold] = useState("");
  const [busy, setBusy] = useState(false);
  if (describeWakeMethod(host) === undefined) return null;
  const act = async () => {
    setBusy(true);
    setTold("");
    try {
      const answer = await api.post("/api/remote-hosts/{id}/wake", { path: { id: host.id } });
      setTold(describeWakeResult(answer));
      if (answer.reachable) await page.check(host.id);
    } catch (error) {
      setTold(formatError(error));
    }
    setBusy(false);
  };
  return (
    <>
      {(busy || canWake(host, state)) && (
        <Button
          small
          label={`Wake ${host.label}`}
          disabled={busy || page.busy}
          onClick={() => void act()}
          testid="host-wake"
        >
          {busy ? "Waking…" : "Wake"}
        </Button>
      )}
      <span class="dim" role="status" data-testid="host-woken">
        {told}
      </span>
    </>
  );
}

interface HostRowProps {
  host: RemoteHost;
  page: Hosts;
}

async function remove({ host, page }: HostRowProps): Promise<void> {
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

function Actions(props: HostRowProps & { state: State; onEdit: () => void }) {
  const { host, page, state, onEdit } = props;
  const looking = page.looking.has(host.id);
  const action = (name: string, shown: string, off: boolean, testid: string, act: () => void) => (
    <Button small label={`${name} ${host.label}`} disabled={off} onClick={act} testid={testid}>
      {shown}
    </Button>
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

function HostRow({ host, page }: HostRowProps) {
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

export function HostsPage() {
  const page = useHosts();
  const form = (close: () => void) => {
    const kept = (id: string) => {
      close();
      void page.attempt().then(() => page.check(id));
    };
    return <HostForm onClose={close} onKept={kept} />;
  };
  return (
    <ListPage
      testid="hosts"
      class="host-page"
      summary="Machines that can run sessions. Nothing is installed on them."
      add={{ label: "New host", testid: "host-new", form }}
      problem={page.problem}
      busy={page.busy}
      items={page.all}
      empty="No remote hosts yet. Add a machine that the server reaches over SSH with a key that needs no passphrase."
      row={(host) => <HostRow key={host.id} host={host} page={page} />}
    />
  );
}
