/** What the service keeps for all its clients. */
import { Select } from "../../ui/Select.tsx";
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
      <Select
        value={mode}
        testid="setting-defaultMode"
        choices={modes.map((entry) => [entry.id, entry.label] as const)}
        onChoose={(chosen) => void saveSetting("defaultMode", chosen)}
        {...getErrorAttributes("defaultMode")}
      >
        {!modes.some((entry) => entry.id === mode) && <option value={mode}>{missingMode(mode)}</option>}
      </Select>
    </Field>
  );
}

const GROUNDS = [
  ["dark", "Dark"],
  ["light", "Light"],
] as const;

function GroundField() {
  return (
    <Field
      label="Background of unwatched terminals"
      hint="the colours that programs see while no page shows the terminal"
      name="terminalGround"
    >
      <Select
        value={settings.value.terminalGround ?? "dark"}
        testid="setting-terminalGround"
        choices={GROUNDS}
        onChoose={(chosen) => void saveSetting("terminalGround", chosen)}
        {...getErrorAttributes("terminalGround")}
      />
    </Field>
  );
}

const TRUST = [
  ["own", "Those that bring something that runs"],
  ["ask", "All"],
  ["always", "None: whatever a folder brings runs"],
] as const;

function TrustField() {
  return (
    <Field
      label="Folders that are asked about"
      hint="in the inbox, before an agent starts there"
      name="trustFolders"
    >
      <Select
        value={settings.value.trustFolders ?? "own"}
        testid="setting-trustFolders"
        choices={TRUST}
        onChoose={(chosen) => void saveSetting("trustFolders", chosen)}
        {...getErrorAttributes("trustFolders")}
      />
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
