/** What the sessions did since they were looked at, at the top of the fleet. */
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { onServerEvent } from "../../api/stream/events.ts";
import type { AwayResponse, AwaySessionResponse } from "../../api/types.ts";
import { formatAgo } from "../../lib/ago.ts";
import { plural } from "../../lib/format.ts";
import { table } from "../../lib/table.ts";
import { showError } from "../../store/toasts.ts";
import { Button } from "../../ui/Button.tsx";
import { select } from "../../ui/pages/select.ts";
import { useNow } from "../../ui/useNow.ts";
import "./away.css";

/** So many stand in the block; the others come with a press. */
const FEW = 3;

const CHECKS = table({ green: "checks green", red: "checks red" });

const describeAnswers = (answered: number, byRule: number): string =>
  byRule > 0 ? `${plural(answered, "answer")}, ${byRule} by rules` : plural(answered, "answer");

type Numbers = Omit<AwaySessionResponse, "id" | "name">;

const parts = ({ turns, files, commits, checks, answered, byRule, cost }: Numbers) =>
  [
    turns > 0 && plural(turns, "turn"),
    files > 0 && plural(files, "file"),
    commits > 0 && plural(commits, "commit"),
    checks != null && (CHECKS[checks] ?? "checks without a result"),
    answered > 0 && describeAnswers(answered, byRule),
    cost >= 0.01 && `$${cost.toFixed(2)}`,
  ].filter((part): part is string => part !== false);

export const describeAway = (numbers: Numbers): string => parts(numbers).join(" · ");

/** All of them in one line. */
export function sumAway(listed: readonly AwaySessionResponse[]): string {
  const sum = (name: "turns" | "files" | "commits" | "answered" | "byRule" | "cost") =>
    listed.reduce((total, each) => total + each[name], 0);
  return describeAway({
    since: 0,
    isBusy: false,
    turns: sum("turns"),
    files: sum("files"),
    commits: sum("commits"),
    answered: sum("answered"),
    byRule: sum("byRule"),
    cost: sum("cost"),
  });
}

function Line({ each, now }: { each: AwaySessionResponse; now: number }) {
  return (
    <li>
      <button type="button" class="away-session" onClick={() => select(each.id)} data-testid="away-session">
        <span class="away-name">{each.name}</span>
        <span>{describeAway(each)}</span>
        <span class="dim">since {formatAgo(each.since, now)}</span>
      </button>
    </li>
  );
}

/** A turn that ends is counted; the block is read again, but not for each of many. */
const PAUSE_MS = 2_000;

const NOTHING: AwayResponse = { total: 0, sessions: [] };

export function AwayBlock() {
  const [away, setAway] = useState<AwayResponse>();
  const [all, setAll] = useState(false);
  const now = useNow();
  const read = async () => {
    try {
      setAway(await api.get("/api/away"));
    } catch (error) {
      setAway((known) => known ?? NOTHING);
      showError("Couldn't load what happened while you were away", error);
    }
  };
  useEffect(() => {
    void read();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const soon = () => (timer ??= setTimeout(() => ((timer = undefined), void read()), PAUSE_MS));
    const ends = [
      onServerEvent("session:stop", soon),
      onServerEvent("approval:resolved", soon),
      onServerEvent("approval:byRule", soon),
      onServerEvent("check:finished", soon),
    ];
    return () => {
      clearTimeout(timer);
      ends.forEach((end) => end());
    };
  }, []);
  if (!away) return <div class="away-waiting" hidden />;
  if (away.sessions.length === 0) return null;
  const seen = async () => {
    try {
      await api.post("/api/away/seen");
      await read();
    } catch (error) {
      showError("Couldn't mark it as seen", error);
    }
  };
  const shown = all ? away.sessions : away.sessions.slice(0, FEW);
  const left = away.total - shown.length;
  return (
    <section class="away" aria-labelledby="away-head" data-testid="away">
      <h3 id="away-head">While you were away</h3>
      <p data-testid="away-sum">
        {plural(away.total, "session")}: {sumAway(away.sessions)}
      </p>
      <ul>
        {shown.map((each) => (
          <Line key={each.id} each={each} now={now} />
        ))}
      </ul>
      <div class="away-foot">
        {left > 0 && !all && (
          <Button small onClick={() => setAll(true)} testid="away-all">
            Show {left} more
          </Button>
        )}
        <Button small onClick={() => void seen()} testid="away-seen">
          Mark all as seen
        </Button>
      </div>
    </section>
  );
}
