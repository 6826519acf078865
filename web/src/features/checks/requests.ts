/** Runs a session's checks, and cancels them. */
import { api } from "../../api/client.ts";
import { showError } from "../../store/toasts.ts";

export async function runChecks(id: string): Promise<void> {
  try {
    await api.post("/api/sessions/{id}/checks/run", { path: { id } });
  } catch (error) {
    showError("Couldn't run the checks", error);
  }
}

export async function cancelChecks(id: string): Promise<void> {
  try {
    await api.delete("/api/sessions/{id}/checks/run", { path: { id } });
  } catch (error) {
    showError("Couldn't cancel the checks", error);
  }
}
