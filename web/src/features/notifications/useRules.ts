/** The account's rules for notices: shown as the person chose them, and kept by the server. */
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { getErrorText } from "../../api/errors.ts";
import { onServerEvent } from "../../api/stream/events.ts";
import { CoalescedRead } from "../../lib/coalescedread.ts";
import { showError } from "../../store/toasts.ts";
import { bodyOf, type Rules } from "./rules.ts";

/** Requests go one at a time; no answer takes back what was chosen while it was under way. */
class RuleRequests {
  #chosen: Rules | undefined;
  readonly #requests = new CoalescedRead((outdated) => this.#send(outdated));
  readonly #show: (rules: Rules) => void;
  readonly #showProblem: (text: string | undefined) => void;

  constructor(show: (rules: Rules) => void, showProblem: (text: string | undefined) => void) {
    this.#show = show;
    this.#showProblem = showProblem;
  }

  read(): Promise<void> {
    return this.#requests.now();
  }

  choose(rules: Rules): void {
    this.#chosen = rules;
    this.#show(rules);
    this.#showProblem(undefined);
    void this.read();
  }

  async #send(outdated: () => boolean): Promise<void> {
    const chosen = this.#chosen;
    try {
      const kept = await (chosen
        ? api.put("/api/notification-rules", { body: bodyOf(chosen) })
        : api.get("/api/notification-rules"));
      if (!outdated()) this.#show(kept);
    } catch (error) {
      if (!chosen) return showError("Couldn't load the notification rules", error);
      this.#showProblem(getErrorText(error));
      this.#requests.markOutdated();
    }
    if (this.#chosen === chosen) this.#chosen = undefined;
  }
}

/** @returns the rules once they are read, why they were refused, and what changes them. */
export function useRules() {
  const [rules, show] = useState<Rules>();
  const [problem, showProblem] = useState<string>();
  const [requests] = useState(() => new RuleRequests(show, showProblem));
  useEffect(() => {
    void requests.read();
    const end = onServerEvent("notice:rulesChanged", () => void requests.read());
    return () => void end();
  }, []);
  return { rules, problem, choose: (next: Rules) => requests.choose(next) };
}
