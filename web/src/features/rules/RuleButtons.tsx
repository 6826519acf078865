/** Beside the answers to a permission: the ways to give the same answer from now on. */
import { useState } from "preact/hooks";
import type { ApprovalItemResponse, ApprovalRuleBody } from "../../api/types.ts";
import { sessionList } from "../../store/state.ts";
import { Button } from "../../ui/Button.tsx";
import "./rules.css";
import { addRule } from "./state.ts";

const HOUR_MS = 60 * 60 * 1000;

type Way = Pick<ApprovalRuleBody, "scope" | "expiresAt"> & { label: string; testid: string };

function listWays(item: ApprovalItemResponse): Way[] {
  const caseName = sessionList.value.byId.get(item.sessionId)?.caseName ?? undefined;
  const session = { sessionId: item.sessionId };
  const folder =
    caseName === undefined
      ? []
      : [{ label: "Always in this folder", scope: { caseName }, testid: "rule-folder" }];
  return [
    ...folder,
    { label: "For this session", scope: session, testid: "rule-session" },
    {
      label: "For an hour",
      scope: caseName === undefined ? session : { caseName },
      expiresAt: Date.now() + HOUR_MS,
      testid: "rule-hour",
    },
  ];
}

/** Nothing for what no rule should allow: it is risky, not known completely, or no permission. */
export function RuleButtons({ item, busy }: { item: ApprovalItemResponse; busy: boolean }) {
  const [sending, setSending] = useState(false);
  const { ruleMatch, toolName } = item;
  if (ruleMatch === undefined || toolName === undefined) return null;
  const add = async ({ scope, expiresAt }: Way) => {
    setSending(true);
    const tool = ruleMatch.mcp === undefined ? toolName : "mcp";
    // The service answers this dialog too, by the new rule.
    await addRule({
      scope,
      tool,
      match: ruleMatch,
      action: "allow",
      ...(expiresAt === undefined ? {} : { expiresAt }),
    });
    setSending(false);
  };
  return (
    <div class="rule-buttons" role="group" aria-label="Allow without asking" data-testid="rule-buttons">
      <small>Allow without asking:</small>
      {listWays(item).map((way) => (
        <Button
          key={way.testid}
          small
          disabled={busy || sending}
          onClick={() => void add(way)}
          testid={way.testid}
        >
          {way.label}
        </Button>
      ))}
    </div>
  );
}
