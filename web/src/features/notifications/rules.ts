/** An account's own rules for notices, as the form edits them. */
import type { NoticeRulesResponse, WebhookRuleResponse } from "../../api/types.ts";

export type Rules = NoticeRulesResponse;
export type Hook = WebhookRuleResponse & { url?: string };
export type NoticeKind = NonNullable<Rules["browser"]["events"]>[number];
export type Urgency = Rules["urgency"][string];
/** What a webhook gets: a scope, or the events that were chosen one by one. */
export type Sent = Hook["scope"] | "chosen";

export const KINDS: readonly (readonly [NoticeKind, string])[] = [
  ["permission_prompt", "An agent asks for permission"],
  ["elicitation_dialog", "An agent asks a question"],
  ["idle_prompt", "An agent waits for its next prompt"],
  ["error", "A session keeps crashing"],
  ["stalled", "An agent seems to hang"],
  ["limit_pause", "A usage limit pauses an agent"],
  ["run_failed", "A scheduled job failed"],
  ["stop", "An agent finished its turn"],
  ["exit", "A program exited"],
];

/** What a person starts with: the switches of today, and what makes them bearable. */
export const startRules = (shown: Rules, timeZone: string): Rules => ({
  ...shown,
  custom: true,
  onlyUnwatched: true,
  groupFamilies: true,
  digest: true,
  quietHours: { ...shown.quietHours, timeZone },
});

/** An id that no other webhook has; it stays while the webhook is renamed. */
export function newHookId(hooks: readonly { id: string }[]): string {
  for (let n = 1; ; n++) if (!hooks.some(({ id }) => id === `hook-${n}`)) return `hook-${n}`;
}

export const newHook = (hooks: readonly { id: string }[]): Hook => ({
  id: newHookId(hooks),
  name: "",
  enabled: true,
  kind: "ntfy",
  scope: "attention",
  events: null,
  urlMasked: null,
  lastResult: null,
});

/** The request for these rules; a webhook whose URL was not typed keeps the saved one. */
export function bodyOf(rules: Omit<Rules, "webhooks"> & { webhooks: Hook[] }) {
  return {
    ...rules,
    webhooks: rules.webhooks.map(({ urlMasked: _, lastResult: __, url, ...hook }) => ({
      ...hook,
      ...(url && { url }),
    })),
  };
}

/** @returns the events with one of them chosen or not, in the order of the form. */
export const withEvent = (events: readonly NoticeKind[], kind: NoticeKind, on: boolean): NoticeKind[] =>
  KINDS.map(([each]) => each).filter((each) => (each === kind ? on : events.includes(each)));

export const sentBy = ({ events, scope }: Hook): Sent => (events === null ? scope : "chosen");

/** @returns the change of a webhook; who chooses events begins with those that it got so far. */
export function chooseSent(hook: Hook, sent: Sent, urgency: Rules["urgency"]): Partial<Hook> {
  if (sent !== "chosen") return { scope: sent, events: null };
  const got = KINDS.map(([kind]) => kind).filter((kind) => hook.scope === "all" || urgency[kind] !== "info");
  return { events: hook.events ?? got };
}
