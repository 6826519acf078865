import { useId } from "preact/hooks";
import { DAY_NAMES, shortDay, WEEK } from "../jobs/days.ts";
import { Wrong } from "./Row.tsx";

interface Props {
  days: readonly number[];
  problem: string | undefined;
  onChange: (days: number[]) => void;
}

const toggled = (days: readonly number[], day: number): number[] =>
  days.includes(day) ? days.filter((other) => other !== day) : [...days, day].toSorted((a, b) => a - b);

/** The days of the week, each on or off. */
export function DayField({ days, problem, onChange }: Props) {
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
