/** Writes the status of pi to the file that tservice follows. Without that file it does nothing. */
import { renameSync, writeFileSync } from "node:fs";

const file = process.env.TSERVICE_STATUS_FILE;

function report(status) {
  const text = JSON.stringify({ pid: process.pid, status, statusUpdatedAt: Date.now() });
  try {
    // Nobody reads half of it.
    writeFileSync(`${file}.new`, text, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  } catch {
    // The service reads the screen then.
  }
}

export default function (pi) {
  if (!file) return;
  pi.on("session_start", () => report("idle"));
  pi.on("agent_start", () => report("busy"));
  // The last event of a run: pi neither tries again nor goes on with a queued message.
  pi.on("agent_settled", () => report("idle"));
}
