/** What a check told: above all the key that a host shows, and whether to trust it. */
import { useState } from "preact/hooks";
import type { HostCheckResponse } from "../api/types.ts";
import { copyText } from "../ui/clipboard.ts";
import { Icon } from "../ui/Icon.tsx";
import { IconButton } from "../ui/IconButton.tsx";
import { ending, figuresOf, TYPED } from "./words.ts";

const COMMAND = "ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub";

interface Props {
  label: string;
  found: HostCheckResponse;
  busy: boolean;
  onTrust: (fingerprint: string) => void;
}

function Key({ name, fingerprint }: { name: string; fingerprint: string }) {
  return (
    <p class="far-key">
      <span>{name}</span>
      <code>{fingerprint}</code>
      <IconButton icon="copy" label={`Copy: ${name}`} onClick={() => void copyText(fingerprint)} />
    </p>
  );
}

function Compare() {
  return (
    <p>
      Compare it with what the host itself says, at its own console: <code>{COMMAND}</code>
    </p>
  );
}

function Unknown({ label, fingerprint, busy, onTrust }: Omit<Props, "found"> & { fingerprint: string }) {
  return (
    <div class="far-trust" data-tone="warn" data-testid="key-unknown">
      <p>
        <strong>Nobody has trusted the key of {label} yet.</strong> Nothing is sent there before.
      </p>
      <Key name="It shows" fingerprint={fingerprint} />
      <Compare />
      <button
        type="button"
        class="button primary"
        disabled={busy}
        onClick={() => onTrust(fingerprint)}
        data-testid="key-trust"
      >
        It is the same: trust it
      </button>
    </div>
  );
}

interface ChangedProps extends Omit<Props, "found"> {
  fingerprint: string;
  known: string;
}

/** Somebody between may show a key of his own: trusting it takes more than one press. */
function Changed({ label, fingerprint, known, busy, onTrust }: ChangedProps) {
  const [typed, setTyped] = useState("");
  const same = typed.trim() === ending(fingerprint);
  return (
    <div class="far-trust" data-tone="bad" data-testid="key-changed">
      <p>
        <strong>{label} shows another key than the trusted one.</strong> It was set up anew, or somebody
        stands between. Nothing is sent there.
      </p>
      <Key name="Trusted" fingerprint={known} />
      <Key name="It shows" fingerprint={fingerprint} />
      <Compare />
      <label class="labelled">
        <span>
          To trust the new one, type its last {TYPED} characters{" "}
          <small>as the host’s console shows them</small>
        </span>
        <input
          class="field code"
          value={typed}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          onInput={(event) => setTyped(event.currentTarget.value)}
          data-testid="key-typed"
        />
      </label>
      <button
        type="button"
        class="button danger"
        disabled={busy || !same}
        onClick={() => onTrust(fingerprint)}
        data-testid="key-trust"
      >
        Trust the new key
      </button>
    </div>
  );
}

export function Checked(props: Props) {
  const { found } = props;
  const { hostKey, fingerprint, knownFingerprint = "" } = found;
  if (hostKey === "unknown" && fingerprint) return <Unknown {...props} fingerprint={fingerprint} />;
  if (hostKey === "changed" && fingerprint)
    return <Changed {...props} fingerprint={fingerprint} known={knownFingerprint} />;
  const figures = figuresOf(found);
  return (
    <p class="far-found" data-ok={found.ok} role="status" data-testid="host-found">
      <Icon name={found.ok ? "check" : "alert"} size={15} />
      <span>{found.error ?? `It can be used${figures === "" ? "" : `: ${figures}`}.`}</span>
    </p>
  );
}
