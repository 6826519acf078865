/** Where the browser keeps what another app shared with this one. */

export const getCacheName = (scope: string): string => `tservice-shared ${new URL(scope).pathname}`;

export async function forgetShared(scope: string): Promise<void> {
  if ("caches" in globalThis) await caches.delete(getCacheName(scope));
}
