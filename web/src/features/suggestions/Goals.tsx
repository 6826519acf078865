/** What its person wants in a workspace: read for suggestions, and set where a session works there. */
import { Button } from "../../ui/Button.tsx";
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { formatError } from "../../api/errors.ts";
import type { IntentResponse, Session } from "../../api/types.ts";
import { plural } from "../../lib/format.ts";
import { askQuestion } from "../../ui/ask.ts";
import { showError, showToast } from "../../store/toasts.ts";
import { GOALS_MAX } from "./state.ts";
import "./goals.css";

const INTENT = "/api/sessions/{id}/intent";

interface Props {
  session: Session;
}

export function Goals({ session }: Props) {
  const [intent, setIntent] = useState<IntentResponse | null>();
  const [draft, setDraft] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const { id } = session;
  useEffect(() => {
    const end = new AbortController();
    api.get(INTENT, { path: { id }, signal: end.signal }).then(
      ({ intent: found }) => setIntent(found),
      (error: unknown) => !end.signal.aborted && setProblem(formatError(error)),
    );
    return () => end.abort();
  }, [id]);
  if (problem !== undefined) return <p class="dim">Goals: {problem}</p>;
  if (intent === undefined) return null;
  const saved = intent?.goals ?? "";
  const prompts = intent?.recentPrompts ?? [];
  const text = draft ?? saved;
  const save = async (event: Event) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    try {
      setIntent((await api.put(INTENT, { path: { id }, body: { goals: text } })).intent);
      setDraft(undefined);
      showToast("good", "Goals saved");
    } catch (error) {
      showError("Couldn't save the goals", error);
    } finally {
      setBusy(false);
    }
  };
  const forget = async () => {
    const lost = prompts.length > 0 ? ` and ${plural(prompts.length, "saved prompt")}` : "";
    const text = `The goals${lost} for ${session.workingDir} will be deleted.`;
    if (
      (await askQuestion({ title: "Delete the goals?", text, action: "Delete", danger: true })) === undefined
    )
      return;
    try {
      await api.delete(INTENT, { path: { id } });
      setIntent(null);
      setDraft(undefined);
    } catch (error) {
      showError("Couldn't delete the goals", error);
    }
  };
  return (
    <form class="goals" onSubmit={(event) => void save(event)} data-testid="goals">
      <label>
        <strong>Goals</strong>
        <textarea
          class="field"
          rows={Math.min(8, Math.max(2, text.split("\n").length))}
          value={text}
          maxLength={GOALS_MAX}
          placeholder="What you want to get done here (guides suggestions)"
          onInput={(event) => setDraft(event.currentTarget.value)}
          data-testid="goals-text"
        />
      </label>
      {prompts.length > 0 && (
        <details>
          <summary>{plural(prompts.length, "prompt")} saved; saving the goals deletes them</summary>
          <ul>
            {prompts.map((prompt) => (
              <li key={`${prompt.ts} ${prompt.text}`}>{prompt.text}</li>
            ))}
          </ul>
        </details>
      )}
      <div class="case-buttons">
        <Button submit small disabled={busy || text === saved} testid="goals-save">
          Save goals
        </Button>
        {intent && (
          <Button small onClick={() => void forget()} testid="goals-forget">
            Delete
          </Button>
        )}
      </div>
    </form>
  );
}
