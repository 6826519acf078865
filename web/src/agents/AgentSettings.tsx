/** How agents are shown and spoken to. */
import { writeSettings } from "../api/calls.ts";
import { inboxEnabled } from "../approvals/state.ts";
import { Switch } from "../settings/fields.tsx";
import { change, prefs } from "../settings/prefs.ts";
import { settings } from "../store/state.ts";
import { failed } from "../ui/toasts.ts";
import { seedsFirstRun, showPlan } from "./state.ts";

async function save(part: Record<string, boolean>): Promise<void> {
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
    </section>
  );
}
