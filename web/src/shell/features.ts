/** Every page, and what the features that have them begin with. */
import { registerApprovals } from "../features/approvals/page.ts";
import { inboxEnabled } from "../features/approvals/state.ts";
import { watchDevices } from "../features/devices/watch.ts";
import { registerFleet } from "../features/fleet/page.ts";
import { offer, outcomes } from "../features/restore/state.ts";
import { followChecks } from "../features/checks/state.ts";
import { followPullRequests } from "../features/review/forge/marks.ts";
import { followReviewCounts } from "../features/review/open.ts";
import { registerHelp } from "../features/shortcuts/page.ts";
import { followServers } from "../features/webtabs/servers.ts";
import { isAdmin, isMultiUser } from "../store/me.ts";
import { activeSession, cliOf, sessions } from "../store/state.ts";
import {
  AWAY_PAGE,
  FIRST_PAGE,
  openPage,
  registerPage,
  RULES_PAGE,
  type Page,
} from "../ui/pages/registry.ts";

const PAGES: readonly Page[] = [
  {
    id: AWAY_PAGE,
    title: "While you were away",
    icon: "lines",
    order: 12,
    load: async () => (await import("../features/away/AwayPage.tsx")).AwayPage,
  },
  {
    id: "restore",
    title: "Restore sessions",
    icon: "refresh",
    order: 15,
    available: () => (offer.value?.sessions.length ?? 0) > 0 || outcomes.value.size > 0,
    count: () => offer.value?.sessions.length ?? 0,
    load: async () => (await import("../features/restore/RestorePage.tsx")).RestorePage,
  },
  {
    id: FIRST_PAGE,
    title: "Start an agent",
    icon: "play",
    order: 14,
    available: () => !sessions.value.some(({ mode }) => cliOf(mode)?.kind === "agent"),
    load: async () => (await import("../features/firstrun/FirstPage.tsx")).FirstPage,
  },
  {
    id: "conversations",
    title: "Conversations",
    icon: "history",
    order: 17,
    beside: true,
    load: async () => (await import("../features/conversations/ConversationsPage.tsx")).ConversationsPage,
  },
  {
    id: "files",
    title: "Files",
    icon: "folder",
    order: 18,
    beside: true,
    available: () => activeSession.value !== undefined,
    load: async () => (await import("../features/files/FilesPage.tsx")).FilesPage,
  },
  {
    id: "git",
    title: "Changes",
    icon: "branch",
    order: 20,
    beside: true,
    keys: "Alt+Shift+G",
    available: () => activeSession.value !== undefined,
    load: async () => (await import("../features/git/GitPage.tsx")).GitPage,
  },
  {
    id: "review",
    title: "Review",
    icon: "eye",
    order: 19,
    beside: true,
    keys: "Alt+Shift+V",
    available: () => activeSession.value !== undefined,
    load: async () => (await import("../features/review/ReviewPage.tsx")).ReviewPage,
  },
  {
    id: "cases",
    title: "Workspaces",
    icon: "grid",
    order: 16,
    load: async () => (await import("../features/cases/CasesPage.tsx")).CasesPage,
  },
  {
    id: "hosts",
    title: "Remote hosts",
    icon: "server",
    order: 18,
    available: () => isAdmin.value,
    load: async () => (await import("../features/hosts/HostsPage.tsx")).HostsPage,
  },
  {
    id: "containers",
    title: "Containers",
    icon: "box",
    order: 19,
    available: () => isAdmin.value,
    load: async () => (await import("../features/containers/ContainersPage.tsx")).ContainersPage,
  },
  {
    id: "webtabs",
    title: "Web tabs",
    icon: "screen",
    order: 28,
    load: async () => (await import("../features/webtabs/WebTabsPage.tsx")).WebTabsPage,
  },
  {
    id: "cron",
    title: "Scheduled jobs",
    icon: "clock",
    order: 30,
    beside: true,
    keys: "Alt+Shift+J",
    load: async () => (await import("../features/cron/CronPage.tsx")).CronPage,
  },
  {
    id: "clis",
    title: "Agents",
    icon: "play",
    order: 77,
    load: async () => (await import("../features/clis/ClisPage.tsx")).ClisPage,
  },
  {
    id: "models",
    title: "Model endpoints",
    icon: "bulb",
    order: 78,
    load: async () => (await import("../features/models/ModelsPage.tsx")).ModelsPage,
  },
  {
    id: "mcp",
    title: "MCP servers",
    icon: "send",
    order: 78,
    load: async () => (await import("../features/mcp/McpPage.tsx")).McpPage,
  },
  {
    id: RULES_PAGE,
    title: "Approval rules",
    icon: "check",
    order: 79,
    available: () => inboxEnabled.value,
    load: async () => (await import("../features/rules/RulesPage.tsx")).RulesPage,
  },
  {
    id: "doctor",
    title: "Doctor",
    icon: "pulse",
    order: 80,
    load: async () => (await import("../features/doctor/DoctorPage.tsx")).DoctorPage,
  },
  {
    id: "devices",
    title: "Devices and QR code",
    icon: "devices",
    order: 70,
    available: () => isAdmin.value,
    load: async () => (await import("../features/devices/DevicesPage.tsx")).DevicesPage,
  },
  {
    id: "tokens",
    title: "Tokens",
    icon: "key",
    order: 72,
    load: async () => (await import("../features/tokens/TokensPage.tsx")).TokensPage,
  },
  {
    id: "users",
    title: "Users",
    icon: "users",
    order: 74,
    available: () => isAdmin.value && isMultiUser.value,
    load: async () => (await import("../features/users/UsersPage.tsx")).UsersPage,
  },
  {
    id: "audit",
    title: "Audit log",
    icon: "log",
    order: 76,
    available: () => isAdmin.value,
    load: async () => (await import("../features/audit/AuditPage.tsx")).AuditPage,
  },
  {
    id: "shared",
    title: "Shared with you",
    icon: "paste",
    order: 80,
    available: () => openPage.value === "shared",
    load: async () => (await import("../features/share/SharedPage.tsx")).SharedPage,
  },
  {
    id: "settings",
    title: "Settings",
    icon: "settings",
    order: 90,
    keys: "Alt+Shift+S",
    load: async () => (await import("../features/settings/SettingsPage.tsx")).SettingsPage,
  },
];

export function registerFeatures(): void {
  registerFleet();
  registerApprovals();
  registerHelp();
  followServers();
  watchDevices();
  followReviewCounts();
  followPullRequests();
  followChecks();
  for (const page of PAGES) registerPage(page);
}
