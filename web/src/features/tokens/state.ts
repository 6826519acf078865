/** The caller's tokens, read while the page is open. */
import { signal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { TokenBody, TokenResponse } from "../../api/types.ts";
import { resource } from "../../store/resource.ts";
import { showError, showToast } from "../../store/toasts.ts";
import { askQuestion } from "../../ui/ask.ts";

/** The newest one first, as it is what one looks for. */
export const tokens = resource(async () => (await api.get("/api/tokens")).tokens.toReversed());

/** The token that was just made; the service keeps no copy of it. */
export const shownOnce = signal<{ name: string; token: string } | undefined>(undefined);

/** @returns a function that forgets what was read. */
export function openTokens(): () => void {
  const end = tokens.follow();
  return () => {
    end();
    shownOnce.value = undefined;
  };
}

/** @throws ApiError as the service refuses it. */
export async function create(body: TokenBody): Promise<void> {
  const { token, record } = await api.post("/api/tokens", { body });
  shownOnce.value = { name: record.name, token };
  await tokens.refresh();
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
    await api.delete("/api/tokens/{id}", { path: { id: token.id } });
    showToast("good", `${token.name} revoked`);
  } catch (error) {
    showError("Couldn't revoke the token", error);
  }
  await tokens.refresh();
}
