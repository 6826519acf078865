/** Commit and push by the user's own git, as this person's action. */
import { api } from "../../api/client.ts";
import { showError, showToast } from "../../store/toasts.ts";
import { askQuestion } from "../../ui/ask.ts";
import { readChanges } from "./state.ts";

async function push(id: string, repo: string): Promise<void> {
  try {
    const body = { repo, setUpstream: true };
    await api.post("/api/sessions/{id}/changes/push", { path: { id }, body });
    showToast("good", "Pushed");
  } catch (error) {
    showError("Couldn't push", error);
  }
}

/** Ask for the message, commit everything, and offer to push. */
export async function commitAll(id: string, repo: string): Promise<void> {
  try {
    const query = { repo };
    const found = await api.get("/api/sessions/{id}/changes/commit-message", { path: { id }, query });
    const message = await askQuestion({
      title: "Commit all changes?",
      text: "This runs your own git with your identity, signing and hooks.",
      action: "Commit",
      input: "multiline",
      initial: found.message,
    });
    if (message === undefined || message.trim() === "") return;
    const body = { repo, message, all: true };
    const done = await api.post("/api/sessions/{id}/changes/commit", { path: { id }, body });
    showToast("good", "Committed", done.commit?.slice(0, 8), {
      label: "Push",
      act: () => void push(id, repo),
    });
    await readChanges(id);
  } catch (error) {
    showError("Couldn't commit", error);
  }
}
