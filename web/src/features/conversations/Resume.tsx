/** Goes on with a past conversation in a session of its own, or opens the session that has it. */
import { useState } from "preact/hooks";
import type { ConversationResponse, Session } from "../../api/types.ts";
import { openPage } from "../../ui/pages/registry.ts";
import { create } from "../sessions/actions.ts";
import { select } from "../../ui/pages/select.ts";
import { cliOf, sessions } from "../../store/state.ts";
import { showError } from "../../store/toasts.ts";
import { explainNotResumable, findOpenSession, resumeBody, titleOf } from "./texts.ts";

function Open({ one, home }: { one: ConversationResponse; home: Session }) {
  return (
    <button
      type="button"
      class="button small"
      title={`It is open in ${home.name}`}
      aria-label={`Open ${titleOf(one)} in ${home.name}`}
      onClick={() => select(home.id)}
      data-testid="conversation-open"
    >
      Open
    </button>
  );
}

export function Resume({ one }: { one: ConversationResponse }) {
  const home = findOpenSession(one, sessions.value);
  return home ? <Open one={one} home={home} /> : <GoOn one={one} />;
}

function GoOn({ one }: { one: ConversationResponse }) {
  const [busy, setBusy] = useState(false);
  const why = explainNotResumable(one, cliOf(one.mode));
  const resume = async () => {
    setBusy(true);
    try {
      await create(resumeBody(one));
      openPage.value = undefined;
    } catch (error) {
      showError("Couldn't resume the conversation", error);
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
