/** Which file is open, for whoever opens one: the tree, a link in the terminal, a case. */
import { signal } from "@preact/signals";
import { FILES_PAGE, openPage } from "../../ui/pages/registry.ts";

import type { Opened } from "./types.ts";

export const opened = signal<Opened | undefined>(undefined);

/** @param line from 1. */
export function openFile(sessionId: string, path: string, line?: number): void {
  opened.value = { sessionId, path, ...(line !== undefined && { line }) };
  openPage.value = FILES_PAGE;
}
