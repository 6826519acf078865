/** One field from which everything can be reached. */
import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useId, useLayoutEffect, useRef } from "preact/hooks";
import { StatusDot } from "../sessions/StatusDot.tsx";
import { restoreDefaultFocus } from "../../ui/defaultfocus.ts";
import { Icon } from "../../ui/Icon.tsx";
import { paletteOpen } from "../../ui/pages/openpanels.ts";
import { type Entry, listEntries } from "./entries.ts";
import { type Hit, noteUsed, readUsed, runs, searchEntries } from "./search.ts";
import "./palette.css";

const close = () => (paletteOpen.value = false);

function run(entry: Entry): void {
  close();
  if (entry.command) noteUsed(entry.key);
  // Behind the dialog's own return of the focus: what it opens wants the focus itself.
  setTimeout(entry.act);
}

/** The label with the letters that were typed set off; each run of letters is one piece. */
function Label({ text, at }: { text: string; at: readonly number[] }) {
  return (
    <span class="palette-label">
      {runs(text, at).map(({ part, hit }, n) => (hit ? <b key={n}>{part}</b> : part))}
    </span>
  );
}

interface RowProps {
  hit: Hit;
  id: string;
  chosen: boolean;
  onPoint: () => void;
}

function Row({ hit, id, chosen, onPoint }: RowProps) {
  const { entry } = hit;
  return (
    <li
      id={id}
      role="option"
      class="palette-row"
      aria-selected={chosen}
      data-testid="palette-row"
      onMouseMove={onPoint}
      onClick={() => run(entry)}
    >
      {entry.session ? (
        <StatusDot session={entry.session} />
      ) : (
        entry.icon && <Icon name={entry.icon} size={16} />
      )}
      <span class="palette-words">
        <Label text={entry.label} at={hit.at} />
        {entry.detail && <small>{entry.detail}</small>}
      </span>
      {entry.keys && <kbd>{entry.keys}</kbd>}
    </li>
  );
}

export function Palette() {
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useId();
  const letters = useSignal("");
  const at = useSignal(0);
  const all = useComputed(listEntries);
  const used = useRef(readUsed());
  const hits = useComputed(() => searchEntries(all.value, letters.value, used.current));
  const chosen = Math.min(at.value, hits.value.length - 1);
  // At once: the next letter would go to the terminal.
  useLayoutEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
      if (document.activeElement !== before) restoreDefaultFocus();
    };
  }, []);
  useEffect(
    () => document.getElementById(`${list}-${chosen}`)?.scrollIntoView({ block: "nearest" }),
    [chosen],
  );
  const key = (event: KeyboardEvent) => {
    const count = hits.value.length;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const hit = hits.value[chosen];
    if (step !== undefined && count > 0) at.value = (chosen + step + count) % count;
    else if (event.key === "Enter" && hit) run(hit.entry);
    else return;
    event.preventDefault();
  };
  const type = (event: Event) => {
    letters.value = (event.currentTarget as HTMLInputElement).value;
    at.value = 0;
  };
  return (
    <dialog
      ref={dialog}
      class="palette"
      aria-label="Sessions and commands"
      data-testid="palette"
      onCancel={close}
      onMouseDown={(event) => event.target === dialog.current && close()}
    >
      <input
        class="palette-field"
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={hits.value.length > 0 ? `${list}-${chosen}` : undefined}
        aria-label="Find a session, a page or a command"
        placeholder="Find a session, a page or a command"
        autocomplete="off"
        spellcheck={false}
        autofocus
        data-testid="palette-field"
        onInput={type}
        onKeyDown={key}
      />
      <ul id={list} class="palette-list" role="listbox" aria-label="Results">
        {hits.value.map((hit, n) => (
          <Row
            key={hit.entry.key}
            id={`${list}-${n}`}
            hit={hit}
            chosen={n === chosen}
            onPoint={() => (at.value = n)}
          />
        ))}
      </ul>
      {hits.value.length === 0 && <p class="palette-none">No matches</p>}
    </dialog>
  );
}
