/** Every feature that registers pages, in one list. */
import { registerApprovals } from "../approvals/page.ts";
import { registerAudit } from "../audit/page.ts";
import { registerCases } from "../cases/page.ts";
import { registerClis } from "../clis/page.ts";
import { registerContainers } from "../containers/page.ts";
import { registerConversations } from "../conversations/page.ts";
import { registerCron } from "../cron/page.ts";
import { registerDevices } from "../devices/page.ts";
import { registerDoctor } from "../doctor/page.ts";
import { registerFiles } from "../files/page.ts";
import { registerFleet } from "../fleet/page.ts";
import { registerGit } from "../git/page.ts";
import { registerHosts } from "../hosts/page.ts";
import { registerModels } from "../models/page.ts";
import { registerTimedRuns } from "../timedruns/page.ts";
import { registerMcp } from "../mcp/page.ts";
import { registerRestore } from "../restore/page.ts";
import { registerShared } from "../share/page.ts";
import { registerHelp } from "../shortcuts/page.ts";
import { registerSettings } from "../settings/page.ts";
import { registerTokens } from "../tokens/page.ts";
import { registerUsers } from "../users/page.ts";
import { registerWebTabs } from "../webtabs/page.ts";

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
