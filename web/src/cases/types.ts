/** Records of the case routes (protocol-cases). */

export interface Cloning {
  phase: string;
  /** Null where it is not known. */
  percent: number | null;
}

export interface Case {
  name: string;
  path: string;
  location: "local" | "linked" | "container" | "remote";
  linked: boolean;
  /** Its folder is gone, closed, or does not answer. */
  unreachable?: boolean;
  agentCreated?: boolean;
  description?: string;
  createdAt?: number;
  hasInstructions: boolean;
  /** Sessions with a process in it. */
  liveSessions: number;
  worktree?: { repository: string; branch: string };
  cloning?: Cloning;
}

export interface Folder {
  name: string;
  path: string;
  isRepository: boolean;
}

export interface Browsed {
  path: string;
  /** Null where nothing above may be looked at. */
  parent: string | null;
  folders: Folder[];
  truncated: boolean;
}

export interface Cloned {
  case: Case;
  repository: string;
  ref: string | null;
  warnings: string[];
}

export interface CloneBody {
  name: string;
  repository: string;
  ref?: string;
  shallow?: boolean;
}

/** `case:cloneProgress`. */
export interface CloneProgress extends Cloning {
  name: string;
}
