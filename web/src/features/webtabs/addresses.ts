/** Addresses of dev servers on the service's machine, as programs print them. */

const LOCAL =
  /\bhttps?:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])(?![\w.-])(?::\d{1,5})?(?:\/[^\s"'<>`|)\]}]*)?/g;

/** @returns each address once; a wildcard address is that of the machine itself. */
export function localAddresses(text: string): string[] {
  const found = new Set<string>();
  for (const [address] of text.matchAll(LOCAL)) {
    const plain = address.replace(/[.,;:!?]+$/, "");
    try {
      const url = new URL(plain);
      if (url.hostname === "0.0.0.0" || url.hostname === "[::]") url.hostname = "localhost";
      found.add(url.href);
    } catch {
      // A port that is none.
    }
  }
  return [...found];
}

/** `localhost:5173`, as a name for the tab. */
export function nameOf(address: string): string {
  const url = new URL(address);
  return (url.host + (url.pathname === "/" ? "" : url.pathname)).slice(0, 60);
}
