import { useState } from "preact/hooks";
import { AgentSettings } from "../agents/AgentSettings.tsx";
import { writeSettings } from "../api/calls.ts";
import { textOf } from "../api/errors.ts";
import type { SettingsPatch } from "../api/types.ts";
import { AccountSettings } from "../auth/AccountSettings.tsx";
import { NotificationSettings } from "../notifications/NotificationSettings.tsx";
import { canLaunch } from "../sessions/newsession.ts";
import { cliOf, clis, serviceVersion, settings } from "../store/state.ts";
import { Icon } from "../ui/Icon.tsx";
import { say } from "../ui/toasts.ts";
import { WebhookSettings } from "../webhook/WebhookSettings.tsx";
import { Field, NumberField, Switch } from "./fields.tsx";
import {
  change,
  FONT_LEAST,
  FONT_MOST,
  prefs,
  SCROLLBACK_LEAST,
  SCROLLBACK_MOST,
  type SessionList,
  type ThemeChoice,
} from "./prefs.ts";
import "../ui/styles/records.css";

const THEMES: [ThemeChoice, string][] = [
  ["system", "System"],
  ["dark", "Dark"],
  ["light", "Light"],
];

const LISTS: [SessionList, string][] = [
  ["auto", "When many"],
  ["sidebar", "At the side"],
  ["tabs", "Tabs"],
];

interface SegmentsProps<T extends string> {
  label: string;
  name: string;
  choices: readonly [T, string][];
  value: T;
  onChange: (value: T) => void;
}

function Segments<T extends string>({ label, name, choices, value, onChange }: SegmentsProps<T>) {
  return (
    <div class="setting">
      <span>{label}</span>
      <div class="segments" role="radiogroup" aria-label={label}>
        {choices.map(([choice, text]) => (
          <label key={choice}>
            <input
              type="radio"
              name={name}
              checked={value === choice}
              onChange={() => onChange(choice)}
              data-testid={`${name}-${choice}`}
            />
            <span>{text}</span>
          </label>
        ))}
      </div>
    </div>
  );
}

function Look() {
  return (
    <section>
      <h3>Look</h3>
      <Segments
        label="Theme"
        name="theme"
        choices={THEMES}
        value={prefs.value.theme}
        onChange={(theme) => change({ theme })}
      />
      <Segments
        label="Sessions"
        name="sessions"
        choices={LISTS}
        value={prefs.value.sessionList}
        onChange={(sessionList) => change({ sessionList })}
      />
      <NumberField
        label="Text size"
        unit="px"
        value={prefs.value.fontSize}
        least={FONT_LEAST}
        most={FONT_MOST}
        onChange={(fontSize) => change({ fontSize })}
      />
      <Switch
        label="Blinking caret"
        value={prefs.value.cursorBlink}
        onChange={(cursorBlink) => change({ cursorBlink })}
      />
    </section>
  );
}

function Terminal() {
  return (
    <section>
      <h3>Terminal</h3>
      <NumberField
        label="Scrollback"
        hint="older lines stay in the whole history"
        unit="lines"
        value={prefs.value.scrollback}
        least={SCROLLBACK_LEAST}
        most={SCROLLBACK_MOST}
        onChange={(scrollback) => change({ scrollback })}
      />
      <Switch
        label="Copy what is selected"
        value={prefs.value.copyOnSelect}
        onChange={(copyOnSelect) => change({ copyOnSelect })}
      />
      <Switch
        label="Programs may copy"
        hint="any program on the screen could fill the clipboard (OSC 52)"
        value={prefs.value.programCopy}
        onChange={(programCopy) => change({ programCopy })}
      />
      <Switch
        label="Option key is Meta"
        hint="on a Mac"
        value={prefs.value.optionIsMeta}
        onChange={(optionIsMeta) => change({ optionIsMeta })}
      />
      <Switch
        label="Screen reader"
        hint="reads the terminal's lines aloud; slower"
        value={prefs.value.screenReader}
        onChange={(screenReader) => change({ screenReader })}
      />
    </section>
  );
}

function missingMode(mode: string | null | undefined): string {
  if (!mode) return "no choice";
  return `${cliOf(mode)?.label ?? mode} (not installed)`;
}

/** What the service keeps for all its clients: only the fields that were changed are sent. */
function Service() {
  const [draft, setDraft] = useState<SettingsPatch>({});
  const [problem, setProblem] = useState("");
  const now = { ...settings.value, ...draft };
  const set = (part: SettingsPatch) => setDraft((before) => ({ ...before, ...part }));
  const save = async (event: Event) => {
    event.preventDefault();
    setProblem("");
    try {
      settings.value = await writeSettings(draft);
      setDraft({});
      say("good", "Saved");
    } catch (error) {
      setProblem(textOf(error));
    }
  };
  const modes = clis.value.filter(canLaunch);
  return (
    <section>
      <h3>Service</h3>
      <form onSubmit={(event) => void save(event)}>
        <Field label="Name of this service" hint="in the page's title">
          <input
            class="field"
            value={now.displayName ?? ""}
            onInput={(event) => set({ displayName: event.currentTarget.value })}
            data-testid="setting-displayName"
          />
        </Field>
        <Field label="New sessions run">
          <select
            class="field"
            value={now.defaultMode ?? ""}
            onChange={(event) => set({ defaultMode: event.currentTarget.value })}
            data-testid="setting-defaultMode"
          >
            {!modes.some((entry) => entry.id === now.defaultMode) && (
              <option value={now.defaultMode ?? ""}>{missingMode(now.defaultMode)}</option>
            )}
            {modes.map((entry) => (
              <option key={entry.id} value={entry.id}>
                {entry.label}
              </option>
            ))}
          </select>
        </Field>
        <Field label="Folder of new sessions">
          <input
            class="field"
            value={now.defaultWorkingDir ?? ""}
            placeholder="the home folder"
            onInput={(event) => set({ defaultWorkingDir: event.currentTarget.value })}
            data-testid="setting-defaultWorkingDir"
          />
        </Field>
        <NumberField
          label="History kept"
          unit="lines"
          value={now.historyLimit ?? 100_000}
          least={1_000}
          most={1_000_000}
          onChange={(historyLimit) => set({ historyLimit })}
        />
        {problem !== "" && (
          <p class="problem" role="alert">
            <Icon name="alert" /> {problem}
          </p>
        )}
        <div class="dialog-foot">
          <button
            type="submit"
            class="button primary"
            disabled={Object.keys(draft).length === 0}
            data-testid="settings-save"
          >
            Save
          </button>
        </div>
      </form>
    </section>
  );
}

export function SettingsPage() {
  return (
    <div class="settings">
      <AccountSettings />
      <Look />
      <Terminal />
      <AgentSettings />
      <NotificationSettings />
      <Service />
      <WebhookSettings />
      <footer class="settings-foot dim">
        <span>tservice {serviceVersion.value}</span>
      </footer>
    </div>
  );
}
