/** What an agent runs on, its model and how full its context is, and how far it is with its list. */
import type { Session } from "../../api/types.ts";
import { Icon } from "../../ui/Icon.tsx";
import { levelOf } from "./plan.ts";
import { describeConflict } from "./statusdescription.ts";
import { summarizeTodos } from "./todos.ts";

function costText(session: Session): string {
  if (session.costUnknown) return " · cost unknown";
  return session.totalCost ? ` · $${session.totalCost.toFixed(2)} so far` : "";
}

function Context({ used }: { used: number }) {
  const percent = Math.round(used);
  const text = `${percent}% of the context window in use`;
  return (
    <span
      class="context-chip"
      data-level={levelOf(used)}
      data-tip={text}
      role="img"
      aria-label={text}
      data-testid="context"
    >
      <span class="meter">
        <i style={{ width: `${percent}%` }} />
      </span>
      {percent}%
    </span>
  );
}

function Todos({ todos }: { todos: NonNullable<Session["todos"]> }) {
  const done = todos.filter(({ status }) => status === "completed").length;
  const text = summarizeTodos(todos);
  return (
    <span class="todos-chip" data-tip={text} role="img" aria-label={text} data-testid="todos">
      <Icon name="check" size={13} /> {done}/{todos.length}
    </span>
  );
}

function Conflict({ text }: { text: string }) {
  return (
    <span class="todos-chip" data-tip={text} role="img" aria-label={text} data-testid="status-conflict">
      <Icon name="alert" size={13} />
    </span>
  );
}

export function SessionChips({ session }: { session: Session }) {
  const used = session.contextUsedPercentage;
  const conflict = describeConflict(session);
  return (
    <>
      {session.displayModel && (
        <span
          class="model-chip"
          data-tip={`Model: ${session.displayModel}${costText(session)}`}
          data-testid="model"
        >
          {session.displayModel}
        </span>
      )}
      {conflict && <Conflict text={conflict} />}
      {used !== undefined && <Context used={used} />}
      {session.todos && session.todos.length > 0 && <Todos todos={session.todos} />}
    </>
  );
}
