/** Who did what from where, the newest first. */
import { PlainInput } from "../../ui/PlainInput.tsx";
import { Button } from "../../ui/Button.tsx";
import { useEffect, useState } from "preact/hooks";
import { formatDate, formatTimestamp } from "../../lib/ago.ts";
import { sessionList } from "../../store/state.ts";
import { Problem } from "../../ui/Problem.tsx";
import { useNow } from "../../ui/useNow.ts";
import type { AuditEntryResponse } from "../../api/types.ts";
import {
  KINDS,
  NO_FILTER,
  ask,
  entries,
  filter,
  next,
  openAudit,
  readFirst,
  reading,
  readMore,
  trouble,
} from "./state.ts";
import {
  describeAction,
  describeActor,
  describeDetails,
  isWorded,
  markOf,
  describeMethod,
  describeTarget,
} from "./texts.ts";
import "../../ui/styles/records.css";
import "./audit.css";

/** Typing a name asks once, when the typing rests. */
const REST_MS = 300;

const nameOf = (id: string): string | undefined => sessionList.value.byId.get(id)?.name;

function Row({ entry, now }: { entry: AuditEntryResponse; now: number }) {
  const target = describeTarget(entry, nameOf);
  const more = [describeMethod(entry.method), entry.address, ...describeDetails(entry)];
  return (
    <li class="entry" data-mark={markOf(entry)} data-testid="entry" data-action={entry.action}>
      <time class="entry-time" dateTime={new Date(entry.at).toISOString()} title={formatDate(entry.at)}>
        {formatTimestamp(entry.at, now)}
      </time>
      <div class="entry-main">
        <span>
          <strong>{describeActor(entry)}</strong>{" "}
          {isWorded(entry.action) ? describeAction(entry.action) : <code>{entry.action}</code>}
          {target !== "" && (
            <>
              {" "}
              <span class="entry-target" title={entry.target}>
                {target}
              </span>
            </>
          )}
        </span>
        <small>{more.filter((part) => part !== "").join(" · ")}</small>
      </div>
    </li>
  );
}

function Filters() {
  const [actor, setActor] = useState(filter.peek().actor);
  useEffect(() => {
    if (actor === filter.peek().actor) return;
    const timer = setTimeout(() => ask({ actor }), REST_MS);
    return () => clearTimeout(timer);
  }, [actor]);
  return (
    <div class="audit-filters" role="search">
      <select
        class="field"
        aria-label="What"
        value={filter.value.kind}
        onChange={(event) => ask({ kind: event.currentTarget.value })}
        data-testid="audit-kind"
      >
        <option value="">All events</option>
        {KINDS.map(({ id, label }) => (
          <option key={id} value={id}>
            {label}
          </option>
        ))}
      </select>
      <PlainInput
        aria-label="Who"
        placeholder="user name"
        value={actor}
        onText={setActor}
        testid="audit-actor"
      />
      <Button onClick={() => void readFirst()} testid="audit-refresh">
        Refresh
      </Button>
    </div>
  );
}

export function AuditPage() {
  const now = useNow();
  useEffect(openAudit, []);
  const list = entries.value;
  const filtered = filter.value.kind !== NO_FILTER.kind || filter.value.actor !== NO_FILTER.actor;
  return (
    <div class="records-page audit" data-testid="audit" aria-busy={reading.value}>
      <Filters />
      <Problem text={trouble.value} />
      {list.length === 0 && !reading.value && (
        <p class="records-none dim">{filtered ? "No entries match." : "No entries yet."}</p>
      )}
      <ol class="entries" data-testid="entries">
        {list.map((entry) => (
          <Row key={entry.seq} entry={entry} now={now} />
        ))}
      </ol>
      {next.value !== undefined && (
        <Button disabled={reading.value} onClick={() => void readMore()} testid="audit-more">
          Older
        </Button>
      )}
    </div>
  );
}
