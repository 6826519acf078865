/** Goes on with a past conversation in a session of its own. */
import { useState } from "preact/hooks";
import type { Conversation } from "../api/types.ts";
import { openPage } from "../app/registry.ts";
import { create } from "../sessions/actions.ts";
import { cliOf } from "../store/state.ts";
import { failed } from "../ui/toasts.ts";
import { bar, resumeBody, titleOf } from "./words.ts";

export function Resume({ one }: { one: Conversation }) {
  const [busy, setBusy] = useState(false);
  const why = bar(one, cliOf(one.mode));
  const resume = async () => {
    setBusy(true);
    try {
      await create(resumeBody(one));
      openPage.value = undefined;
    } catch (error) {
      failed("Not resumed", error);
    }
    // Beside the terminal the page stays.
    setBusy(false);
  };
  return (
    <button
      type="button"
      class="button small"
      disabled={busy || why !== undefined}
      title={why}
      aria-label={why ?? `Resume ${titleOf(one)}`}
      onClick={() => void resume()}
      data-testid="conversation-resume"
    >
      {busy ? "Starting…" : "Resume"}
    </button>
  );
}
