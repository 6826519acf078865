/** The tunnel, and the code that signs another device in through it. */
import "../auth/access.css";
import { Button } from "../../ui/Button.tsx";
import { useEffect, useState } from "preact/hooks";
import { serverNow } from "../../api/stream/servertime.ts";
import type { Qr, TunnelStatusAnswer } from "../../api/types.ts";
import {
  countdown,
  imageOf,
  readCode,
  renew,
  working,
  stop,
  code,
  followCode,
  start,
  trouble,
} from "./state.ts";
import { copyText } from "../../ui/clipboard.ts";
import { IconButton } from "../../ui/IconButton.tsx";
import { showToast } from "../../store/toasts.ts";
import { Problem } from "../../ui/Problem.tsx";

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

function Countdown({ expiresAt }: { expiresAt: number }) {
  const left = useCountdown(expiresAt);
  return (
    <div class="qr-time" data-low={left.seconds <= 10}>
      <span class="qr-bar" aria-hidden="true">
        <i style={{ width: `${left.share * 100}%` }} />
      </span>
      <span role="timer" data-testid="qr-countdown">
        New code in {left.seconds} s
      </span>
    </div>
  );
}

function RenewButton() {
  return (
    <Button small disabled={working.value !== ""} onClick={() => void renew()} testid="qr-renew">
      New code
    </Button>
  );
}

interface CodeProps {
  shown: Qr;
  address: string;
}

/** Without a password there is nothing that a code could sign in to: the picture is the address. */
function Open({ address }: { address: string }) {
  return (
    <>
      <p data-testid="no-password">
        No password is set, so anyone who knows the address has access. Set <code>SERVICE_PASSWORD</code> and
        restart the server to use QR codes that sign in one device.
      </p>
      <Address label="Address" url={address} testid="tunnel-url" />
      <div class="setting-buttons">
        <StopButton />
      </div>
    </>
  );
}

function Closed({ shown, address, expiresAt }: CodeProps & { expiresAt: number }) {
  return (
    <>
      <p>Scan with your phone to sign in there.</p>
      <Countdown expiresAt={expiresAt} />
      <Address label="Address" url={address} testid="tunnel-url" />
      <Address label="Sign-in link" url={shown.url} testid="qr-url" />
      <div class="setting-buttons">
        <RenewButton />
        <StopButton />
      </div>
      <small>Each code works once. Anyone who sees the code can use it.</small>
    </>
  );
}

export function Code({ shown, address }: CodeProps) {
  const { authEnabled, expiresAt, svg } = shown;
  const alt = authEnabled ? "QR code that signs in a device" : "QR code with the address";
  return (
    <div class="qr">
      <img class="qr-image" src={imageOf(svg)} alt={alt} data-testid="qr-image" />
      <div class="qr-side">
        {authEnabled && expiresAt !== null ? (
          <Closed shown={shown} address={address} expiresAt={expiresAt} />
        ) : (
          <Open address={address} />
        )}
      </div>
    </div>
  );
}

async function copy(url: string): Promise<void> {
  if (await copyText(url)) showToast("good", "Copied");
  else
    showToast(
      "bad",
      "Couldn't copy",
      "Your browser blocked access to the clipboard. Select the text instead.",
    );
}

interface Props {
  label: string;
  url: string;
  testid: string;
}

/** An address to read, select and copy. */
export function Address({ label, url, testid }: Props) {
  return (
    <div class="qr-address">
      <small>{label}</small>
      <span>
        <code data-testid={testid} title={url}>
          {url}
        </code>
        <IconButton
          icon="copy"
          label={`Copy ${label.toLowerCase()}`}
          testid={`${testid}-copy`}
          onClick={() => void copy(url)}
        />
      </span>
    </div>
  );
}

export function StopButton() {
  return (
    <Button small disabled={working.value !== ""} onClick={() => void stop()} testid="tunnel-stop">
      {working.value === "stop" ? "Stopping…" : "Stop tunnel"}
    </Button>
  );
}

function Off() {
  const starting = working.value === "start";
  return (
    <div class="qr-off">
      <div>
        <strong>Sign in on your phone with a QR code</strong>
        <p class="dim">
          A tunnel gives this server a public internet address while it runs. Others need a password or a code
          to get in.
        </p>
      </div>
      <Button primary disabled={starting} onClick={() => void start()} testid="tunnel-start">
        {starting ? "Starting…" : "Start tunnel"}
      </Button>
    </div>
  );
}

function Waiting() {
  return (
    <div class="qr-off">
      <p class="dim" role="status">
        Waiting for the tunnel's address…
      </p>
      <StopButton />
    </div>
  );
}

function Inside({ status }: { status: TunnelStatusAnswer }) {
  const shown = code.value;
  if (!status.running) return <Off />;
  if (!shown) return <Waiting />;
  return <Code shown={shown} address={status.url ?? new URL(shown.url).origin} />;
}

export function QrPanel({ status }: { status: TunnelStatusAnswer }) {
  useEffect(() => followCode(status.running), [status.running]);
  return (
    <section
      class="qr-panel"
      aria-label="Sign in with a QR code"
      data-testid="qr-panel"
      data-running={status.running}
    >
      <Inside status={status} />
      <Problem text={trouble.value} testid="tunnel-problem" />
    </section>
  );
}
