/** When a job fires, with the next times of what is chosen. */
import { serviceZone } from "../../../store/state.ts";
import { DayField } from "./DayField.tsx";
import { UNITS, type Unit } from "./draft.ts";
import { examples } from "../jobs/expression.ts";
import type { ScheduleType } from "../jobs/job.ts";
import { PreviewList } from "./PreviewList.tsx";
import type { FieldName } from "./problems.ts";
import { Row } from "./Row.tsx";
import { Segments } from "./Segments.tsx";
import type { EditorState } from "./useEditor.ts";

const KINDS: readonly [ScheduleType, string][] = [
  ["once", "Once"],
  ["interval", "Every…"],
  ["daily", "Daily"],
  ["weekly", "Weekly"],
  ["cron", "Cron"],
];

interface Part {
  state: EditorState;
}

interface TimeProps {
  name: FieldName;
  type: "time" | "datetime-local";
  label: string;
  value: string;
  problem: string | undefined;
  onInput: (value: string) => void;
}

function TimeField({ name, type, label, value, problem, onInput }: TimeProps) {
  return (
    <Row name={name} label={label} hint={`in ${serviceZone.value}`} problem={problem}>
      {(tied) => (
        <input
          {...tied}
          type={type}
          class="field short"
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Row>
  );
}

function IntervalField({ state: { draft, set, problems } }: Part) {
  return (
    <Row name="intervalMinutes" label="Every" problem={problems.intervalMinutes}>
      {(tied) => (
        <span class="interval">
          <input
            {...tied}
            type="number"
            inputMode="numeric"
            min={1}
            class="field"
            value={draft.every}
            onInput={(event) => set({ every: event.currentTarget.value })}
          />
          <select
            class="field"
            aria-label="Unit"
            value={draft.unit}
            onChange={(event) => set({ unit: event.currentTarget.value as Unit })}
            data-testid="job-unit"
          >
            {Object.keys(UNITS).map((unit) => (
              <option key={unit} value={unit}>
                {unit}
              </option>
            ))}
          </select>
        </span>
      )}
    </Row>
  );
}

function Examples({ onChoose }: { onChoose: (expression: string) => void }) {
  return (
    <div class="chips" role="group" aria-label="Examples">
      {examples.map(([expression, words]) => (
        <button
          type="button"
          class="chip"
          key={expression}
          title={words}
          onClick={() => onChoose(expression)}
        >
          <code>{expression}</code> {words}
        </button>
      ))}
    </div>
  );
}

function ExpressionField({ state: { draft, set, problems, preview } }: Part) {
  return (
    <Row
      name="cronExpression"
      label="Expression"
      hint="minute, hour, day, month, weekday"
      problem={problems.cronExpression}
      after={
        <>
          <p class="explanation dim" aria-live="polite" data-testid="cron-explanation">
            {preview.explanation}
          </p>
          <Examples onChoose={(cronExpression) => set({ cronExpression })} />
        </>
      }
    >
      {(tied) => (
        <input
          {...tied}
          class="field code"
          value={draft.cronExpression}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          onInput={(event) => set({ cronExpression: event.currentTarget.value })}
        />
      )}
    </Row>
  );
}

function KindFields({ state }: Part) {
  const { draft, set, problems } = state;
  const time = (name: "dailyTime" | "weeklyTime") => (
    <TimeField
      name={name}
      type="time"
      label="At"
      value={draft[name]}
      problem={problems[name]}
      onInput={(value) => set({ [name]: value })}
    />
  );
  switch (draft.scheduleType) {
    case "once":
      return (
        <TimeField
          name="runAt"
          type="datetime-local"
          label="At"
          value={draft.runAt}
          problem={problems.runAt}
          onInput={(runAt) => set({ runAt })}
        />
      );
    case "interval":
      return <IntervalField state={state} />;
    case "daily":
      return time("dailyTime");
    case "weekly":
      return (
        <>
          <DayField
            days={draft.weeklyDays}
            problem={problems.weeklyDays}
            onChange={(weeklyDays) => set({ weeklyDays })}
          />
          {time("weeklyTime")}
        </>
      );
    case "cron":
      return <ExpressionField state={state} />;
  }
}

export function ScheduleFields({ state }: Part) {
  return (
    <fieldset class="form-group">
      <legend>Schedule</legend>
      <Segments
        label="Runs"
        choices={KINDS}
        value={state.draft.scheduleType}
        testid="kind"
        onChange={(scheduleType) => state.set({ scheduleType })}
      />
      <KindFields state={state} />
      <PreviewList preview={state.preview} once={state.draft.scheduleType === "once"} />
    </fieldset>
  );
}
