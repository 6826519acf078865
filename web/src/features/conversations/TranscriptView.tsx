/** One conversation as it reads: what was said, without the tools. */
import { Button } from "../../ui/Button.tsx";
import { useState } from "preact/hooks";
import type { ConversationResponse, Session, TranscriptMessageResponse } from "../../api/types.ts";
import { openPage } from "../../ui/pages/registry.ts";
import { create } from "../sessions/actions.ts";
import { select } from "../../ui/pages/select.ts";
import { cliOf, sessions } from "../../store/state.ts";
import { showError } from "../../store/toasts.ts";
import { explainNotResumable, findOpenSession, resumeBody, titleOf } from "./texts.ts";
import { api } from "../../api/client.ts";
import { Preview } from "../files/Preview.tsx";
import { formatAgo } from "../../lib/ago.ts";
import { useRead } from "../../store/resource.ts";
import { IconButton } from "../../ui/IconButton.tsx";
import { useNow } from "../../ui/useNow.ts";

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
      label={why ?? `Resume ${titleOf(one)}`}
      onClick={() => void resume()}
      testid="conversation-resume"
    >
      {busy ? "Starting…" : "Resume"}
    </Button>
  );
}

function Said({ message, who }: { message: TranscriptMessageResponse; who: string }) {
  const now = useNow();
  return (
    <li class="message" data-role={message.role} data-testid="message">
      <p class="message-author">
        <strong>{who}</strong>
        {message.timestamp !== null && <small>{formatAgo(message.timestamp, now)}</small>}
      </p>
      {message.role === "user" ? (
        <p class="message-prompt">{message.text}</p>
      ) : (
        <Preview text={message.text} />
      )}
    </li>
  );
}

export function TranscriptView({ one, onBack }: { one: ConversationResponse; onBack: () => void }) {
  const { data: transcript, problem } = useRead(
    (signal) =>
      api.get("/api/history/sessions/{conversation}", {
        path: { conversation: one.id },
        query: { mode: one.mode },
        signal,
      }),
    [one],
  );
  const agent = cliOf(one.mode)?.label ?? one.mode;
  return (
    <div class="conversation" data-testid="transcript">
      <div class="conversation-bar">
        <IconButton icon="left" label="Back to conversations" onClick={onBack} testid="transcript-back" />
        <h3>{titleOf(one)}</h3>
        <Resume one={one} />
      </div>
      {problem !== "" && (
        <p class="field-problem" role="alert">
          {problem}
        </p>
      )}
      {!transcript && problem === "" && <p class="dim">Loading…</p>}
      {transcript?.truncated && <p class="dim">Showing only the latest part.</p>}
      {transcript?.messages.length === 0 && <p class="dim">This conversation is empty.</p>}
      <ol class="conversation-list">
        {transcript?.messages.map((message, at) => (
          <Said key={at} message={message} who={message.role === "user" ? "You" : agent} />
        ))}
      </ol>
    </div>
  );
}
