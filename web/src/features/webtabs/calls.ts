/** The routes of web tabs (protocol-webtabs). */
import { request } from "../../api/client.ts";
import type { WebViewEnvelope, OpenedWebView, WebViewBody, WebViews } from "../../api/types.ts";

const PATH = "api/webviews";
const of = (id: string, rest = "") => `${PATH}/${encodeURIComponent(id)}${rest}`;

export const listTabs = () => request<WebViews>("GET", PATH);
export const createTab = (body: WebViewBody) => request<WebViewEnvelope>("POST", PATH, { body });
export const deleteTab = (id: string) => request<unknown>("DELETE", of(id));
export const openTab = (id: string) => request<OpenedWebView>("POST", of(id, "/open"));
