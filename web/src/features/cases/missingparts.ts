/** What a new clone or worktree lacks, and fetching it in a shell (protocol-prepare). */
import { select } from "../../ui/pages/select.ts";
import { showError, showToast } from "../../store/toasts.ts";
import { api } from "../../api/client.ts";

export async function fetchMissingParts(name: string): Promise<void> {
  try {
    const { sessionId } = await api.post("/api/cases/{name}/prepare", { path: { name } });
    if (sessionId === undefined) showToast("good", "Nothing to fetch", name);
    else select(sessionId);
  } catch (error) {
    showError("Couldn't start the fetch", error);
  }
}

/** The message stays until somebody has dealt with it. */
export function reportMissingParts(name: string, warnings: readonly string[]): void {
  if (warnings.length === 0) return;
  const text = `${warnings.join("; ")}.`;
  const fetch = { label: "Fetch in a shell", act: () => void fetchMissingParts(name) };
  showToast("info", `${name} is incomplete`, `${text.charAt(0).toUpperCase()}${text.slice(1)}`, fetch);
}
