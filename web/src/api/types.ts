/** Records as they come over the wire (protocol-session, protocol-clis, protocol-settings). */

export type SessionStatus = "idle" | "busy" | "stopped" | "error";

export interface PaneExit {
  status?: number;
  signal?: string | number;
  at: number;
}

export interface Session {
  id: string;
  pid: number | null;
  status: SessionStatus;
  mode: string;
  name: string;
  nameSource?: "placeholder" | "auto" | "manual";
  workingDir: string;
  caseName?: string;
  createdAt: number;
  lastActivityAt: number;
  displayModel?: string | null;
  color: string;
  pinned: boolean;
  pinnedAt?: number;
  cols: number;
  rows: number;
  contextUsedPercentage?: number;
  totalCost?: number;
  paneExit?: PaneExit;
  respawnBlocked?: boolean;
  location?: "local" | "container" | "remote";
  remote?: { hostId: string; name: string; owned: boolean };
  container?: { hostId: string; name: string };
  statusReason?: string;
  limitPaused?: boolean;
  autoResume?: { enabled: boolean; resumeAt?: number };
  detached?: boolean;
  owner?: string;
}

/** The object of `GET /api/status` and of the stream's `init` event (protocol-state). */
export interface ServiceState {
  version: string;
  sessions: Session[];
  /** What waits for a person (protocol-approvals). */
  approvals?: unknown[];
  /** The plan's limits as told last; null where nobody told. */
  planUsage?: unknown;
  cronJobs?: number;
  user?: unknown;
  serverTime?: number;
  /** Where the service's clocks are: an IANA name or an offset such as `+02:00`. */
  timeZone?: string;
}

export interface CliEntry {
  id: string;
  label: string;
  shortBadge: string;
  order: number;
  kind: "agent" | "shell";
  enabled: boolean;
  stock: boolean;
  installed: boolean;
  installCommand?: string;
}

export interface Settings {
  displayName?: string;
  defaultMode?: string;
  defaultWorkingDir?: string;
  historyLimit?: number;
  lastUsedCase?: string;
  sessionOrder?: string[];
  [name: string]: unknown;
}

export interface TerminalCapture {
  terminalBuffer: string;
  source: "visible" | "full-history";
  captureCols: number;
  captureRows: number;
  truncated: boolean;
  offset: number;
  epoch: string | null;
}

export interface SearchMatch {
  line: number;
  text: string;
  offset: number;
}

export interface SearchResult {
  matches: SearchMatch[];
  truncated: boolean;
}

export interface NewSessionBody {
  workingDir?: string;
  mode?: string;
  name?: string;
  start: true;
  cols?: number;
  rows?: number;
}
