/** The place of suggestions above the prompt box, and the button that asks for them. */
import type { Session } from "../../api/types.ts";
import { showError } from "../../store/toasts.ts";
import { Icon } from "../../ui/Icon.tsx";
import { lazySlot } from "../../ui/lazySlot.tsx";
import { canSuggest, getSuggestions, requestSuggestions } from "./state.ts";

const Suggestions = lazySlot(async () => (await import("./Suggestions.tsx")).Suggestions, {
  failed: (error) => showError("Couldn't show the suggestions", error),
});

/** The code that draws them comes with the first. */
export function SuggestionsHost({ session }: { session: Session }) {
  const { shown, asking, problem } = getSuggestions(session.id);
  if (!canSuggest(session) || (shown.length === 0 && !asking && problem === undefined)) return null;
  return <Suggestions session={session} />;
}

export function SuggestButton({ session }: { session: Session }) {
  if (!canSuggest(session)) return null;
  return (
    <button
      type="button"
      class="prompt-think"
      disabled={getSuggestions(session.id).asking !== undefined}
      aria-label="Suggest prompts"
      title="Suggest prompts"
      onClick={() => void requestSuggestions(session.id)}
      data-testid="suggest"
    >
      <Icon name="bulb" />
    </button>
  );
}
