/** The code to scan, and how long it lasts. */
import { useEffect, useState } from "preact/hooks";
import { serverNow } from "../../api/stream/servertime.ts";
import { Address } from "./Address.tsx";
import type { Qr } from "../../api/types.ts";
import { countdown, imageOf } from "./countdown.ts";
import { readCode, renew, working } from "./state.ts";
import { StopButton } from "./StopButton.tsx";

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
    <button
      type="button"
      class="button small"
      disabled={working.value !== ""}
      onClick={() => void renew()}
      data-testid="qr-renew"
    >
      New code
    </button>
  );
}

interface Props {
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

function Closed({ shown, address, expiresAt }: Props & { expiresAt: number }) {
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

export function Code({ shown, address }: Props) {
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
