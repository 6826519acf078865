/** Which file is open, for whoever opens one: the tree, a link in the terminal, a case. */
import type { FileMedia, FileText } from "../../api/types.ts";
import { signal } from "@preact/signals";
import { FILES_PAGE, openPage } from "../../ui/pages/registry.ts";

export type {
  FileEntry as Entry,
  FileMedia as Media,
  FileText as Text,
  FileTree as Tree,
} from "../../api/types.ts";

export type Content = FileText | FileMedia;

/** How an agent takes a file in a prompt. */
type Attachment = "path" | "at" | "paste";

export interface Kept {
  /** Absolute. */
  path: string;
  filename: string;
  insert: string;
  attachment: Attachment;
}

export type TailMessage =
  | { type: "connected" }
  | { type: "data"; data: string }
  | { type: "truncated" }
  | { type: "end" }
  | { type: "error"; message: string };

/** A file that is open, and the line to begin at. */
export interface Opened {
  sessionId: string;
  path: string;
  line?: number;
}

export const opened = signal<Opened | undefined>(undefined);

/** @param line from 1. */
export function openFile(sessionId: string, path: string, line?: number): void {
  opened.value = { sessionId, path, ...(line !== undefined && { line }) };
  openPage.value = FILES_PAGE;
}
