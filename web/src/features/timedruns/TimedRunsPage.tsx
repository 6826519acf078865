/** Agents that are kept going until their time is over. */
import { useEffect, useState } from "preact/hooks";
import type { TimedRunResponse } from "../../api/types.ts";
import { openPage } from "../../ui/pages/registry.ts";
import { plural, shortenPath } from "../../lib/format.ts";
import { select } from "../../ui/pages/select.ts";
import { sessionList } from "../../store/state.ts";
import { Icon } from "../../ui/Icon.tsx";
import { Problem } from "../../ui/Problem.tsx";
import { useReturnFocus } from "../../ui/useReturnFocus.ts";
import { useNow } from "../../ui/useNow.ts";
import "../../ui/styles/records.css";
import { NewRun } from "./NewRun.tsx";
import { openRuns, runs, stop, trouble } from "./state.ts";
import { lastLine, describeStatus, statusTone, describeTime } from "./texts.ts";

function Visit({ run }: { run: TimedRunResponse }) {
  const session = run.sessionId === null ? undefined : sessionList.value.byId.get(run.sessionId);
  if (!session) return null;
  const visit = () => {
    select(session.id);
    openPage.value = undefined;
  };
  return (
    <button type="button" class="button small" onClick={visit} aria-label={`Show ${session.name}`}>
      Show
    </button>
  );
}

function Row({ run, now }: { run: TimedRunResponse; now: number }) {
  return (
    <li class="record" data-off={run.status !== "running"} data-testid="timed-run">
      <span class="record-mark" aria-hidden="true">
        <Icon name="play" size={16} />
      </span>
      <div class="record-main">
        <span class="record-title">
          <strong>{run.prompt}</strong>
          <span class="tag" data-tone={statusTone(run)} data-testid="run-status">
            {describeStatus(run)}
          </span>
        </span>
        <small title={run.logs.join("\n")}>
          {describeTime(run, now)} · {plural(run.turns, "turn")} · {shortenPath(run.workingDir)}
        </small>
        <small>{lastLine(run)}</small>
      </div>
      <span class="setting-buttons">
        <Visit run={run} />
        {run.status === "running" && (
          <button
            type="button"
            class="button small"
            aria-label={`Stop ${run.prompt}`}
            onClick={() => void stop(run)}
            data-testid="run-stop"
          >
            Stop
          </button>
        )}
      </span>
    </li>
  );
}

export function TimedRunsPage() {
  const [creating, setCreating] = useState(false);
  const opener = useReturnFocus(creating);
  const now = useNow();
  useEffect(openRuns, []);
  const list = runs.value;
  return (
    <div class="records-page" data-testid="timed-runs">
      <div class="records-bar">
        <span class="dim">Keeps telling an agent to continue until the time is up.</span>
        {!creating && (
          <button
            ref={opener}
            type="button"
            class="button primary"
            onClick={() => setCreating(true)}
            data-testid="new-run"
          >
            <Icon name="plus" size={16} /> New run
          </button>
        )}
      </div>
      {creating && <NewRun onClose={() => setCreating(false)} />}
      <Problem text={trouble.value} />
      {list?.length === 0 && !creating && (
        <p class="records-none dim">No runs yet. Start one to keep an agent at a task for hours.</p>
      )}
      <ul class="records">
        {list?.map((run) => (
          <Row key={run.id} run={run} now={now} />
        ))}
      </ul>
    </div>
  );
}
