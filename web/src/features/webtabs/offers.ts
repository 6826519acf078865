/** Offers the address of a dev server that a session in front prints as a web tab. */
import { effect } from "@preact/signals";
import { currentView } from "../terminal/current.ts";
import { showToast } from "../../store/toasts.ts";
import { localAddresses, nameOf } from "./state.ts";

const LOOK_MS = 2_000;
/** Addresses that are not offered again in this window. */
const OFFERED_MAX = 200;

const offered = new Set<string>();

async function show(address: string): Promise<void> {
  const { openAddress } = await import("./actions.ts");
  await openAddress(address);
}

/** What is on the screen now; what was scrolled out is old news. */
function screenText(): string {
  const terminal = currentView.peek()?.screen.terminal;
  if (!terminal) return "";
  const buffer = terminal.buffer.active;
  let text = "";
  for (let row = 0; row < terminal.rows; row++) {
    const line = buffer.getLine(buffer.baseY + row);
    if (line) text += (line.isWrapped ? "" : "\n") + line.translateToString(true);
  }
  return text;
}

/** `port 5173`; the host alone where the address names no port. */
function portOf(address: string): string {
  const { port, host } = new URL(address);
  return port === "" ? host : `port ${port}`;
}

export function offerAddresses(text: string, service: string): void {
  for (const address of localAddresses(text)) {
    // The service prints its own address too.
    if (new URL(address).host === service || offered.has(address)) continue;
    if (offered.size >= OFFERED_MAX) return;
    offered.add(address);
    const act = () => void show(address);
    showToast("info", `Server running on ${portOf(address)}`, nameOf(address), {
      label: "Open as web tab",
      act,
    });
  }
}

/** Looks now and then at the session in front, as long as somebody sees it. */
export function followOffers(): void {
  effect(() => {
    if (!currentView.value) return undefined;
    const timer = setInterval(() => {
      if (!document.hidden) offerAddresses(screenText(), location.host);
    }, LOOK_MS);
    return () => clearInterval(timer);
  });
}
