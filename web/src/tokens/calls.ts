/** One's own tokens. */
import { request } from "../api/client.ts";
import type { NewToken, TokenBody, TokenList } from "../api/types.ts";

export type { Token, TokenBody } from "../api/types.ts";

export const listTokens = () => request<TokenList>("GET", "api/tokens");

export const createToken = (body: TokenBody) => request<NewToken>("POST", "api/tokens", { body });

export const deleteToken = (id: string) => request<unknown>("DELETE", `api/tokens/${encodeURIComponent(id)}`);
