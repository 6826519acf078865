/** The card's state: what is saved, what is being changed, what went wrong. */
import { useEffect, useState } from "preact/hooks";
import { ApiError } from "../../api/errors.ts";
import { onServerEvent } from "../../api/stream/events.ts";
import { askQuestion } from "../../ui/ask.ts";
import { showToast } from "../../store/toasts.ts";
import { api } from "../../api/client.ts";
import type { WebhookResponse } from "../../api/types.ts";
import type { Change } from "./texts.ts";
import { diffDraft, type Problem, parseProblem } from "./texts.ts";

export interface Card {
  /** Absent until it was read; `refused`: not for this user. */
  saved: WebhookResponse | undefined;
  refused: boolean;
  draft: Change;
  busy: "" | "saving" | "testing";
  problem: Problem | undefined;
  edit: (part: Change) => void;
  save: () => Promise<void>;
  clear: () => Promise<void>;
  test: () => Promise<void>;
}

export function useWebhook(): Card {
  const [saved, setSaved] = useState<WebhookResponse>();
  const [refused, setRefused] = useState(false);
  const [draft, setDraft] = useState<Change>({});
  const [busy, setBusy] = useState<Card["busy"]>("");
  const [problem, setProblem] = useState<Problem>();

  const attempt = async (state: Card["busy"], act: () => Promise<void>) => {
    setProblem(undefined);
    setBusy(state);
    try {
      await act();
    } catch (error) {
      if (error instanceof ApiError && error.status === 403) setRefused(true);
      else setProblem(parseProblem(error));
    } finally {
      setBusy("");
    }
  };
  const put = (change: Change, said: string) =>
    attempt("saving", async () => {
      setSaved(await api.put("/api/webhook", { body: change }));
      setDraft({});
      showToast("good", said);
    });
  const clear = async () => {
    const answer = await askQuestion({
      title: "Delete the URL?",
      text: "This turns the webhook off and drops queued messages.",
      action: "Delete",
      danger: true,
    });
    if (answer !== undefined) await put({ url: "" }, "URL deleted");
  };
  const test = () =>
    attempt("testing", async () => {
      const lastResult = await api.post("/api/webhook/test");
      setSaved((before) => before && { ...before, lastResult });
    });
  // Changed elsewhere, or a message was sent: what is being typed here stays.
  useEffect(() => {
    const end = onServerEvent("webhook:changed", setSaved);
    return () => void end();
  }, []);
  useEffect(() => void attempt("", async () => setSaved(await api.get("/api/webhook"))), []);
  return {
    saved,
    refused,
    draft,
    busy,
    problem,
    edit: (part) => setDraft((before) => ({ ...before, ...part })),
    save: () => (saved ? put(diffDraft(saved, draft), "Saved") : Promise.resolve()),
    clear,
    test,
  };
}
