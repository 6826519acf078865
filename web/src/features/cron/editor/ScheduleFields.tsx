/** When a job fires, with the next times of what is chosen. */
import { Select } from "../../../ui/Select.tsx";
import { serviceZone } from "../../../store/state.ts";
import { Icon } from "../../../ui/Icon.tsx";
import { useNow } from "../../../ui/useNow.ts";
import type { Preview } from "./preview.ts";
import { describeSentence, formatAhead, formatMoment, formatOwnTime } from "../jobs/texts.ts";
import { useId } from "preact/hooks";
import { DAY_NAMES, shortDay, WEEK, type ScheduleType } from "../jobs/job.ts";
import { Wrong, Row, Choice } from "./rows.tsx";
import { scheduleOf, UNITS, type Unit } from "./draft.ts";
import { examples } from "../jobs/expression.ts";
import { type FieldName, SCHEDULE_FIELDS, validateDraft } from "./problems.ts";
import { browserZone } from "../../../lib/zone.ts";
import { offsetAt } from "../../../lib/zonetime.ts";
import type { EditorState } from "./useEditor.ts";

function Fires({ fires }: { fires: readonly number[] }) {
  const now = useNow();
  const zone = serviceZone.value;
  const own = browserZone();
  return (
    <ol>
      {fires.map((at) => (
        <li key={at} data-testid="fire">
          <span>
            <time dateTime={new Date(at).toISOString()}>{formatMoment(at, now, zone)}</time>
            {offsetAt(at, own) !== offsetAt(at, zone) && (
              <small class="own-time">{formatOwnTime(at, zone, own)}</small>
            )}
          </span>
          <small>{formatAhead(at, now)}</small>
        </li>
      ))}
    </ol>
  );
}

interface PreviewListProps {
  preview: Preview;
  once: boolean;
  /** The schedule in words; absent while it is incomplete. */
  sentence: string | undefined;
}

/** The next fires of what is in the editor, read aloud when they change. */
function PreviewList({ preview, once, sentence }: PreviewListProps) {
  const { fires, refusals, current } = preview;
  const general = refusals.find((refusal) => refusal.field === undefined)?.text ?? "";
  return (
    <section class="fires" aria-live="polite" aria-busy={!current} data-testid="preview">
      {sentence !== undefined && (
        <p class="sentence" data-testid="schedule-sentence">
          {sentence}
        </p>
      )}
      <h4>
        {once ? "Runs" : "Next runs"} <small>{serviceZone.value}</small>
      </h4>
      {fires.length > 0 && <Fires fires={fires} />}
      {general !== "" && (
        <p class="problem">
          <Icon name="alert" /> {general}
        </p>
      )}
      {fires.length === 0 && general === "" && (
        <p class="dim">
          {refusals.length > 0
            ? "Fix the marked fields to see the next runs."
            : "Complete the schedule to see the next runs."}
        </p>
      )}
    </section>
  );
}

interface Props {
  days: readonly number[];
  problem: string | undefined;
  onChange: (days: number[]) => void;
}

const toggled = (days: readonly number[], day: number): number[] =>
  days.includes(day) ? days.filter((other) => other !== day) : [...days, day].toSorted((a, b) => a - b);

/** The days of the week, each on or off. */
function DayField({ days, problem, onChange }: Props) {
  const id = useId();
  return (
    <div class="labelled form-row" data-testid="job-weeklyDays">
      <span id={id}>On</span>
      <div class="days" role="group" aria-labelledby={id}>
        {WEEK.map((day) => (
          <label key={day} title={DAY_NAMES[day]}>
            <input
              type="checkbox"
              checked={days.includes(day)}
              aria-label={DAY_NAMES[day]}
              aria-invalid={problem !== undefined}
              aria-describedby={problem === undefined ? undefined : `${id}-wrong`}
              onChange={() => onChange(toggled(days, day))}
              data-testid={`day-${day}`}
            />
            <span aria-hidden="true">{shortDay(day)}</span>
          </label>
        ))}
      </div>
      {problem !== undefined && <Wrong id={`${id}-wrong`} name="weeklyDays" text={problem} />}
    </div>
  );
}

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
          <Select
            aria-label="Unit"
            value={draft.unit}
            testid="job-unit"
            choices={(Object.keys(UNITS) as Unit[]).map((unit) => [unit, unit] as const)}
            onChoose={(chosen) => set({ unit: chosen })}
          />
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

function useSentence({ draft }: EditorState): string | undefined {
  const now = useNow();
  const zone = serviceZone.value;
  if (SCHEDULE_FIELDS.some((field) => field in validateDraft(draft, zone, now))) return undefined;
  return describeSentence(scheduleOf(draft, zone), now, zone);
}

export function ScheduleFields({ state }: Part) {
  const sentence = useSentence(state);
  return (
    <fieldset class="form-group">
      <legend>Schedule</legend>
      <Choice
        label="Runs"
        choices={KINDS}
        value={state.draft.scheduleType}
        testid="kind"
        onChange={(scheduleType) => state.set({ scheduleType })}
      />
      <KindFields state={state} />
      <PreviewList preview={state.preview} once={state.draft.scheduleType === "once"} sentence={sentence} />
    </fieldset>
  );
}
