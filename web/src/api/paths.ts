/** Addresses relative to where the page is served, so that any path prefix works. */

export function serviceUrl(path: string, base: string): string {
  return new URL(path, base).href;
}

/** @param base an http(s) document base; the scheme becomes ws(s). */
export function socketUrl(path: string, base: string): string {
  const url = new URL(path, base);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}

export interface Resume {
  epoch: string;
  since: number;
}

export function terminalPath(sessionId: string, cid: string, resume?: Resume): string {
  const query = new URLSearchParams({ cid });
  if (resume) {
    query.set("epoch", resume.epoch);
    query.set("since", String(resume.since));
  }
  return `ws/sessions/${encodeURIComponent(sessionId)}/terminal?${query.toString()}`;
}

export function sessionPath(id: string, rest = ""): string {
  return `api/sessions/${encodeURIComponent(id)}${rest}`;
}
