/** What the palette offers, and what of it was typed. */
import type { Session } from "../../api/types.ts";
import type { IconName } from "../../ui/Icon.tsx";

export interface Entry {
  key: string;
  group: "Sessions" | "This session" | "Go to";
  label: string;
  /** Said beside the label and searched too. */
  detail?: string | undefined;
  icon?: IconName | undefined;
  keys?: string | undefined;
  session?: Session;
  act: () => void;
}

export interface Hit {
  entry: Entry;
  /** Indices of the label's letters that were typed. */
  at: readonly number[];
}
