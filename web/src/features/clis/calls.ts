/** The routes of the registry (protocol-clis). */
import { request } from "../../api/client.ts";
import type { CliBody, CliFile, CliItem, InstalledItem, InstallPlan, EmptyPayload } from "../../api/types.ts";

const pathOf = (id: string, rest = "") => `api/clis/${encodeURIComponent(id)}${rest}`;

export const readClis = () => request<CliItem[]>("GET", "api/clis?versions=true");

export const switchCli = (id: string, enabled: boolean) =>
  request<CliItem>("PUT", pathOf(id), { body: { enabled } });

export const addCli = (id: string, body: CliBody) =>
  request<CliItem>("POST", "api/clis", { body: { id, ...body } });

export const replaceCli = (id: string, body: CliBody) =>
  request<CliItem>("PUT", `api/clis/custom/${encodeURIComponent(id)}`, { body });

/** How the file of entries stands. */
export const readCliFile = () => request<CliFile>("GET", "api/clis/file");

export const removeCli = (id: string) => request<EmptyPayload>("DELETE", pathOf(id));

export const planInstall = (id: string) => request<InstallPlan>("GET", pathOf(id, "/install"));

export const installCli = (id: string) => request<InstalledItem>("POST", pathOf(id, "/install"));

export const cancelInstall = (id: string) => request<EmptyPayload>("DELETE", pathOf(id, "/install"));
