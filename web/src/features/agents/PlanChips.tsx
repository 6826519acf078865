/** How much of the plan's limits is used, where the person wants to see it. */
import { useNow } from "../../ui/useNow.ts";
import { listPlanChips, type PlanChip } from "./plan.ts";
import { planUsage, showPlan } from "./state.ts";
import { formatClockTime, formatTimeUntil } from "./times.ts";

function hintOf(chip: PlanChip, now: number): string {
  const used = `${chip.percent}% of your ${chip.name} used`;
  if (chip.resetAt === undefined) return used;
  return `${used}. Resets at ${formatClockTime(chip.resetAt, now)}, in ${formatTimeUntil(chip.resetAt, now)}.`;
}

function Chip({ chip, now }: { chip: PlanChip; now: number }) {
  const hint = hintOf(chip, now);
  return (
    <span
      class="plan-chip"
      data-level={chip.level}
      data-tip={hint}
      role="img"
      aria-label={hint}
      tabIndex={0}
      data-testid={`plan-${chip.id}`}
    >
      <span class="plan-id">{chip.id}</span>
      <span class="meter">
        <i style={{ width: `${chip.percent}%` }} />
      </span>
      <span class="plan-percent">{chip.percent}%</span>
    </span>
  );
}

export function PlanChips() {
  const now = useNow();
  const chips = showPlan.value ? listPlanChips(planUsage.value, now) : [];
  if (chips.length === 0) return null;
  return (
    <span class="plan-chips" role="group" aria-label="Plan usage">
      {chips.map((chip) => (
        <Chip key={chip.id} chip={chip} now={now} />
      ))}
    </span>
  );
}
