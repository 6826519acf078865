/** Every feature that registers pages, in one list. */
import { registerApprovals } from "../approvals/page.ts";
import { registerDoctor } from "../doctor/page.ts";
import { registerGit } from "../git/page.ts";
import { registerHelp } from "../shortcuts/page.ts";
import { registerSettings } from "../settings/page.ts";

const FEATURES = [registerApprovals, registerGit, registerDoctor, registerSettings, registerHelp];

export function registerFeatures(): void {
  for (const register of FEATURES) register();
}
