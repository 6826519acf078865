/** Short messages that come and go. */
import { signal } from "@preact/signals";
import { ApiError, formatError } from "../api/errors.ts";

export type Tone = "info" | "good" | "bad";

export interface Toast {
  id: number;
  tone: Tone;
  title: string;
  text?: string | undefined;
  action?: ToastAction | undefined;
}

/** What can be done about it; such a toast stays until somebody has dealt with it. */
export interface ToastAction {
  label: string;
  act: () => void;
}

/** More than this on the screen at once hides the terminal; the oldest goes. */
export const TOASTS_MAX = 4;
const STAY_MS: Record<Tone, number> = { info: 4_000, good: 3_000, bad: 9_000 };

export const toasts = signal<readonly Toast[]>([]);

let next = 1;

/** The same message again replaces itself instead of piling up. */
export function addToast(list: readonly Toast[], toast: Toast): readonly Toast[] {
  const others = list.filter((other) => other.title !== toast.title || other.text !== toast.text);
  return [...others, toast].slice(-TOASTS_MAX);
}

export function dismissToast(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

export function showToast(tone: Tone, title: string, text?: string, action?: ToastAction): void {
  const id = next++;
  toasts.value = addToast(toasts.value, { id, tone, title, text, action });
  if (!action) setTimeout(() => dismissToast(id), STAY_MS[tone]);
}

/** An action failed. A 401 says nothing: the sign-in page is the answer to it. */
export function showError(title: string, error: unknown): void {
  if (error instanceof ApiError && error.status === 401) return;
  if (error instanceof DOMException && error.name === "AbortError") return;
  showToast("bad", title, formatError(error));
}
