/** Whether an address that names nothing leads to the fleet. */
import type { Home } from "../../store/prefs.ts";

/** With more, digits no longer lead to every session. */
const FEW = 9;

/** @param count of sessions; without any there is something to start instead. */
export const startsOnFleet = (choice: Home, count: number): boolean =>
  choice === "fleet" ? count > 0 : choice === "auto" && count > FEW;
