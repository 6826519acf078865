import { Icon, type IconName } from "../../ui/Icon.tsx";
import type { Result, Tone } from "./jobs/texts.ts";

const MARKS: Record<Exclude<Tone, "busy">, IconName> = {
  good: "check",
  bad: "alert",
  warn: "alert",
  plain: "skip",
};

/** How a run went: a mark, its word, and why. */
export function Outcome({ result }: { result: Result }) {
  const { tone, word, reason } = result;
  return (
    <span class="outcome" data-tone={tone}>
      {tone === "busy" ? <span class="spinner" /> : <Icon name={MARKS[tone]} size={14} />}
      <span>
        {word}
        {reason && <span class="outcome-reason">: {reason}</span>}
      </span>
    </span>
  );
}
