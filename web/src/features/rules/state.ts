/** Rules that answer agents, and what was answered lately (protocol-approval-rules). */
import { api } from "../../api/client.ts";
import type { AnsweredRequestResponse, ApprovalRuleBody, ApprovalRuleResponse } from "../../api/types.ts";
import { resource } from "../../store/resource.ts";
import { showError, showToast } from "../../store/toasts.ts";

/** After these another answer is in the history. */
const ANSWERED = ["approval:resolved", "approval:byRule"] as const;

export const rules = resource(() => api.get("/api/approval-rules"), ANSWERED);

/** What the agents asked last and how it was answered, for the conversation; kept between its views. */
export const answers = resource(
  async () => (await api.get("/api/approval-rules/answers")).answers,
  ANSWERED,
  { keep: true, failed: () => "" },
);

/** @throws ApiError as the service refuses it. */
export async function createRule(body: ApprovalRuleBody): Promise<ApprovalRuleResponse> {
  const { rule } = await api.post("/api/approval-rules", { body });
  return rule;
}

/** Add a rule by one press of a button, and tell what came of it. */
export async function addRule(body: ApprovalRuleBody): Promise<boolean> {
  try {
    const rule = await createRule(body);
    showToast("good", "Rule added", rule.name);
    return true;
  } catch (error) {
    showError("Couldn't add the rule", error);
    return false;
  }
}

export async function deleteRule(rule: ApprovalRuleResponse): Promise<void> {
  try {
    await api.delete("/api/approval-rules/{rule}", { path: { rule: rule.id } });
    showToast("good", `Rule “${rule.name}” deleted`);
  } catch (error) {
    showError("Couldn't delete the rule", error);
  }
  await rules.refresh();
}

/** An answer comes after the call was written down, within this time of it. */
const LATEST_MS = 12 * 60 * 60 * 1000;
const EARLIEST_MS = 10_000;

/**
 * @param subject the command, path or address of a call.
 * @param at when the call was made; null: unknown.
 * @returns the name of the rule that allowed it.
 */
export function findRuleOf(
  known: readonly AnsweredRequestResponse[],
  sessionId: string | undefined,
  subject: unknown,
  at: number | null,
): string | undefined {
  if (at === null || typeof subject !== "string") return undefined;
  const near = known
    .filter((each) => each.sessionId === sessionId && each.subject === subject)
    .filter((each) => each.at > at - EARLIEST_MS && each.at < at + LATEST_MS)
    .toSorted((one, other) => Math.abs(one.at - at) - Math.abs(other.at - at))[0];
  return near?.answer === "allowed" ? near.rule : undefined;
}
