/** The tunnel, its QR codes, and what is signed in (protocol-tunnel). */
import { request } from "../api/client.ts";

/** One signed-in browser or program. */
export interface Device {
  id: string;
  ip: string;
  ua: string;
  createdAt: number;
  method: string;
  username?: string;
  /** The one that asks. */
  current?: boolean;
}

export interface TunnelStatus {
  running: boolean;
  url: string | null;
  sseClients: number;
  authSessions: Device[];
}

export interface QrCode {
  svg: string;
  url: string;
  /** Null where nobody has to sign in: there is no code then, only the address. */
  expiresAt: number | null;
  authEnabled: boolean;
}

export const readStatus = () => request<TunnelStatus>("GET", "api/tunnel/status");
export const readQr = () => request<QrCode>("GET", "api/tunnel/qr");
export const newQr = () => request<unknown>("POST", "api/tunnel/qr/regenerate");
export const startTunnel = () => request<unknown>("POST", "api/tunnel/start");
export const stopTunnel = () => request<unknown>("POST", "api/tunnel/stop");
export const revokeDevice = (sessionId: string) =>
  request<{ revoked: number }>("POST", "api/auth/revoke", { body: { sessionId } });
