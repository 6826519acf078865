/** The code that signs another device in, and the tunnel that it leads through. */
import { useEffect, useState } from "preact/hooks";
import { serverNow } from "../stream/servertime.ts";
import { copyText } from "../ui/clipboard.ts";
import { IconButton } from "../ui/IconButton.tsx";
import { Problem } from "../ui/Problem.tsx";
import { say } from "../ui/toasts.ts";
import type { QrCode, TunnelStatus } from "./calls.ts";
import { countdown, imageOf } from "./countdown.ts";
import { code, followCode, readCode, renew, start, stop, trouble, working } from "./state.ts";

const TICK_MS = 250;

/** The present, a few times a second, and a new code when this one is over. */
function useCountdown(expiresAt: number) {
  const [now, setNow] = useState(serverNow);
  const left = countdown(expiresAt, now);
  const over = left.seconds === 0;
  useEffect(() => {
    const timer = setInterval(() => setNow(serverNow()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  useEffect(() => {
    if (over) void readCode();
  }, [over]);
  return left;
}

async function copy(url: string): Promise<void> {
  if (await copyText(url)) say("good", "Copied");
  else say("bad", "Not copied", "This browser does not let the page copy: select the text.");
}

function Address({ label, url, testid }: { label: string; url: string; testid: string }) {
  return (
    <div class="qr-address">
      <small>{label}</small>
      <span>
        <code data-testid={testid}>{url}</code>
        <IconButton icon="copy" label={`Copy the ${label.toLowerCase()}`} onClick={() => void copy(url)} />
      </span>
    </div>
  );
}

function Code({ shown, address }: { shown: QrCode; address: string }) {
  const left = useCountdown(shown.expiresAt);
  return (
    <div class="qr">
      <img
        class="qr-image"
        src={imageOf(shown.svg)}
        alt="QR code that signs a device in"
        data-testid="qr-image"
      />
      <div class="qr-side">
        <p>Scan it with the camera of a phone. It opens this service there, signed in, without a password.</p>
        <div class="qr-time" data-low={left.seconds <= 10}>
          <span class="qr-bar" aria-hidden="true">
            <i style={{ width: `${left.share * 100}%` }} />
          </span>
          <span role="timer" data-testid="qr-countdown">
            new code in {left.seconds} s
          </span>
        </div>
        <Address label="Address" url={address} testid="tunnel-url" />
        <Address label="Link of this code" url={shown.url} testid="qr-url" />
        <div class="setting-buttons">
          <button
            type="button"
            class="button small"
            disabled={working.value !== ""}
            onClick={() => void renew()}
            data-testid="qr-renew"
          >
            New code now
          </button>
          <button
            type="button"
            class="button small"
            disabled={working.value !== ""}
            onClick={() => void stop()}
            data-testid="tunnel-stop"
          >
            {working.value === "stop" ? "Stopping…" : "Stop the tunnel"}
          </button>
        </div>
        <small>Each code works once. Whoever sees it can use it.</small>
      </div>
    </div>
  );
}

function Off() {
  const starting = working.value === "start";
  return (
    <div class="qr-off">
      <div>
        <strong>Sign a phone in by a QR code</strong>
        <p class="dim">
          A tunnel gives this service an address on the internet for as long as it runs. Passwords and codes
          keep others out.
        </p>
      </div>
      <button
        type="button"
        class="button primary"
        disabled={starting}
        onClick={() => void start()}
        data-testid="tunnel-start"
      >
        {starting ? "Starting…" : "Start a tunnel"}
      </button>
    </div>
  );
}

/** Without a password there is nothing that a code could sign in to. */
function Open({ address }: { address: string }) {
  return (
    <div class="qr-off">
      <p data-testid="no-password">
        This service asks for no password: whoever knows the address is in, and a code would add nothing. Set{" "}
        <code>SERVICE_PASSWORD</code> and restart it.
      </p>
      <Address label="Address" url={address} testid="tunnel-url" />
    </div>
  );
}

function Inside({ status }: { status: TunnelStatus }) {
  const shown = code.value;
  if (!status.running) return <Off />;
  if (!shown) return <p class="dim">Waiting for the tunnel…</p>;
  const address = status.url ?? new URL(shown.url).origin;
  return shown.authEnabled ? <Code shown={shown} address={address} /> : <Open address={address} />;
}

export function QrPanel({ status }: { status: TunnelStatus }) {
  useEffect(followCode, [status.running]);
  return (
    <section
      class="qr-panel"
      aria-label="Sign in by QR code"
      data-testid="qr-panel"
      data-running={status.running}
    >
      <Inside status={status} />
      <Problem text={trouble.value} testid="tunnel-problem" />
    </section>
  );
}
