/** Every feature that registers pages, in one list. */
import { registerApprovals } from "../approvals/page.ts";
import { registerCron } from "../cron/page.ts";
import { registerHelp } from "../shortcuts/page.ts";
import { registerSettings } from "../settings/page.ts";

const FEATURES = [registerApprovals, registerCron, registerSettings, registerHelp];

export function registerFeatures(): void {
  for (const register of FEATURES) register();
}
