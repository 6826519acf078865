/** One program: what was found, what is needed, how to get it. */
import { copyText } from "../../ui/clipboard.ts";
import { Icon, type IconName } from "../../ui/Icon.tsx";
import { IconButton } from "../../ui/IconButton.tsx";
import { showError, showToast } from "../../store/toasts.ts";
import type { ToolResponse } from "../../api/types.ts";
import type { Status } from "./texts.ts";
import { STATUS_WORDS } from "./texts.ts";

const MARKS: Record<Status, IconName> = {
  ok: "check",
  missing: "close",
  outdated: "alert",
  skipped: "clock",
  error: "alert",
};

async function copyHint(hint: string): Promise<void> {
  if (await copyText(hint)) showToast("good", "Copied", hint);
  else showError("Couldn't copy", "Your browser blocked access to the clipboard.");
}

function Versions({ tool }: { tool: ToolResponse }) {
  return (
    <span class="tool-versions">
      {tool.version && <span class="tool-version">{tool.version}</span>}
      {tool.needed && (
        <small>
          {tool.status === "ok" ? "" : "needs "}
          {tool.needed} or newer
        </small>
      )}
    </span>
  );
}

function Hint({ hint, label }: { hint: string; label: string }) {
  return (
    <div class="tool-hint">
      <code>{hint}</code>
      <IconButton
        icon="copy"
        label={`Copy the install command for ${label}`}
        onClick={() => void copyHint(hint)}
        testid="doctor-copy"
      />
    </div>
  );
}

export function ToolRow({ tool }: { tool: ToolResponse }) {
  return (
    <li class="tool" data-status={tool.status} data-testid="doctor-tool" data-tool={tool.id}>
      <span class="tool-mark">
        <Icon name={MARKS[tool.status]} size={16} />
      </span>
      <span class="tool-name">
        <span>{tool.label}</span>
        {tool.required && <span class="badge">required</span>}
      </span>
      <span class="tool-state">
        <span class={tool.status === "ok" ? "sr-only" : "tool-status"}>{STATUS_WORDS[tool.status]}</span>
        {(tool.version || tool.needed) && <Versions tool={tool} />}
      </span>
      {(tool.reason || tool.path) && (
        <span class="tool-more">
          {tool.reason && <span>{tool.reason}</span>}
          {tool.path && <bdi>{tool.path}</bdi>}
        </span>
      )}
      {tool.installHint && <Hint hint={tool.installHint} label={tool.label} />}
    </li>
  );
}
