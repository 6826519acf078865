/** The touch bar's sticky modifiers, shared with the terminal's typed input. */
import { signal } from "@preact/signals";
import { followMedia } from "../../lib/media.ts";
import { LOOSE, modified, press, release, type Sticky } from "./modifiers.ts";

export const sticky = signal<Sticky>(LOOSE);

/** A finger is this device's first pointer. */
export const coarse = signal(false);

export function startTouch(): void {
  followMedia("(pointer: coarse)", coarse);
}

export function pressModifier(name: keyof Sticky): void {
  sticky.value = { ...sticky.value, [name]: press(sticky.value[name]) };
}

export function releaseModifiers(): void {
  sticky.value = release(sticky.value);
}

/** Typed text on its way to the program. */
export function throughModifiers(data: string): string {
  if (sticky.value.ctrl === "off" && sticky.value.alt === "off") return data;
  const changed = modified(data, sticky.value);
  releaseModifiers();
  return changed;
}
