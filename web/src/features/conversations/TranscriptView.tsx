/** One stored conversation, as the one beside a terminal reads. */
import { Button } from "../../ui/Button.tsx";
import { useMemo, useState } from "preact/hooks";
import type { ConversationResponse, Session } from "../../api/types.ts";
import { openPage } from "../../ui/pages/registry.ts";
import { create } from "../sessions/actions.ts";
import { select } from "../../ui/pages/select.ts";
import { cliOf, sessions } from "../../store/state.ts";
import { showError } from "../../store/toasts.ts";
import { explainNotResumable, findOpenSession, resumeBody, titleOf } from "./texts.ts";
import { ConversationView } from "../conversation/ConversationView.tsx";
import { readStoredConversation } from "../conversation/source.ts";
import { IconButton } from "../../ui/IconButton.tsx";

function Open({ one, home }: { one: ConversationResponse; home: Session }) {
  return (
    <Button
      small
      title={`It is open in ${home.name}`}
      label={`Open ${titleOf(one)} in ${home.name}`}
      onClick={() => select(home.id)}
      testid="conversation-open"
    >
      Open
    </Button>
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
    <Button
      small
      disabled={busy || why !== undefined}
      title={why}
      label={`Resume ${titleOf(one)}${why === undefined ? "" : `: ${why}`}`}
      onClick={() => void resume()}
      testid="conversation-resume"
    >
      {busy ? "Starting…" : "Resume"}
    </Button>
  );
}

export function TranscriptView({ one, onBack }: { one: ConversationResponse; onBack: () => void }) {
  const reader = useMemo(() => readStoredConversation(one.mode, one.id), [one.mode, one.id]);
  const title = titleOf(one);
  return (
    <div class="conversation" data-testid="transcript">
      <div class="conversation-bar">
        <IconButton icon="left" label="Back to conversations" onClick={onBack} testid="transcript-back" />
        <h3>{title}</h3>
        <Resume one={one} />
      </div>
      <ConversationView
        reader={reader}
        title={title}
        folder={one.workingDir}
        agent={cliOf(one.mode)?.label ?? one.mode}
        empty="This conversation is empty."
      />
    </div>
  );
}
