/** How agents are shown and spoken to. */
import { inboxEnabled } from "../approvals/state.ts";
import { Switch } from "../settings/fields.tsx";
import { change, prefs } from "../settings/prefs.ts";
import { saveSetting } from "../settings/saving.ts";
import { settings } from "../store/state.ts";
import { mindEnabled } from "../mind/state.ts";
import { keepsScrollback, restoresItself } from "../restore/state.ts";
import { VoiceSettings } from "../voice/VoiceSettings.tsx";
import { seedsFirstRun, showPlan } from "./state.ts";

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
        name="approvalsInboxEnabled"
        value={inboxEnabled.value}
        onChange={(on) => void saveSetting("approvalsInboxEnabled", on)}
      />
      <Switch
        label="Dialogs of other CLIs"
        hint="Codex, Gemini CLI and OpenCode ask in the inbox, too"
        name="externalSignals"
        value={settings.value["externalSignals"] !== false}
        onChange={(on) => void saveSetting("externalSignals", on)}
      />
      <Switch
        label="Plan usage"
        hint="how much of the subscription's limits is used; new agent sessions report it"
        name="showPlanUsageLimits"
        value={showPlan.value}
        onChange={(on) => void saveSetting("showPlanUsageLimits", on)}
      />
      <Switch
        label="Skip the first-run questions"
        hint="new Claude Code sessions start set up, with the key of their environment allowed"
        name="firstRunSeedEnabled"
        value={seedsFirstRun.value}
        onChange={(on) => void saveSetting("firstRunSeedEnabled", on)}
      />
      <Switch
        label="Suggest what to say next"
        hint="asks Claude Code itself, without tools, when you tap the bulb; your last prompts are kept for it"
        name="readMyMindEnabled"
        value={mindEnabled.value}
        onChange={(on) => void saveSetting("readMyMindEnabled", on)}
      />
      <VoiceSettings />
      <Switch
        label="Bring sessions back after a reboot"
        hint="by themselves; else the page offers it"
        name="autoRestoreEnabled"
        value={restoresItself.value}
        onChange={(on) => void saveSetting("autoRestoreEnabled", on)}
      />
      <Switch
        label="Keep what terminals show"
        hint="on the service's disk, to be shown again after a reboot; switching it off removes it"
        name="keepScrollbackEnabled"
        value={keepsScrollback.value}
        onChange={(on) => void saveSetting("keepScrollbackEnabled", on)}
      />
    </section>
  );
}
