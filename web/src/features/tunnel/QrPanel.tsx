/** The tunnel, and the code that signs another device in through it. */
import { useEffect } from "preact/hooks";
import { Problem } from "../../ui/Problem.tsx";
import type { TunnelStatusAnswer } from "../../api/types.ts";
import { Code } from "./Code.tsx";
import { code, followCode, start, trouble, working } from "./state.ts";
import { StopButton } from "./StopButton.tsx";

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
      <button
        type="button"
        class="button primary"
        disabled={starting}
        onClick={() => void start()}
        data-testid="tunnel-start"
      >
        {starting ? "Starting…" : "Start tunnel"}
      </button>
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
