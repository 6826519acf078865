/** The routes of the offer (protocol-restore). */
import { request } from "../api/client.ts";
import type { Dismissal, Offer, Report } from "../api/types.ts";

const PATH = "api/reboot-restore";

export const readOffer = () => request<Offer>("GET", PATH);

/** @param ids absent: all that is offered. */
export const restore = (ids?: readonly string[]) =>
  request<Report>("POST", `${PATH}/restore`, { body: ids ? { sessionIds: ids } : {} });

export const dismiss = () => request<Dismissal>("POST", `${PATH}/dismiss`);
