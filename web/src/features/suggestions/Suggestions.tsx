/** What could be said next, as chips above the prompt box: a tap fills it, nothing is sent. */
import { Button } from "../../ui/Button.tsx";
import { useState } from "preact/hooks";
import type { Session, SuggestionResponse } from "../../api/types.ts";
import { focusPrompt } from "../prompt/focus.ts";
import { Icon } from "../../ui/Icon.tsx";
import {
  dropSuggestions,
  insertSuggestion,
  requestSuggestions,
  getSuggestions,
  getKindLabel,
} from "./state.ts";
import "./suggestions.css";

function Chip({ id, suggestion }: { id: string; suggestion: SuggestionResponse }) {
  const { prompt, why, kind } = suggestion;
  const fill = () => {
    insertSuggestion(id, suggestion);
    focusPrompt();
  };
  return (
    <button type="button" class="suggestion-chip" data-kind={kind} onClick={fill} data-testid="suggestion">
      <span class="suggestion-kind">{getKindLabel(kind)}</span>
      <span class="suggestion-prompt">{prompt}</span>
      {why !== "" && <small class="suggestion-why">{why}</small>}
    </button>
  );
}

function OtherSuggestions({ id }: { id: string }) {
  const [steer, setSteer] = useState("");
  const again = () => {
    void requestSuggestions(id, steer.trim());
    setSteer("");
  };
  const key = (event: KeyboardEvent) => {
    // The field stands in the prompt's form, which Enter would send.
    if (event.key !== "Enter") return;
    event.preventDefault();
    again();
  };
  return (
    <span class="suggestion-more">
      <input
        class="field"
        value={steer}
        maxLength={2000}
        placeholder="Other suggestions, about…"
        aria-label="What other suggestions should be about"
        onInput={(event) => setSteer(event.currentTarget.value)}
        onKeyDown={key}
        data-testid="rethink-steer"
      />
      <Button small onClick={again} testid="rethink">
        Suggest others
      </Button>
    </span>
  );
}

export function Suggestions({ session }: { session: Session }) {
  const { shown, asking, problem } = getSuggestions(session.id);
  return (
    <div
      class="suggestions"
      aria-busy={asking !== undefined}
      role="group"
      aria-label="Suggestions"
      data-testid="suggestions"
    >
      {shown.map((suggestion) => (
        <Chip key={suggestion.prompt} id={session.id} suggestion={suggestion} />
      ))}
      {asking && (
        <span class="suggestion-note" role="status">
          <span class="spinner" /> Thinking of suggestions…
        </span>
      )}
      {problem !== undefined && (
        <span class="suggestion-note" role="alert" data-testid="suggestions-problem">
          <Icon name="alert" size={14} /> {problem}
        </span>
      )}
      {!asking && <OtherSuggestions id={session.id} />}
      <button
        type="button"
        class="icon-button"
        aria-label="Close suggestions"
        title="Close suggestions"
        onClick={() => dropSuggestions(session.id)}
        data-testid="suggestions-close"
      >
        <Icon name="close" size={14} />
      </button>
    </div>
  );
}
