import { browserZone, offsetAt } from "../../lib/zone.ts";
import { formatMoment, formatShortMoment, formatTime } from "./jobs/texts.ts";

interface Props {
  at: number;
  now: number;
  zone: string;
  /** Words before the moment: how far it is. */
  before?: string;
  /** Show this browser's time too, where its clock is another one. */
  both?: boolean;
}

/** A moment of the service's clock. */
export function Moment({ at, now, zone, before, both = false }: Props) {
  const own = browserZone();
  const apart = both && offsetAt(at, own) !== offsetAt(at, zone);
  return (
    <time dateTime={new Date(at).toISOString()} title={`${formatMoment(at, now, zone)} (${zone})`}>
      {before && `${before}, `}
      {formatShortMoment(at, now, zone)}
      {apart && <small class="own-time"> {formatTime(at, own)} yours</small>}
    </time>
  );
}
