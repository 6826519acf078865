/** The tunnel, its QR codes, and what is signed in (protocol-tunnel). */
import { request } from "../../api/client.ts";
import type { Qr, RevokedSessionsResponse, TunnelStatusAnswer } from "../../api/types.ts";

export type {
  AuthSession as Device,
  Qr as QrCode,
  TunnelStatusAnswer as TunnelStatus,
} from "../../api/types.ts";

export const readStatus = () => request<TunnelStatusAnswer>("GET", "api/tunnel/status");
export const readQr = () => request<Qr>("GET", "api/tunnel/qr");
export const newQr = () => request<unknown>("POST", "api/tunnel/qr/regenerate");
export const startTunnel = () => request<unknown>("POST", "api/tunnel/start");
export const stopTunnel = () => request<unknown>("POST", "api/tunnel/stop");
export const revokeDevice = (sessionId: string) =>
  request<RevokedSessionsResponse>("POST", "api/auth/revoke", { body: { sessionId } });
