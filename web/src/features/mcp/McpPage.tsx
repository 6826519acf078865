/** MCP servers that one agent has, and the others would get. */
import { Button } from "../../ui/Button.tsx";
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { readSettings, writeSettings } from "../../api/calls.ts";
import { api } from "../../api/client.ts";
import { ApiError, getErrorText } from "../../api/errors.ts";
import type { Sync, Target } from "../../api/types.ts";
import { resource, useResource } from "../../store/resource.ts";
import { Icon, type IconName } from "../../ui/Icon.tsx";
import {
  type Status,
  explainStatus,
  STATUS_WORDS,
  countAdditions,
  sortTargets,
  listNotes,
  summarizeSync,
} from "./texts.ts";
import { Problem } from "../../ui/Problem.tsx";
import "./mcp.css";

interface Known {
  /** The feature is on. */
  enabled: boolean;
  result?: Sync;
}

/** Why the page is not for this user. */
const refused = signal("");

async function look(): Promise<Known> {
  const enabled = (await readSettings()).mcpSyncEnabled === true;
  return enabled ? { enabled, result: await api.get("/api/mcp-sync") } : { enabled };
}

const sync = resource<Known>(look, ["mcp:synced"], {
  failed: (error) => {
    if (!(error instanceof ApiError && error.status === 403)) return getErrorText(error);
    refused.value = getErrorText(error);
    return "";
  },
  // Somebody else's sync: what is shown is no longer so.
  apply: (known, data) => ({ ...known, result: data as Sync }),
});

const applying = signal(false);

/** What a sync did is shown, and not what the next one would do. */
async function apply(): Promise<void> {
  applying.value = true;
  sync.trouble.value = "";
  try {
    sync.data.value = { enabled: true, result: await api.post("/api/mcp-sync") };
  } catch (error) {
    sync.trouble.value = getErrorText(error);
  } finally {
    applying.value = false;
  }
}

function useSync() {
  const { enabled, result } = useResource(sync) ?? {};
  useEffect(() => () => void (refused.value = ""), []);
  return {
    enabled,
    result,
    busy: sync.busy.value || applying.value,
    refused: refused.value,
    problem: sync.trouble.value,
    look: () => sync.attempt(),
    apply,
    enable: () => sync.attempt(() => writeSettings({ mcpSyncEnabled: true })),
  };
}

type SyncPage = ReturnType<typeof useSync>;

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

function TargetRow({ target, applied }: { target: Target; applied: boolean }) {
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

function Off({ page }: { page: SyncPage }) {
  return (
    <div class="mcp-off" data-testid="mcp-off">
      <p>MCP server sync is off.</p>
      <small>
        It reads every agent's configuration file and adds the servers that other agents have, with their
        keys. It never edits or removes a server, and shows you its changes first.
      </small>
      <Button primary disabled={page.busy} onClick={() => void page.enable()} testid="mcp-enable">
        Turn on
      </Button>
    </div>
  );
}

function Result({ result }: { result: Sync }) {
  const { good, text } = summarizeSync(result);
  return (
    <>
      <p class="mcp-verdict" role="status" data-good={good} data-testid="mcp-verdict">
        <Icon name={good ? "check" : countAdditions(result) > 0 ? "plus" : "alert"} /> <span>{text}</span>
      </p>
      <ul class="mcp-targets">
        {sortTargets(result.targets).map((target) => (
          <TargetRow key={target.id} target={target} applied={result.applied} />
        ))}
      </ul>
      {listNotes(result).map(([title, hint, names]) => (
        <section key={title} class="mcp-note" data-testid="mcp-note">
          <h3>
            {title} <small>{hint}</small>
          </h3>
          <p class="mcp-names">
            {names.map((name) => (
              <bdi key={name} class="mcp-name">
                {name}
              </bdi>
            ))}
          </p>
        </section>
      ))}
    </>
  );
}

function Foot({ page }: { page: SyncPage }) {
  const { result, busy } = page;
  const waiting = result !== undefined && !result.applied && countAdditions(result) > 0;
  return (
    <footer class="mcp-foot">
      <Button disabled={busy} onClick={() => void page.look()} testid="mcp-look">
        <Icon name="refresh" size={16} /> Check again
      </Button>
      <Button primary disabled={busy || !waiting} onClick={() => void page.apply()} testid="mcp-apply">
        {busy ? <span class="spinner" /> : <Icon name="plus" size={16} />} Add servers
      </Button>
    </footer>
  );
}

export function McpPage() {
  const page = useSync();
  if (page.refused !== "") {
    return (
      <div class="mcp-off" data-testid="mcp-refused">
        <Icon name="alert" size={28} />
        <p>Admins only.</p>
        <small>{page.refused}</small>
      </div>
    );
  }
  return (
    <div class="mcp" aria-busy={page.busy} data-testid="mcp">
      <Problem text={page.problem} testid="mcp-problem" />
      {page.enabled === false && <Off page={page} />}
      {page.enabled !== false && page.result && <Result result={page.result} />}
      {page.enabled !== false && <Foot page={page} />}
    </div>
  );
}
