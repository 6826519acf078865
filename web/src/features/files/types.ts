/** Records of the file routes (protocol-files, protocol-uploads). */

import type { FileMedia, FileText } from "../../api/types.ts";

export type {
  FileEntry as Entry,
  FileMedia as Media,
  FileText as Text,
  FileTree as Tree,
} from "../../api/types.ts";

export type Content = FileText | FileMedia;

export interface Saved {
  path: string;
  size: number;
  mtimeMs: number;
  hash: string;
}

/** How an agent takes a file in a prompt. */
export type Attachment = "path" | "at" | "paste";

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
