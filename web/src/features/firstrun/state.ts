/** What the first page reads, and what it starts. */
import { api } from "../../api/client.ts";
import type { CliItem, SignInItem } from "../../api/types.ts";
import { resource } from "../../store/resource.ts";
import { showError, showToast } from "../../store/toasts.ts";
import { FIRST_PAGE, openPage } from "../../ui/pages/registry.ts";
import { create } from "../sessions/actions.ts";
import { sendFirst } from "../sessions/startdraft.ts";

/** Signing in happens in a terminal: no event tells of it. */
export const signIns = resource(() => api.get("/api/clis/sign-in"), ["cli:installFinished"], {
  every: 10_000,
});

/** The CLI's own sign-in, in a terminal at home. */
export async function openSignIn(entry: CliItem, { command }: SignInItem): Promise<void> {
  try {
    const made = await create({ mode: "shell", start: true, name: `Sign in to ${entry.label}` });
    if (!made) return;
    sendFirst(made.id, command);
    openPage.value = undefined;
    showToast("info", `Sign in to ${entry.label} here`, "Then start your agent.", {
      label: "Start an agent",
      act: () => (openPage.value = FIRST_PAGE),
    });
  } catch (error) {
    showError("Couldn't open a terminal", error);
  }
}
