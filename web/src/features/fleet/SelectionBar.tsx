/** What can be done with the sessions that are chosen. */
import { useState } from "preact/hooks";
import type { Session } from "../../api/types.ts";
import { plural } from "../../lib/format.ts";
import { Button } from "../../ui/Button.tsx";
import { isComposing } from "../../ui/composing.ts";
import { Icon } from "../../ui/Icon.tsx";
import { IconButton } from "../../ui/IconButton.tsx";
import { type MenuItem, menuUnder } from "../../ui/menu.ts";
import { openPage } from "../../ui/pages/registry.ts";
import { getCurrentStatus } from "../agents/currentstatus.ts";
import { applyLayout, roomy } from "../grid/state.ts";
import { ALONE, COUNTS, resizeLayout } from "../grid/layout.ts";
import { checkPrompt, mayRetry, sendAgain, sendToAll, sent } from "../prompt/broadcast.ts";
import { describeDelivery, isUnderWay } from "../prompt/delivery.ts";
import { recolor } from "../sessions/actions.ts";
import { closeAll, interrupt } from "../sessions/bulk.ts";
import { COLORS } from "../sessions/status.ts";
import { choose, chosen, clearSelection } from "./selection.ts";
import "./fleet.css";

const CELLS_MAX = Math.max(...COUNTS);

const isWorking = (session: Session): boolean => getCurrentStatus(session).state === "busy";

function groupItems(sessions: readonly Session[]): MenuItem[] {
  const beside = () => {
    const ids = sessions.map(({ id }) => id);
    const count = COUNTS.find((each) => each >= ids.length) ?? 1;
    applyLayout(resizeLayout({ ...ALONE, front: ids[0] }, count, ids));
    openPage.value = undefined;
  };
  const fits = roomy.peek() && sessions.length > 1 && sessions.length <= CELLS_MAX;
  return [
    { label: "Show side by side", icon: "cells", disabled: !fits, act: beside },
    ...COLORS.map((color, at) => ({
      label: color === "default" ? "No colour" : `${color[0]?.toUpperCase()}${color.slice(1)}`,
      swatch: color,
      group: at === 0,
      act: () => sessions.forEach(({ id }) => void recolor(id, color)),
    })),
  ];
}

/** What became of the prompt, session by session. */
function Outcomes() {
  if (sent.value.length === 0) return null;
  return (
    <ul class="fleet-outcomes" aria-label="What became of the prompt" data-testid="fleet-outcomes">
      {sent.value.map((each) => (
        <li key={each.id} data-state={each.delivery.state} data-testid="fleet-outcome">
          {isUnderWay(each.delivery) ? (
            <span class="spinner" />
          ) : (
            <Icon name={mayRetry(each) || each.delivery.state === "failed" ? "alert" : "check"} size={14} />
          )}
          <strong>{each.name}</strong>
          <span role="status">{describeDelivery(each.delivery)}</span>
          {mayRetry(each) && (
            <Button small label={`Send to ${each.name} again`} onClick={() => void sendAgain(each)}>
              Send again
            </Button>
          )}
        </li>
      ))}
    </ul>
  );
}

function PromptAll({ sessions }: { sessions: readonly Session[] }) {
  const [text, setText] = useState("");
  const problem = checkPrompt(text);
  const submit = (event: Event) => {
    event.preventDefault();
    if (text.trim() === "" || problem !== undefined || sessions.length === 0) return;
    void sendToAll(sessions, text);
    setText("");
  };
  const key = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !event.shiftKey && !isComposing(event)) submit(event);
  };
  return (
    <form class="fleet-prompt" onSubmit={submit}>
      <textarea
        class="field plain-text"
        rows={Math.min(6, text.split("\n").length)}
        value={text}
        placeholder={`Message ${plural(sessions.length, "session")}…`}
        aria-label={`Message ${plural(sessions.length, "session")}`}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={key}
        data-testid="fleet-prompt"
      />
      <Button primary submit disabled={text.trim() === "" || problem !== undefined} testid="fleet-send">
        Send
      </Button>
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}

export function SelectionBar({ shown }: { shown: readonly string[] }) {
  const sessions = chosen.value;
  const none = sessions.length === 0;
  const working = sessions.filter(isWorking);
  const close = async () => {
    if (await closeAll(sessions)) clearSelection();
  };
  return (
    <section class="fleet-bar" aria-label="Selected sessions" data-testid="fleet-bar">
      <Outcomes />
      {!none && <PromptAll sessions={sessions} />}
      <div class="fleet-deeds">
        <strong data-testid="fleet-count">{sessions.length} selected</strong>
        <Button small onClick={() => shown.forEach((id) => choose(id, true))} testid="fleet-all">
          All
        </Button>
        <span class="spring" />
        <Button
          small
          disabled={working.length === 0}
          onClick={() => working.forEach((session) => void interrupt(session))}
          testid="fleet-interrupt"
        >
          Interrupt
        </Button>
        <Button
          small
          disabled={none}
          aria-haspopup="menu"
          onClick={(event) => menuUnder("Group", groupItems(sessions), event.currentTarget)}
          testid="fleet-group-menu"
        >
          Group
        </Button>
        <Button small danger disabled={none} onClick={() => void close()} testid="fleet-close">
          Close
        </Button>
        <IconButton icon="close" label="Clear the selection" keys="Esc" onClick={clearSelection} />
      </div>
    </section>
  );
}
