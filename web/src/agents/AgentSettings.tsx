/** How agents are shown and spoken to. */
import { writeSettings } from "../api/calls.ts";
import type { SettingsPatch } from "../api/types.ts";
import { inboxEnabled } from "../approvals/state.ts";
import { Switch } from "../settings/fields.tsx";
import { change, prefs } from "../settings/prefs.ts";
import { settings } from "../store/state.ts";
import { failed } from "../ui/toasts.ts";
import { mindEnabled } from "../mind/state.ts";
import { keepsScrollback, restoresItself } from "../restore/state.ts";
import { VoiceSettings } from "../voice/VoiceSettings.tsx";
import { seedsFirstRun, showPlan } from "./state.ts";

async function save(part: SettingsPatch): Promise<void> {
  try {
    settings.value = await writeSettings(part);
  } catch (error) {
    failed("Not saved", error);
  }
}

export function AgentSettings() {
  return (
    <section data-testid="agent-settings">
      <h3>Agents</h3>
      <Switch
        label="Prompt box"
        hint="below an agent's terminal, on this device"
        value={prefs.value.promptBox}
        onChange={(promptBox) => change({ promptBox })}
      />
      <Switch
        label="Enter sends the prompt"
        hint="Shift+Enter begins a line; Ctrl+Enter always sends"
        value={prefs.value.enterSends}
        onChange={(enterSends) => change({ enterSends })}
      />
      <Switch
        label="Approvals inbox"
        hint="answer agents' dialogs from the bell"
        value={inboxEnabled.value}
        onChange={(approvalsInboxEnabled) => void save({ approvalsInboxEnabled })}
      />
      <Switch
        label="Dialogs of other CLIs"
        hint="Codex, Gemini CLI and OpenCode ask in the inbox, too"
        value={settings.value["externalSignals"] !== false}
        onChange={(externalSignals) => void save({ externalSignals })}
      />
      <Switch
        label="Plan usage"
        hint="how much of the subscription's limits is used; new agent sessions report it"
        value={showPlan.value}
        onChange={(showPlanUsageLimits) => void save({ showPlanUsageLimits })}
      />
      <Switch
        label="Skip the first-run questions"
        hint="new Claude Code sessions start set up, with the key of their environment allowed"
        value={seedsFirstRun.value}
        onChange={(firstRunSeedEnabled) => void save({ firstRunSeedEnabled })}
      />
      <Switch
        label="Suggest what to say next"
        hint="asks Claude Code itself, without tools, when you tap the bulb; your last prompts are kept for it"
        value={mindEnabled.value}
        onChange={(readMyMindEnabled) => void save({ readMyMindEnabled })}
      />
      <VoiceSettings save={save} />
      <Switch
        label="Bring sessions back after a reboot"
        hint="by themselves; else the page offers it"
        value={restoresItself.value}
        onChange={(autoRestoreEnabled) => void save({ autoRestoreEnabled })}
      />
      <Switch
        label="Keep what terminals show"
        hint="on the service's disk, to be shown again after a reboot; switching it off removes it"
        value={keepsScrollback.value}
        onChange={(keepScrollbackEnabled) => void save({ keepScrollbackEnabled })}
      />
    </section>
  );
}
