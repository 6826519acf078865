/** What the checks of a session printed in their last run, and the means to run or cancel them. */
import { useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import type { CheckResultResponse, CheckRunResponse, Session } from "../../api/types.ts";
import { useRead } from "../../store/resource.ts";
import { Button } from "../../ui/Button.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { Problem } from "../../ui/Problem.tsx";
import { CheckFile, fileOfSession } from "./CheckFile.tsx";
import { lastRuns, openResults } from "./state.ts";
import { cancelChecks, runChecks } from "./requests.ts";
import { describeFollowUp, describeState, formatOutcome, markOf } from "./texts.ts";
import "./checks.css";

function Result({ result }: { result: CheckResultResponse }) {
  const mark = markOf(result.state);
  const status = result.status === undefined || result.status === 0 ? "" : `, exit status ${result.status}`;
  const kept = result.kept ? ", no file of it changed" : "";
  return (
    <details open={mark === "bad"} data-testid="check-result">
      <summary>
        <span data-mark={mark}>{formatOutcome(result)}</span>{" "}
        <span class="dim">
          {describeState(result.state)}
          {status}
          {kept}
        </span>
      </summary>
      <p>
        <code>{result.command}</code>
      </p>
      {result.reason && <p class="dim">{result.reason}</p>}
      {result.output && (
        <pre class="check-output" tabIndex={0} aria-label={`Output of ${result.name}`}>
          {result.output}
        </pre>
      )}
    </details>
  );
}

function Run({ run }: { run: CheckRunResponse }) {
  const followed = describeFollowUp(run);
  return (
    <div class="check-results">
      <p role="status">
        The checks are {describeState(run.state)}. {followed} {run.reason && <span>{run.reason}</span>}
      </p>
      {run.results.map((each) => (
        <Result key={each.name} result={each} />
      ))}
    </div>
  );
}

export function Results({ session }: { session: Session }) {
  const { id } = session;
  const told = lastRuns.value.get(id);
  const [asked, setAsked] = useState(0);
  const { data, problem } = useRead(
    (signal) => api.get("/api/sessions/{id}/checks", { path: { id }, signal }),
    [id, told, asked],
  );
  const run = data?.runs[0];
  const act = async (call: (id: string) => Promise<void>) => {
    await call(id);
    setAsked((count) => count + 1);
  };
  const close = () => (openResults.value = undefined);
  return (
    <Dialog
      title={`Checks of ${session.name}`}
      onClose={close}
      class="check-dialog"
      testid="check-dialog"
      footer={
        data?.running ? (
          <Button onClick={() => void act(cancelChecks)} testid="check-cancel">
            Cancel the checks
          </Button>
        ) : (
          <Button
            primary
            disabled={!data || data.checks.length === 0}
            onClick={() => void act(runChecks)}
            testid="check-run"
          >
            Run all checks
          </Button>
        )
      }
    >
      <Problem text={problem} />
      {data && data.checks.length === 0 && (
        <p>This session's workspace has no checks. Add them to the workspace on the page Workspaces.</p>
      )}
      {data && data.checks.length > 0 && !run && <p>The checks have not run yet.</p>}
      {run && <Run run={run} />}
      {data && (
        <CheckFile
          place={fileOfSession(id)}
          of={`${id} ${told?.runId}`}
          overruled={data.checks.length > 0 && !data.fromFile}
          onChange={() => setAsked((count) => count + 1)}
        />
      )}
    </Dialog>
  );
}
