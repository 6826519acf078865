/** One conversation as it reads: what was said, without the tools. */
import { api } from "../../api/client.ts";
import type { ConversationResponse, TranscriptMessageResponse } from "../../api/types.ts";
import { Preview } from "../files/Preview.tsx";
import { formatAgo } from "../../lib/ago.ts";
import { useRead } from "../../store/useRead.ts";
import { cliOf } from "../../store/state.ts";
import { IconButton } from "../../ui/IconButton.tsx";
import { useNow } from "../../ui/useNow.ts";
import { Resume } from "./Resume.tsx";
import { titleOf } from "./texts.ts";

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
