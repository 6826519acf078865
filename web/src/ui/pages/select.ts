/** Chooses the session in front. */
import { activeId } from "../../store/state.ts";
import { openPage } from "./registry.ts";

/** Whoever chooses a session wants to see it: a page that stands in its place goes. */
export function select(id: string | undefined): void {
  activeId.value = id;
  openPage.value = undefined;
}
