/** One conversation as it reads: what was said, without the tools. */
import { useEffect, useState } from "preact/hooks";
import { sentenceOf } from "../api/errors.ts";
import type { ConversationResponse, TranscriptMessageResponse, TranscriptResponse } from "../api/types.ts";
import { Preview } from "../files/Preview.tsx";
import { agoText } from "../lib/ago.ts";
import { cliOf } from "../store/state.ts";
import { IconButton } from "../ui/IconButton.tsx";
import { useNow } from "../ui/useNow.ts";
import { readTranscript } from "./calls.ts";
import { Resume } from "./Resume.tsx";
import { titleOf } from "./words.ts";

function Said({ message, who }: { message: TranscriptMessageResponse; who: string }) {
  const now = useNow();
  return (
    <li class="said" data-role={message.role} data-testid="said">
      <p class="said-who">
        <strong>{who}</strong>
        {message.timestamp !== null && <small>{agoText(message.timestamp, now)}</small>}
      </p>
      {message.role === "user" ? <p class="said-prompt">{message.text}</p> : <Preview text={message.text} />}
    </li>
  );
}

export function TranscriptView({ one, onBack }: { one: ConversationResponse; onBack: () => void }) {
  const [transcript, setTranscript] = useState<TranscriptResponse>();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const end = new AbortController();
    readTranscript(one, end.signal).then(
      setTranscript,
      (error: unknown) => !end.signal.aborted && setProblem(sentenceOf(error)),
    );
    return () => end.abort();
  }, [one]);
  const agent = cliOf(one.mode)?.label ?? one.mode;
  return (
    <div class="conversation" data-testid="transcript">
      <div class="conversation-bar">
        <IconButton icon="left" label="Back to the list" onClick={onBack} testid="transcript-back" />
        <h3>{titleOf(one)}</h3>
        <Resume one={one} />
      </div>
      {problem !== "" && (
        <p class="field-problem" role="alert">
          {problem}
        </p>
      )}
      {!transcript && problem === "" && <p class="dim">Reading…</p>}
      {transcript?.truncated && <p class="dim">Only the last of it is shown; it began earlier.</p>}
      {transcript?.messages.length === 0 && <p class="dim">Nothing was said in it.</p>}
      <ol class="conversation-list">
        {transcript?.messages.map((message, at) => (
          <Said key={at} message={message} who={message.role === "user" ? "You" : agent} />
        ))}
      </ol>
    </div>
  );
}
