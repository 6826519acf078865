/** The routes of model endpoints (protocol-models). */
import { request } from "../../api/client.ts";
import type { Endpoint, EndpointPatch, NewEndpointBody, EmptyPayload } from "../../api/types.ts";

const pathOf = (id: string, rest = "") => `api/model-endpoints/${encodeURIComponent(id)}${rest}`;

export const readEndpoints = (signal?: AbortSignal) =>
  request<Endpoint[]>("GET", "api/model-endpoints", signal ? { signal } : {});

export const addEndpoint = (body: NewEndpointBody) =>
  request<{ endpoint: Endpoint }>("POST", "api/model-endpoints", { body });

export const changeEndpoint = (id: string, body: EndpointPatch) =>
  request<{ endpoint: Endpoint }>("PUT", pathOf(id), { body });

export const removeEndpoint = (id: string) => request<EmptyPayload>("DELETE", pathOf(id));

/** Asks the server itself, 8 s at most. */
export const discover = (id: string) => request<unknown>("POST", pathOf(id, "/discover-models"));
