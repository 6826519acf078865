/** The card's state: what is saved, what is being changed, what went wrong. */
import { useEffect, useState } from "preact/hooks";
import { ApiError } from "../api/errors.ts";
import { onServerEvent } from "../stream/events.ts";
import { ask } from "../ui/ask.ts";
import { say } from "../ui/toasts.ts";
import { changeWebhook, readWebhook, testWebhook } from "./calls.ts";
import type { Change, WebhookResponse } from "./types.ts";
import { changeOf, type Problem, problemOf } from "./words.ts";

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
      else setProblem(problemOf(error));
    } finally {
      setBusy("");
    }
  };
  const put = (change: Change, said: string) =>
    attempt("saving", async () => {
      setSaved(await changeWebhook(change));
      setDraft({});
      say("good", said);
    });
  const clear = async () => {
    const answer = await ask({
      title: "Forget the URL?",
      text: "The webhook is switched off, and messages that still wait are given up.",
      action: "Forget it",
      danger: true,
    });
    if (answer !== undefined) await put({ url: "" }, "The URL is forgotten");
  };
  const test = () =>
    attempt("testing", async () => {
      const lastResult = await testWebhook();
      setSaved((before) => before && { ...before, lastResult });
    });
  // Changed elsewhere, or a message was sent: what is being typed here stays.
  useEffect(() => {
    const end = onServerEvent("webhook:changed", setSaved);
    return () => void end();
  }, []);
  useEffect(() => void attempt("", async () => setSaved(await readWebhook())), []);
  return {
    saved,
    refused,
    draft,
    busy,
    problem,
    edit: (part) => setDraft((before) => ({ ...before, ...part })),
    save: () => (saved ? put(changeOf(saved, draft), "Saved") : Promise.resolve()),
    clear,
    test,
  };
}
