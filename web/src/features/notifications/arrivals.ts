/** Which changes of the inbox are worth a word (protocol-settings `notificationPreferences`). */
import type { NotificationPreferences } from "../../api/types.ts";
import type { ApprovalItemResponse, ItemKind } from "../approvals/item.ts";

export type Preferences = Required<NotificationPreferences>;
export type NotifiedEvent = Preferences["events"][number];

export const DEFAULT_PREFERENCES: Preferences = {
  enabled: false,
  sound: false,
  events: ["permission_prompt", "elicitation_dialog", "idle_prompt"],
};

export const EVENT_OF: Record<ItemKind, NotifiedEvent> = {
  permission: "permission_prompt",
  question: "elicitation_dialog",
  idle: "idle_prompt",
};

export function readPreferences(value: unknown): Preferences {
  const given = (value ?? {}) as Partial<Preferences>;
  return {
    enabled: given.enabled === true,
    sound: given.sound === true,
    events: Array.isArray(given.events) ? given.events : DEFAULT_PREFERENCES.events,
  };
}

/** Items that were not there before; another page of the same question is a change, no arrival. */
export const arrivals = (
  known: ReadonlySet<string>,
  items: readonly ApprovalItemResponse[],
): ApprovalItemResponse[] => items.filter((item) => !known.has(item.id));

export interface NotificationContext {
  preferences: Preferences;
  /** This browser was switched on and its permission given. */
  here: boolean;
  hidden: boolean;
}

/** A page in sight says it by itself. */
export const mayNotify = (event: NotifiedEvent, now: NotificationContext): boolean =>
  now.here && now.hidden && now.preferences.enabled && now.preferences.events.includes(event);

export const maySound = (event: NotifiedEvent, preferences: Preferences): boolean =>
  preferences.sound && preferences.events.includes(event);
