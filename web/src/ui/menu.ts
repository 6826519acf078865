/** The one menu that is open, wherever it was asked for. */
import { signal } from "@preact/signals";
import type { IconName } from "./Icon.tsx";

export interface MenuItem {
  label: string;
  act: () => void;
  icon?: IconName;
  keys?: string | undefined;
  danger?: boolean;
  disabled?: boolean;
  /** It leads to another menu. */
  opensMenu?: boolean;
  /** A line above this item. */
  group?: boolean;
  /** A colour to show instead of an icon. */
  swatch?: string;
  checked?: boolean;
}

export interface OpenMenu {
  label: string;
  items: MenuItem[];
  x: number;
  y: number;
}

export const openMenu = signal<OpenMenu | undefined>(undefined);

export function menuAt(label: string, items: MenuItem[], x: number, y: number): void {
  openMenu.value = { label, items, x, y };
}

/** Below the thing that was pressed; a key press has no pointer place. */
export function menuUnder(label: string, items: MenuItem[], anchor: Element): void {
  const box = anchor.getBoundingClientRect();
  menuAt(label, items, box.left, box.bottom + 4);
}

/** The next enabled item `step` on, around the ends. */
export function nextItem(items: readonly MenuItem[], from: number, step: number): number {
  for (let n = 1; n <= items.length; n++) {
    const at = (from + step * n + items.length * n) % items.length;
    if (!items[at]?.disabled) return at;
  }
  return from;
}
