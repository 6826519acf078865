/** One's own tokens. */
import { request } from "../api/client.ts";

export interface Token {
  id: string;
  name: string;
  scopes: string[];
  /** The only sessions that it reaches; null for all of its owner's. */
  sessions: string[] | null;
  createdAt: number;
  expiresAt: number | null;
  lastUsedAt: number | null;
}

export interface NewToken {
  name: string;
  scopes: string[];
  sessions?: string[];
  expiresAt?: number;
}

export const listTokens = () => request<{ tokens: Token[] }>("GET", "api/tokens");

export const createToken = (body: NewToken) =>
  request<{ token: string; record: Token }>("POST", "api/tokens", { body });

export const deleteToken = (id: string) => request<unknown>("DELETE", `api/tokens/${encodeURIComponent(id)}`);
