/** The caller's tokens, read while the page is open. */
import { signal } from "@preact/signals";
import { textOf } from "../api/errors.ts";
import { Reread } from "../lib/reread.ts";
import { ask } from "../ui/ask.ts";
import { failed, say } from "../ui/toasts.ts";
import { createToken, deleteToken, listTokens, type TokenBody, type Token } from "./calls.ts";

export const tokens = signal<readonly Token[] | undefined>(undefined);
export const trouble = signal("");

/** The token that was just made; the service keeps no copy of it. */
export const shownOnce = signal<{ name: string; token: string } | undefined>(undefined);

const reads = new Reread(async () => {
  try {
    // The newest is what one looks for.
    tokens.value = (await listTokens()).tokens.toReversed();
    trouble.value = "";
  } catch (error) {
    trouble.value = textOf(error);
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

export async function revoke(token: Token): Promise<void> {
  const agreed = await ask({
    title: `Revoke ${token.name}?`,
    text: "Whatever uses it is refused from now on, and its open streams end.",
    action: "Revoke",
    danger: true,
  });
  if (agreed === undefined) return;
  try {
    await deleteToken(token.id);
    say("good", `${token.name} is revoked`);
  } catch (error) {
    failed("Not revoked", error);
  }
  await refresh();
}
