/** Records of the file routes (protocol-files, protocol-uploads). */

export interface Entry {
  name: string;
  /** From the workspace's root. */
  path: string;
  type: "file" | "dir" | "link" | "other";
  size?: number;
  mtimeMs: number;
  children?: Entry[];
  truncated?: boolean;
}

export interface Tree {
  /** The workspace, absolute. */
  root: string;
  path: string;
  tree: Entry[];
  totalFiles: number;
  totalDirectories: number;
  truncated: boolean;
}

export interface Text {
  path: string;
  content: string;
  size: number;
  mtimeMs: number;
  /** SHA-256 of the whole file. */
  hash: string;
  totalLines: number;
  from: number;
  truncated: boolean;
  eol: "lf" | "crlf" | "mixed";
  editable: boolean;
}

export interface Media {
  path: string;
  type: "image" | "pdf" | "audio" | "video" | "binary";
  mime: string;
  size: number;
  mtimeMs: number;
  tooLarge?: boolean;
}

export type Content = Text | Media;

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
