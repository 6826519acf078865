/** The caller's tokens, read while the page is open. */
import { signal } from "@preact/signals";
import { getErrorText } from "../../api/errors.ts";
import { CoalescedRead } from "../../lib/coalescedread.ts";
import { askQuestion } from "../../ui/ask.ts";
import { showError, showToast } from "../../store/toasts.ts";
import { createToken, deleteToken, listTokens, type TokenBody, type TokenResponse } from "./calls.ts";

export const tokens = signal<readonly TokenResponse[] | undefined>(undefined);
export const trouble = signal("");

/** The token that was just made; the service keeps no copy of it. */
export const shownOnce = signal<{ name: string; token: string } | undefined>(undefined);

const reads = new CoalescedRead(async () => {
  try {
    // The newest is what one looks for.
    tokens.value = (await listTokens()).tokens.toReversed();
    trouble.value = "";
  } catch (error) {
    trouble.value = getErrorText(error);
  }
});

export const refresh = (): Promise<void> => reads.now();

/** @returns a function that forgets what was read. */
export function openTokens(): () => void {
  void refresh();
  return () => {
    tokens.value = undefined;
    shownOnce.value = undefined;
    trouble.value = "";
  };
}

/** @throws ApiError as the service refuses it. */
export async function create(body: TokenBody): Promise<void> {
  const { token, record } = await createToken(body);
  shownOnce.value = { name: record.name, token };
  await refresh();
}

export async function revoke(token: TokenResponse): Promise<void> {
  const agreed = await askQuestion({
    title: `Revoke ${token.name}?`,
    text: "Scripts that use it lose access at once.",
    action: "Revoke",
    danger: true,
  });
  if (agreed === undefined) return;
  try {
    await deleteToken(token.id);
    showToast("good", `${token.name} revoked`);
  } catch (error) {
    showError("Couldn't revoke the token", error);
  }
  await refresh();
}
