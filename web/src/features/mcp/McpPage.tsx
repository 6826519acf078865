/** MCP servers that one agent has, and the others would get. */
import { Icon } from "../../ui/Icon.tsx";
import { Problem } from "../../ui/Problem.tsx";
import "./mcp.css";
import { TargetRow } from "./TargetRow.tsx";
import type { Sync } from "../../api/types.ts";
import { type SyncPage, useSync } from "./useSync.ts";
import { countAdditions, sortTargets, listNotes, summarizeSync } from "./texts.ts";

function Off({ page }: { page: SyncPage }) {
  return (
    <div class="mcp-off" data-testid="mcp-off">
      <p>MCP server sync is off.</p>
      <small>
        It reads every agent's configuration file and adds the servers that other agents have, with their
        keys. It never edits or removes a server, and shows you its changes first.
      </small>
      <button
        type="button"
        class="button primary"
        disabled={page.busy}
        onClick={() => void page.enable()}
        data-testid="mcp-enable"
      >
        Turn on
      </button>
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
      <button
        type="button"
        class="button"
        disabled={busy}
        onClick={() => void page.look()}
        data-testid="mcp-look"
      >
        <Icon name="refresh" size={16} /> Check again
      </button>
      <button
        type="button"
        class="button primary"
        disabled={busy || !waiting}
        onClick={() => void page.apply()}
        data-testid="mcp-apply"
      >
        {busy ? <span class="spinner" /> : <Icon name="plus" size={16} />} Add servers
      </button>
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
