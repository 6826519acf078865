/** What goes with the next prompt, or into the terminal: a chip each. */
import { currentView } from "../terminal/current.ts";
import { Icon } from "../../ui/Icon.tsx";
import { IconButton } from "../../ui/IconButton.tsx";
import { removeFile } from "./sending.ts";
import { type Item, itemsOf } from "./tray.ts";
import "./tray.css";

/** As if it were pasted there by hand; nothing is sent. */
function typeInto(id: string, item: Item): void {
  const view = currentView.peek();
  if (!item.kept || view?.sessionId !== id) return;
  const alone = item.kept.attachment === "paste" && item.thumb !== undefined;
  view.screen.terminal.paste(alone ? item.kept.insert : `${item.kept.insert} `);
  removeFile(id, item.key);
  view.focus();
}

function State({ item }: { item: Item }) {
  if (item.problem !== undefined) return <small class="field-problem">{item.problem}</small>;
  if (item.kept) return null;
  return <progress max={1} value={item.part} aria-label={`Uploading ${item.name}`} />;
}

function Chip({ id, item }: { id: string; item: Item }) {
  const state = item.problem !== undefined ? "failed" : item.kept ? "ready" : "going";
  return (
    <li class="attached" data-state={state} data-testid="attached">
      {item.thumb === undefined ? (
        <Icon name="log" size={20} />
      ) : (
        <img src={item.thumb} alt="" onError={(event) => (event.currentTarget.hidden = true)} />
      )}
      <span class="attached-words">
        <bdi title={item.kept?.path ?? item.name}>{item.name}</bdi>
        <State item={item} />
      </span>
      {item.kept && (
        <IconButton
          icon="keyboard"
          label={`Type ${item.name} into the terminal`}
          onClick={() => typeInto(id, item)}
          testid="attached-type"
        />
      )}
      <IconButton
        icon="close"
        label={`Remove ${item.name}`}
        onClick={() => removeFile(id, item.key)}
        testid="attached-out"
      />
    </li>
  );
}

export function Tray({ id }: { id: string }) {
  return (
    <ul class="tray" role="list" aria-label="Attached files" data-testid="tray">
      {itemsOf(id).map((item) => (
        <Chip key={item.key} id={id} item={item} />
      ))}
    </ul>
  );
}
