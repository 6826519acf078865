/** How agents are shown and spoken to. */
import { Button } from "../../ui/Button.tsx";
import { openPage, RULES_PAGE } from "../../ui/pages/registry.ts";
import { inboxEnabled } from "../approvals/state.ts";
import { Switch } from "../settings/fields.tsx";
import { change, prefs } from "../../store/prefs.ts";
import { saveSetting } from "../settings/saving.ts";
import { settings } from "../../store/state.ts";
import { suggestionsEnabled } from "../suggestions/state.ts";
import { keepsScrollback, restoresItself } from "../restore/state.ts";
import { VoiceSettings } from "../voice/VoiceSettings.tsx";
import { seedsFirstRun, showPlan } from "./state.ts";

export function AgentSettings() {
  return (
    <section data-testid="agent-settings">
      <h3>Agents</h3>
      <Switch
        label="Prompt box"
        hint="shown below an agent's terminal, on this device"
        value={prefs.value.promptBox}
        onChange={(promptBox) => change({ promptBox })}
      />
      <Switch
        label="Enter sends the prompt"
        hint="Shift+Enter starts a new line; Ctrl+Enter always sends"
        value={prefs.value.enterSends}
        onChange={(enterSends) => change({ enterSends })}
      />
      <Switch
        label="Inbox"
        hint="answer agents' questions from the bell icon"
        name="approvalsInboxEnabled"
        value={inboxEnabled.value}
        onChange={(on) => void saveSetting("approvalsInboxEnabled", on)}
      />
      {inboxEnabled.value && (
        <div class="setting">
          <span>
            Approval rules
            <small>answer questions that always get the same answer</small>
          </span>
          <Button small onClick={() => (openPage.value = RULES_PAGE)} testid="settings-rules">
            Show rules
          </Button>
        </div>
      )}
      <Switch
        label="Other agents in the inbox"
        hint="show questions from Codex, Gemini CLI and OpenCode, too"
        name="externalSignals"
        value={settings.value["externalSignals"] !== false}
        onChange={(on) => void saveSetting("externalSignals", on)}
      />
      <Switch
        label="Plan usage"
        hint="how much of your subscription's limits is used; applies to new agent sessions"
        name="showPlanUsageLimits"
        value={showPlan.value}
        onChange={(on) => void saveSetting("showPlanUsageLimits", on)}
      />
      <Switch
        label="Skip the first-run questions"
        hint="new Claude Code sessions start set up and accept the API key from their environment"
        name="firstRunSeedEnabled"
        value={seedsFirstRun.value}
        onChange={(on) => void saveSetting("firstRunSeedEnabled", on)}
      />
      <Switch
        label="Tell when an agent hangs"
        hint="no progress, failing tools, or a password prompt: a mark on its row, and notices if you choose them"
        name="stalls"
        value={settings.value.stalls?.enabled !== false}
        onChange={(enabled) => void saveSetting("stalls", { enabled })}
      />
      <Switch
        label="Nudge agents that hang"
        hint="presses Escape and types “go on”, once an hour at most; recorded in the audit log"
        value={settings.value.stalls?.nudge === true}
        onChange={(nudge) => void saveSetting("stalls", { nudge })}
      />
      <Switch
        label="Suggest prompts"
        hint="tap the light bulb to ask Claude Code, without tools; the server stores your last prompts for this"
        name="readMyMindEnabled"
        value={suggestionsEnabled.value}
        onChange={(on) => void saveSetting("readMyMindEnabled", on)}
      />
      <VoiceSettings />
      <Switch
        label="Restore sessions after a reboot"
        hint="automatically (otherwise you're asked)"
        name="autoRestoreEnabled"
        value={restoresItself.value}
        onChange={(on) => void saveSetting("autoRestoreEnabled", on)}
      />
      <Switch
        label="Save terminal screens"
        hint="on the server's disk, to show them again after a reboot; turning this off deletes them"
        name="keepScrollbackEnabled"
        value={keepsScrollback.value}
        onChange={(on) => void saveSetting("keepScrollbackEnabled", on)}
      />
    </section>
  );
}
