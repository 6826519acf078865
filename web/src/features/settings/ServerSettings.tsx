/** What the service keeps for all its clients. */
import { canLaunch } from "../sessions/newsession.ts";
import { cliOf, clis, settings } from "../../store/state.ts";
import { Field, getErrorAttributes, NumberField, TextField } from "./fields.tsx";
import { saveSetting } from "./saving.ts";

const HISTORY_USUAL = 100_000;

function missingMode(mode: string | null | undefined): string {
  if (!mode) return "none";
  return `${cliOf(mode)?.label ?? mode} (not installed)`;
}

function ModeField() {
  const mode = settings.value.defaultMode ?? "";
  const modes = clis.value.filter(canLaunch);
  return (
    <Field label="New sessions run" name="defaultMode">
      <select
        class="field"
        value={mode}
        onChange={(event) => void saveSetting("defaultMode", event.currentTarget.value)}
        data-testid="setting-defaultMode"
        {...getErrorAttributes("defaultMode")}
      >
        {!modes.some((entry) => entry.id === mode) && <option value={mode}>{missingMode(mode)}</option>}
        {modes.map((entry) => (
          <option key={entry.id} value={entry.id}>
            {entry.label}
          </option>
        ))}
      </select>
    </Field>
  );
}

const GROUNDS = { dark: "Dark", light: "Light" };

function GroundField() {
  return (
    <Field
      label="Background of unwatched terminals"
      hint="the colours that programs see while no page shows the terminal"
      name="terminalGround"
    >
      <select
        class="field"
        value={settings.value.terminalGround ?? "dark"}
        onChange={(event) =>
          void saveSetting("terminalGround", event.currentTarget.value as "dark" | "light")
        }
        data-testid="setting-terminalGround"
        {...getErrorAttributes("terminalGround")}
      >
        {Object.entries(GROUNDS).map(([ground, name]) => (
          <option key={ground} value={ground}>
            {name}
          </option>
        ))}
      </select>
    </Field>
  );
}

const TRUST = {
  own: "Those that bring something that runs",
  ask: "All",
  always: "None: whatever a folder brings runs",
};

function TrustField() {
  return (
    <Field
      label="Folders that are asked about"
      hint="in the inbox, before an agent starts there"
      name="trustFolders"
    >
      <select
        class="field"
        value={settings.value.trustFolders ?? "own"}
        onChange={(event) =>
          void saveSetting("trustFolders", event.currentTarget.value as keyof typeof TRUST)
        }
        data-testid="setting-trustFolders"
        {...getErrorAttributes("trustFolders")}
      >
        {Object.entries(TRUST).map(([rule, name]) => (
          <option key={rule} value={rule}>
            {name}
          </option>
        ))}
      </select>
    </Field>
  );
}

export function ServerSettings() {
  const now = settings.value;
  return (
    <section data-testid="service-settings">
      <h3>Server</h3>
      <TextField
        label="Server name"
        hint="shown in the page title"
        name="displayName"
        value={now.displayName ?? ""}
        onChange={(name) => void saveSetting("displayName", name)}
        testid="setting-displayName"
      />
      <ModeField />
      <TextField
        label="Default folder"
        name="defaultWorkingDir"
        value={now.defaultWorkingDir ?? ""}
        placeholder="home folder"
        onChange={(folder) => void saveSetting("defaultWorkingDir", folder)}
        testid="setting-defaultWorkingDir"
      />
      <GroundField />
      <TrustField />
      <NumberField
        label="History size"
        name="historyLimit"
        unit="lines"
        value={now.historyLimit ?? HISTORY_USUAL}
        least={1_000}
        most={1_000_000}
        onChange={(lines) => void saveSetting("historyLimit", lines)}
        testid="setting-historyLimit"
      />
    </section>
  );
}
