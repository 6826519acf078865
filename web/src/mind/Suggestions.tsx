/** What could be said next, as chips above the prompt box: a tap fills it, nothing is sent. */
import { useState } from "preact/hooks";
import type { Session, SuggestionResponse } from "../api/types.ts";
import { focusPrompt } from "../prompt/focus.ts";
import { Icon } from "../ui/Icon.tsx";
import { canSuggest, forget, take, think, thoughtOf } from "./state.ts";
import { kindText } from "./words.ts";

function Chip({ id, suggestion }: { id: string; suggestion: SuggestionResponse }) {
  const { prompt, why, kind } = suggestion;
  const fill = () => {
    take(id, suggestion);
    focusPrompt();
  };
  return (
    <button type="button" class="mind-chip" data-kind={kind} onClick={fill} data-testid="suggestion">
      <span class="mind-kind">{kindText(kind)}</span>
      <span class="mind-prompt">{prompt}</span>
      {why !== "" && <small class="mind-why">{why}</small>}
    </button>
  );
}

function Rethink({ id }: { id: string }) {
  const [steer, setSteer] = useState("");
  const again = () => {
    void think(id, steer.trim());
    setSteer("");
  };
  const key = (event: KeyboardEvent) => {
    // The field stands in the prompt's form, which Enter would send.
    if (event.key !== "Enter") return;
    event.preventDefault();
    again();
  };
  return (
    <span class="mind-rethink">
      <input
        class="field"
        value={steer}
        maxLength={2000}
        placeholder="Something else: heed…"
        aria-label="What other suggestions should heed"
        onInput={(event) => setSteer(event.currentTarget.value)}
        onKeyDown={key}
        data-testid="rethink-steer"
      />
      <button type="button" class="button small" onClick={again} data-testid="rethink">
        Rethink
      </button>
    </span>
  );
}

export function Suggestions({ session }: { session: Session }) {
  const { shown, asking, problem } = thoughtOf(session.id);
  if (!canSuggest(session) || (shown.length === 0 && !asking && problem === undefined)) return null;
  return (
    <div
      class="mind"
      aria-busy={asking !== undefined}
      role="group"
      aria-label="Suggestions"
      data-testid="mind"
    >
      {shown.map((suggestion) => (
        <Chip key={suggestion.prompt} id={session.id} suggestion={suggestion} />
      ))}
      {asking && (
        <span class="mind-note" role="status">
          <span class="spinner" /> Thinking of what you could say…
        </span>
      )}
      {problem !== undefined && (
        <span class="mind-note" role="alert" data-testid="mind-problem">
          <Icon name="alert" size={14} /> {problem}
        </span>
      )}
      {!asking && <Rethink id={session.id} />}
      <button
        type="button"
        class="icon-button"
        aria-label="Put the suggestions away"
        title="Put the suggestions away"
        onClick={() => forget(session.id)}
        data-testid="mind-close"
      >
        <Icon name="close" size={14} />
      </button>
    </div>
  );
}

export function SuggestButton({ session }: { session: Session }) {
  if (!canSuggest(session)) return null;
  return (
    <button
      type="button"
      class="prompt-think"
      disabled={thoughtOf(session.id).asking !== undefined}
      aria-label="Suggest what to say next"
      title="Suggest what to say next"
      onClick={() => void think(session.id)}
      data-testid="suggest"
    >
      <Icon name="bulb" />
    </button>
  );
}
