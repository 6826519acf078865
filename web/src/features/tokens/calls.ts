/** One's own tokens. */
import { request } from "../../api/client.ts";
import type { NewTokenResponse, TokenBody, TokenListResponse } from "../../api/types.ts";

export type { TokenResponse, TokenBody } from "../../api/types.ts";

export const listTokens = () => request<TokenListResponse>("GET", "api/tokens");

export const createToken = (body: TokenBody) => request<NewTokenResponse>("POST", "api/tokens", { body });

export const deleteToken = (id: string) => request<unknown>("DELETE", `api/tokens/${encodeURIComponent(id)}`);
