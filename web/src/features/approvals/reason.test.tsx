// @vitest-environment happy-dom
/** The field for the reason of a No. */
import { expect, test, vi } from "vitest";
import { listViolations, show } from "../../ui/rendered.ts";
import { DenyWithReason } from "./Choices.tsx";
import { pressOwnKey } from "./cardkeys.ts";
import type { ApprovalItemResponse } from "./item.ts";

const item: ApprovalItemResponse = {
  id: "s1:1",
  sessionId: "s1",
  sessionName: "api",
  kind: "permission",
  createdAt: 1,
  frame: "f",
  takesReason: true,
};

function open(onSend = vi.fn(async () => true)) {
  const { container, user } = show(
    <article data-card tabIndex={-1} onKeyDown={pressOwnKey}>
      <DenyWithReason item={item} busy={false} onSend={onSend} />
    </article>,
  );
  container.querySelector<HTMLElement>("[data-card]")?.focus();
  const find = (id: string) => container.querySelector<HTMLElement>(`[data-testid="${id}"]`);
  return { container, user, find, onSend };
}

test("the key W opens the field, and Ctrl+Enter sends what it holds", async () => {
  const { container, user, find, onSend } = open();
  expect(await listViolations(container)).toEqual([]);
  await user.keyboard("w");
  expect(document.activeElement).toBe(find("approval-reason"));
  await user.keyboard("{Control>}{Enter}{/Control}");
  expect(onSend).not.toHaveBeenCalled();
  await user.keyboard("use mv w{Control>}{Enter}{/Control}");
  expect(onSend).toHaveBeenCalledWith("use mv w");
  expect(await listViolations(container)).toEqual([]);
});

test("Escape closes the field alone, and gives the focus back", async () => {
  const { user, find } = open();
  const outside = vi.fn();
  document.addEventListener("keydown", outside);
  await user.keyboard("w");
  outside.mockReset();
  await user.keyboard("{Escape}");
  document.removeEventListener("keydown", outside);
  expect(outside).not.toHaveBeenCalled();
  expect(find("approval-reason")).toBeNull();
  expect(document.activeElement).toBe(find("approval-why"));
});

test("a reason that was not taken stays in its field", async () => {
  const { user, find } = open(vi.fn(async () => false));
  await user.keyboard("wno");
  find("approval-reason-send")?.click();
  await vi.waitFor(() => expect(find("approval-reason")).toHaveProperty("value", "no"));
});
