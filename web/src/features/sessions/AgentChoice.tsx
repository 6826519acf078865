/** Which agent or shell a session runs. */
import type { CliItem } from "../../api/types.ts";
import { plural } from "../../lib/format.ts";
import { clis } from "../../store/state.ts";
import { showToast } from "../../store/toasts.ts";
import { copyText } from "../../ui/clipboard.ts";
import { Icon } from "../../ui/Icon.tsx";
import { canLaunch, choices } from "./newsession.ts";

async function copyCommand(entry: CliItem): Promise<void> {
  if (await copyText(entry.installCommand ?? ""))
    showToast("good", "Copied", `Run it to install ${entry.label}.`);
}

interface ChoiceProps {
  entry: CliItem;
  chosen: boolean;
  elsewhere: boolean;
  onChoose: () => void;
}

function Choice({ entry, chosen, elsewhere, onChoose }: ChoiceProps) {
  // Programs are looked for there, when the session starts.
  const ready = elsewhere || canLaunch(entry);
  return (
    <div class="choice" data-chosen={chosen} data-ready={ready} data-testid={`mode-${entry.id}`}>
      <label>
        <input
          type="radio"
          name="mode"
          value={entry.id}
          checked={chosen}
          disabled={!ready}
          onChange={onChoose}
        />
        <span class="badge">{entry.shortBadge}</span>
        <span class="choice-label">
          {entry.label}
          {!ready && <small>not installed</small>}
        </span>
      </label>
      {!ready && entry.installCommand && (
        <button
          type="button"
          class="install"
          title="Copy install command"
          onClick={() => void copyCommand(entry)}
        >
          <code>{entry.installCommand}</code>
          <Icon name="copy" size={15} />
        </button>
      )}
    </div>
  );
}

interface ModesProps {
  chosen: string;
  /** The session is to run on another machine, of whose programs nothing is known here. */
  elsewhere: boolean;
  onChoose: (mode: string) => void;
}

/** Those that are here in a row; the rest behind one line, with how to get them. */
export function Modes({ chosen, elsewhere, onChoose }: ModesProps) {
  const offered = choices(clis.value);
  const there = (entry: CliItem) => elsewhere || canLaunch(entry);
  const [here, missing] = [offered.filter(there), offered.filter((entry) => !there(entry))];
  const show = (entry: CliItem) => (
    <Choice
      key={entry.id}
      entry={entry}
      chosen={chosen === entry.id}
      elsewhere={elsewhere}
      onChoose={() => onChoose(entry.id)}
    />
  );
  return (
    <fieldset class="choices">
      <legend class="sr-only">What should run?</legend>
      {here.map(show)}
      {missing.length > 0 && (
        <details class="choices-missing" open={here.length === 0}>
          <summary data-testid="modes-missing">
            {plural(missing.length, "more agent")} you can install
          </summary>
          <div class="choices">{missing.map(show)}</div>
        </details>
      )}
    </fieldset>
  );
}
