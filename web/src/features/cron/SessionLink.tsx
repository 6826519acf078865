import { getCurrentStatus } from "../agents/currentstatus.ts";
import { openPage } from "../../ui/pages/registry.ts";
import { writeRoute } from "../../ui/pages/route.ts";
import { select } from "../../ui/pages/select.ts";
import { StatusDot } from "../sessions/StatusDot.tsx";
import { sessionList } from "../../store/state.ts";
import type { RunResponse } from "./jobs/job.ts";

function visit(event: MouseEvent, id: string): void {
  // Another tab or window was asked for.
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  select(id);
  openPage.value = undefined;
}

/** The way to the session that a run made, and what that does now. */
export function SessionLink({ run, brief = false }: { run: RunResponse; brief?: boolean }) {
  const id = run.sessionId;
  if (id === null) return null;
  const session = sessionList.value.byId.get(id);
  if (!session) return brief ? null : <span class="dim">{run.sessionName ?? "session"} (closed)</span>;
  return (
    <span class="run-session">
      <StatusDot session={session} />
      <a
        href={writeRoute({ login: false, session: id })}
        onClick={(event) => visit(event, id)}
        data-testid="run-session"
      >
        {session.name}
      </a>
      {!brief && <small>{getCurrentStatus(session).word}</small>}
    </span>
  );
}
