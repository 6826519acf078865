/** The service's clock, as far as it was told: a device's own may be minutes off. */
import { onServerEvent } from "./events.ts";

let ahead = 0;

/** The service's present in Unix milliseconds. */
export const serverNow = (): number => Date.now() + ahead;

export function followServerTime(): void {
  onServerEvent("init", ({ serverTime }) => {
    ahead = serverTime - Date.now();
  });
}
