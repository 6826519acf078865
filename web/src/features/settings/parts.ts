/** The parts of the settings by name, and which one is wanted. */
import { signal } from "@preact/signals";
import type { IconName } from "../../ui/Icon.tsx";

export interface PartName {
  id: string;
  title: string;
  icon: IconName;
}

export const PART_NAMES: readonly PartName[] = [
  { id: "account", title: "Account", icon: "users" },
  { id: "look", title: "Appearance", icon: "eye" },
  { id: "terminal", title: "Terminal", icon: "screen" },
  { id: "agents", title: "Agents", icon: "pulse" },
  { id: "notifications", title: "Notifications", icon: "bell" },
  { id: "service", title: "Server", icon: "settings" },
  { id: "webhook", title: "Webhook", icon: "send" },
];

/** The part that the page goes to, as soon as it is there, and the setting in it that gets the keyboard. */
export const wantedSetting = signal<{ part: string; setting?: string | undefined } | undefined>(undefined);
