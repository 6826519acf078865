/** What a check told: above all the key that a host shows, and whether to trust it. */
import { useState } from "preact/hooks";
import type { HostCheckResponse } from "../../api/types.ts";
import { copyText } from "../../ui/clipboard.ts";
import { Icon } from "../../ui/Icon.tsx";
import { IconButton } from "../../ui/IconButton.tsx";
import { getFingerprintEnding, formatCheckFigures, TYPED } from "./texts.ts";

const COMMAND = "ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub";

interface Props {
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

function UnknownKey({ label, fingerprint, busy, onTrust }: Omit<Props, "found"> & { fingerprint: string }) {
  return (
    <div class="host-trust" data-tone="warn" data-testid="key-unknown">
      <p>
        <strong>The key of {label} is not trusted yet.</strong> Nothing is sent to the host until you trust
        it.
      </p>
      <Key name="Its key is" fingerprint={fingerprint} />
      <CompareHint />
      <button
        type="button"
        class="button primary"
        disabled={busy}
        onClick={() => onTrust(fingerprint)}
        data-testid="key-trust"
      >
        It matches: trust it
      </button>
    </div>
  );
}

interface ChangedProps extends Omit<Props, "found"> {
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
        Trust new key
      </button>
    </div>
  );
}

export function HostCheckResult(props: Props) {
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
