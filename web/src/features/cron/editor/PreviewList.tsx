import { serviceZone } from "../../../store/state.ts";
import { Icon } from "../../../ui/Icon.tsx";
import { useNow } from "../../../ui/useNow.ts";
import type { Preview } from "./preview.ts";
import { formatAhead, formatMoment } from "../jobs/texts.ts";

function Fires({ fires }: { fires: readonly number[] }) {
  const now = useNow();
  const zone = serviceZone.value;
  return (
    <ol>
      {fires.map((at) => (
        <li key={at} data-testid="fire">
          <time dateTime={new Date(at).toISOString()}>{formatMoment(at, now, zone)}</time>
          <small>{formatAhead(at, now)}</small>
        </li>
      ))}
    </ol>
  );
}

interface Props {
  preview: Preview;
  once: boolean;
}

/** The next fires of what is in the editor, read aloud when they change. */
export function PreviewList({ preview, once }: Props) {
  const { fires, refusals, current } = preview;
  const general = refusals.find((refusal) => refusal.field === undefined)?.text ?? "";
  return (
    <section class="fires" aria-live="polite" aria-busy={!current} data-testid="preview">
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
