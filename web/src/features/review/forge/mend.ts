/** Failed checks on their way to the agent. */
import { api } from "../../../api/client.ts";
import { ApiError } from "../../../api/errors.ts";
import { plural } from "../../../lib/format.ts";
import { uuid } from "../../../lib/ids.ts";
import { showError, showToast } from "../../../store/toasts.ts";
import { askQuestion } from "../../../ui/ask.ts";

/** Sends them once for each tap, asking first while the agent works. */
export async function sendFailures(id: string, repo: string): Promise<void> {
  const requestId = uuid();
  try {
    await send(id, repo, requestId, false);
  } catch (error) {
    if (!(error instanceof ApiError && error.code === "SESSION_BUSY")) {
      showError("Couldn't send the failed checks", error);
      return;
    }
    const sure = await askQuestion({
      title: "The agent is working",
      text: "It gets the failed checks in the middle of its turn. Send them now?",
      action: "Send now",
    });
    if (sure === undefined) return;
    await send(id, repo, requestId, true).catch((again: unknown) =>
      showError("Couldn't send the failed checks", again),
    );
  }
}

async function send(id: string, repo: string, requestId: string, evenWhileBusy: boolean): Promise<void> {
  const body = { repo, requestId, evenWhileBusy };
  const { checks } = await api.post("/api/sessions/{id}/changes/pull-request/mend", { path: { id }, body });
  showToast("good", `Sent ${plural(checks.length, "failed check")} to the agent`);
}
