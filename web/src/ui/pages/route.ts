/** The page's address: which session and which page are in front. */

export interface Route {
  login: boolean;
  session?: string;
  page?: string;
}

export function readRoute(url: URL): Route {
  const route: Route = { login: url.pathname.endsWith("/login") };
  const session = url.searchParams.get("session");
  const page = url.searchParams.get("page");
  if (session) route.session = session;
  if (page) route.page = page;
  return route;
}

/** @returns the address relative to the page's own folder. */
export function writeRoute(route: Route): string {
  const query = new URLSearchParams();
  if (route.session) query.set("session", route.session);
  if (route.page) query.set("page", route.page);
  const text = query.toString();
  return (route.login ? "login" : "./") + (text === "" ? "" : `?${text}`);
}

/** @param waiting how many sessions wait for a person. */
export function titleOf(session: { name: string } | undefined, waiting: number, displayName: string): string {
  const app = displayName || "tservice";
  const name = session ? `${session.name} · ${app}` : app;
  return waiting > 0 ? `(${waiting}) ${name}` : name;
}
