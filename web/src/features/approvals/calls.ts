/** The routes of the inbox (protocol-approvals). */
import { request } from "../../api/client.ts";
import type { Answer, ApprovalItemResponse } from "./item.ts";

const path = (id: string, rest: string): string => `api/approvals/${encodeURIComponent(id)}/${rest}`;

export const listApprovals = () => request<{ approvals: ApprovalItemResponse[] }>("GET", "api/approvals");

/** @param expectFrame the dialog that the person saw: another one is not answered (409). */
export const answerApproval = (id: string, answer: Answer, expectFrame: string) =>
  request<unknown>("POST", path(id, "answer"), { body: { ...answer, expectFrame } });

export const dismissApproval = (id: string) => request<unknown>("POST", path(id, "dismiss"));

export const viewedApproval = (sessionId: string) =>
  request<{ acknowledged: string | null }>(
    "POST",
    `api/approvals/session/${encodeURIComponent(sessionId)}/viewed`,
  );
