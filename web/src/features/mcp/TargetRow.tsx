/** One agent's file: what it has, what it gets, what it cannot be told. */
import { Icon, type IconName } from "../../ui/Icon.tsx";
import type { Target } from "../../api/types.ts";
import type { Status } from "./texts.ts";
import { explainStatus, STATUS_WORDS } from "./texts.ts";

const MARKS: Record<Status, IconName> = {
  ok: "check",
  absent: "close",
  skipped: "skip",
  unreadable: "alert",
  failed: "alert",
};

function Names({ title, names, kind }: { title: string; names: string[]; kind: string }) {
  if (names.length === 0) return null;
  return (
    <p class="mcp-names" data-kind={kind}>
      <small>{title}</small>
      {names.map((name) => (
        <bdi key={name} class="mcp-name">
          {name}
        </bdi>
      ))}
    </p>
  );
}

export function TargetRow({ target, applied }: { target: Target; applied: boolean }) {
  const { status, added } = target;
  const reason = explainStatus(target);
  const gets = added.length > 0;
  return (
    <li class="mcp-target" data-status={status} data-testid="mcp-target" data-target={target.id}>
      <span class="mcp-mark">
        <Icon name={status === "ok" && gets && !applied ? "plus" : MARKS[status]} size={16} />
      </span>
      <span class="mcp-label">{target.label}</span>
      <span class="mcp-state">{STATUS_WORDS[status] || (gets ? "" : "complete")}</span>
      <div class="mcp-more">
        <bdi class="mcp-file">{target.file}</bdi>
        {reason !== "" && <p class="mcp-reason">{reason}</p>}
        <Names title={applied ? "Added" : "Will be added"} names={added} kind="added" />
        <Names title="Has" names={target.servers} kind="has" />
        <Names title="Not supported by this agent" names={target.skipped} kind="skipped" />
      </div>
    </li>
  );
}
