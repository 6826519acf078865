/** The routes of the offer (protocol-restore). */
import { request } from "../../api/client.ts";
import type { OfferDismissedResponse, RestoreOfferResponse, RestoreReportResponse } from "../../api/types.ts";

const PATH = "api/reboot-restore";

export const readOffer = () => request<RestoreOfferResponse>("GET", PATH);

/** @param ids absent: all that is offered. */
export const restore = (ids?: readonly string[]) =>
  request<RestoreReportResponse>("POST", `${PATH}/restore`, { body: ids ? { sessionIds: ids } : {} });

export const dismiss = () => request<OfferDismissedResponse>("POST", `${PATH}/dismiss`);
