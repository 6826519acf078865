/** Every feature that registers pages, in one list. */
import { registerApprovals } from "../features/approvals/page.ts";
import { registerAudit } from "../features/audit/page.ts";
import { registerCases } from "../features/cases/page.ts";
import { registerClis } from "../features/clis/page.ts";
import { registerContainers } from "../features/containers/page.ts";
import { registerConversations } from "../features/conversations/page.ts";
import { registerCron } from "../features/cron/page.ts";
import { registerDevices } from "../features/devices/page.ts";
import { registerDoctor } from "../features/doctor/page.ts";
import { registerFiles } from "../features/files/page.ts";
import { registerFleet } from "../features/fleet/page.ts";
import { registerGit } from "../features/git/page.ts";
import { registerHosts } from "../features/hosts/page.ts";
import { registerModels } from "../features/models/page.ts";
import { registerTimedRuns } from "../features/timedruns/page.ts";
import { registerMcp } from "../features/mcp/page.ts";
import { registerRestore } from "../features/restore/page.ts";
import { registerShared } from "../features/share/page.ts";
import { registerHelp } from "../features/shortcuts/page.ts";
import { registerSettings } from "../features/settings/page.ts";
import { registerTokens } from "../features/tokens/page.ts";
import { registerUsers } from "../features/users/page.ts";
import { registerWebTabs } from "../features/webtabs/page.ts";

const FEATURES = [
  registerFleet,
  registerApprovals,
  registerRestore,
  registerConversations,
  registerFiles,
  registerGit,
  registerCases,
  registerHosts,
  registerContainers,
  registerWebTabs,
  registerCron,
  registerTimedRuns,
  registerClis,
  registerModels,
  registerMcp,
  registerDoctor,
  registerDevices,
  registerTokens,
  registerUsers,
  registerAudit,
  registerShared,
  registerSettings,
  registerHelp,
];

export function registerFeatures(): void {
  for (const register of FEATURES) register();
}
