/** Agents that are kept going until their time is over. */
import { PlainInput } from "../../ui/PlainInput.tsx";
import { Button } from "../../ui/Button.tsx";
import { SheetForm } from "../../ui/SheetForm.tsx";
import { useForm } from "../../ui/useForm.ts";
import { Field } from "../settings/fields.tsx";
import { begin, runs, stop, lastLine, describeStatus, statusTone, describeTime } from "./state.ts";
import type { TimedRunResponse } from "../../api/types.ts";
import { openPage } from "../../ui/pages/registry.ts";
import { plural, shortenPath } from "../../lib/format.ts";
import { select } from "../../ui/pages/select.ts";
import { useResource } from "../../store/resource.ts";
import { sessionList } from "../../store/state.ts";
import { Icon } from "../../ui/Icon.tsx";
import { ListPage } from "../../ui/ListPage.tsx";
import { useNow } from "../../ui/useNow.ts";

const EMPTY = { prompt: "", folder: "", minutes: "60" };

export function NewRun({ onClose }: { onClose: () => void }) {
  const { draft, set, submit, problem, busy } = useForm(EMPTY, async ({ prompt, folder, minutes }) => {
    const workingDir = folder.trim();
    await begin({ prompt, durationMinutes: Number(minutes), ...(workingDir !== "" && { workingDir }) });
    onClose();
  });
  return (
    <SheetForm
      label="New keep-going run"
      testid="run"
      onSubmit={submit}
      onClose={onClose}
      problem={problem}
      busy={busy}
      action="Start"
      actionTestid="run-begin"
    >
      <Field label="Prompt" hint="what the agent should do">
        <textarea
          class="field"
          rows={3}
          required
          value={draft.prompt}
          onInput={(event) => set({ prompt: event.currentTarget.value })}
          data-testid="run-prompt"
        />
      </Field>
      <Field label="Folder" hint="on the server">
        <PlainInput
          value={draft.folder}
          placeholder="default folder"
          onText={(text) => set({ folder: text })}
          testid="run-folder"
        />
      </Field>
      <Field label="Minutes" hint="1 to 14400">
        <input
          class="field"
          type="number"
          min={1}
          max={14_400}
          required
          value={draft.minutes}
          onInput={(event) => set({ minutes: event.currentTarget.value })}
          data-testid="run-minutes"
        />
      </Field>
    </SheetForm>
  );
}

function Visit({ run }: { run: TimedRunResponse }) {
  const session = run.sessionId === null ? undefined : sessionList.value.byId.get(run.sessionId);
  if (!session) return null;
  const visit = () => {
    select(session.id);
    openPage.value = undefined;
  };
  return (
    <Button small onClick={visit} label={`Show ${session.name}`}>
      Show
    </Button>
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
          <Button small label={`Stop ${run.prompt}`} onClick={() => void stop(run)} testid="run-stop">
            Stop
          </Button>
        )}
      </span>
    </li>
  );
}

export function TimedRunsPage() {
  const now = useNow();
  return (
    <ListPage
      testid="timed-runs"
      summary="Keeps telling an agent to continue until the time is up."
      add={{ label: "New run", testid: "new-run", form: (close) => <NewRun onClose={close} /> }}
      items={useResource(runs)}
      problem={runs.trouble.value}
      empty="No runs yet. Start one to keep an agent at a task for hours."
      row={(run) => <Row key={run.id} run={run} now={now} />}
    />
  );
}
