/** What the service is sent and answers, and what its events tell.  Written by `make docs`. */

/** A case that an agent had made. */
export interface AgentCase {
  name: string;
  path: string;
  createdAt: number;
  createdBy: string;
  parentSessionId?: string;
  inUse: boolean;
}

/** The newest first. */
export interface AgentCases {
  cases: AgentCase[];
}

/** What a person chose. */
export interface AnswerBody {
  action: "approve" | "deny" | "option" | "options" | "text";
  option?: number | null;
  options?: number[] | null;
  text?: string | null;
  expectFrame?: string | null;
}

/** What was done. */
export interface Answered {
  id: string;
  sessionId: string;
  action: "approve" | "deny" | "option" | "options" | "text";
}

/** A page, the newest first; `next` is the `before` of the following one, if any. */
export interface Audit {
  entries: Entry[];
  next?: number;
}

/** Somebody who is signed in; `id` is not the cookie, `current` is the caller's own. */
export interface AuthSession {
  id: string;
  username: string;
  ip: string;
  ua: string;
  createdAt: number;
  method: string;
  current?: boolean;
}

/** Send `/clear` at `threshold` tokens (protocol-automatic). */
export interface AutoClear {
  enabled: boolean;
  threshold: number;
}

/** `/clear` at `threshold` tokens. */
export interface AutoClearBody {
  enabled: boolean;
  threshold?: number;
}

/** Send `/compact` at `threshold` tokens (protocol-automatic). */
export interface AutoCompact {
  enabled: boolean;
  threshold: number;
  prompt?: string;
}

/** `/compact` at `threshold` tokens. */
export interface AutoCompactBody {
  enabled: boolean;
  threshold?: number;
  prompt?: string | null;
}

/** Go on after a usage limit; `resume_at` in Unix milliseconds once armed (protocol-automatic). */
export interface AutoResume {
  enabled: boolean;
  resumeAt?: number;
}

/** Go on after a usage limit. */
export interface AutoResumeBody {
  enabled: boolean;
  resumeAt?: number | null;
}

/** The folders in a folder. */
export interface Browse {
  path: string;
  parent: string | null;
  folders: Folder[];
  truncated: boolean;
}

/** The session's host is away: the input is typed once that is back, unless there was no room for it (`dropped`). */
export interface Buffered {
  buffered?: true;
  dropped?: boolean;
}

/** What a build printed: its last 1,000 lines, until the service ends. */
export interface BuildLog {
  running: boolean;
  lines: string[];
}

/** A case. `unreachable` when its folder is gone, closed or does not answer; `agent_created` when an agent had it made. */
export interface Case {
  name: string;
  path: string;
  location: "local" | "linked" | "remote" | "container";
  linked: boolean;
  unreachable?: boolean;
  agentCreated?: boolean;
  description?: string;
  createdAt?: number;
  hasInstructions: boolean;
  liveSessions: number;
  worktree?: Worktree;
  cloning?: Cloning;
  remote?: FarCase;
  container?: CaseContainer;
}

/** The container that a case's sessions live in. */
export interface CaseContainer {
  hostId: string;
  engine: string;
  name: string;
  workdir: string;
  warnings?: string[];
}

/** The order that holds now. */
export interface CaseOrder {
  order: string[];
}

/** Names of cases in their new order. */
export interface CaseOrderBody {
  order: string[];
}

/** What came of a change. */
export interface ChangedModel {
  customModel: ChosenModel | null;
  restarted: boolean;
}

/** The model that a session uses. */
export interface ChosenModel {
  endpointId: string;
  modelId: string;
  label?: string;
}

/** A custom entry without its id; absent `enabled` keeps the state. */
export interface CliBody {
  label: string;
  shortBadge: string;
  binaries: string[];
  argv: string[];
  enabled?: boolean | null;
}

/** Switches an entry. */
export interface CliEnabledBody {
  enabled: boolean;
}

/** How `clis.json` stands. */
export interface CliFile {
  path: string;
  problem?: string;
  entries: FaultyEntry[];
}

/** An entry as listed (protocol-clis). */
export interface CliItem {
  id: string;
  label: string;
  shortBadge: string;
  order: number;
  kind: "agent" | "shell";
  enabled: boolean;
  stock: boolean;
  installed: boolean;
  path?: string;
  version?: string;
  installCommand?: string;
  customModel?: boolean;
  params?: Record<string, string[]>;
  newline?: string;
  binaries?: string[];
  argv?: string[];
  lookedIn?: string[];
  loginShellProblem?: string;
}

/** What came of a clone; no text holds credentials. */
export interface Clone {
  case: Case;
  repository: string;
  ref: string | null;
  warnings: string[];
}

/** A repository elsewhere. */
export interface CloneCaseBody {
  name: string;
  repository: string;
  ref?: string | null;
  shallow?: boolean | null;
  description?: string | null;
}

/** How far a clone is. */
export interface Cloning {
  phase: string;
  percent: number | null;
}

/** The colour that holds now. */
export interface Colour {
  color: "default" | "red" | "orange" | "yellow" | "green" | "blue" | "purple" | "pink";
}

/** One of the eight colours. */
export interface ColourBody {
  color: "default" | "red" | "orange" | "yellow" | "green" | "blue" | "purple" | "pink";
}

/** A commit that was not pushed; `time` in epoch seconds. */
export interface Commit {
  hash: string;
  author: string;
  time: number;
  subject: string;
}

/** The container's part (protocol-containers). */
export interface Container {
  hostId: string;
  name: string;
}

/** A container as it is now; `missing`: it is made with the next start of a session. */
export interface ContainerDetails {
  name: string;
  caseName: string;
  hostId: string;
  state: "created" | "running" | "paused" | "restarting" | "exited" | "missing";
  image: string;
  network: string;
  created: number | null;
  exitCode?: number;
  oomKilled?: boolean;
  limits: Limits;
  usage?: Usage;
  warnings?: string[];
}

/** An engine, and how containers are made by it. */
export interface ContainerHost {
  id: string;
  label: string;
  engine: "docker" | "podman";
  image: string;
  context?: string;
  network: string;
  resources: Resources;
  mountCredentials: boolean | "copy";
  hooksEnabled: boolean;
  extraCreateArgs: string[];
  extraExecArgs: string[];
}

/** An engine, and how containers are made by it. */
export interface ContainerHostBody {
  label: string;
  engine: "docker" | "podman";
  image: string;
  context?: string | null;
  network?: string;
  resources?: ResourcesBody;
  mountCredentials?: "copy" | boolean;
  hooksEnabled?: boolean;
  extraCreateArgs?: string[];
  extraExecArgs?: string[];
}

/** The containers of a host's cases. */
export interface Containers {
  containers: ContainerDetails[];
}

/** What to save; the length of `content` is checked apart: it is a 413. */
export interface ContentBody {
  path: string;
  content: string;
  baseHash: string | null;
  force?: boolean;
}

/** The model's context is small; asked again with `confirmedContext`, it is used. */
export interface ContextQuestion {
  requiresContextWarning?: true;
  modelId: string;
  contextLength: number;
  minSafeContextTokens: number;
}

/** A conversation on disk. */
export interface Conversation {
  id: string;
  mode: string;
  updatedAt: number;
  size: number;
  turns: number;
  turnsCut?: boolean;
  workingDir?: string;
  title?: string;
  excerpt?: string;
}

/** Exact, also where a list is cut; `uncommitted` counts distinct paths. */
export interface Counts {
  staged: number;
  unstaged: number;
  untracked: number;
  conflicted: number;
  uncommitted: number;
  stashes: number;
}

/** A new session; it runs only with `start`. */
export interface CreateBody {
  caseName?: string | null;
  mode?: string | null;
  parentSessionId?: string | null;
  envOverrides?: Record<string, string> | null;
  effort?: "low" | "medium" | "high" | "xhigh" | "max" | null;
  model?: string | null;
  params?: Record<string, string | boolean | number> | null;
  worktree?: NewWorktreeBody | null;
  customModel?: CustomModelBody | null;
  workingDir?: string | null;
  name?: string | null;
  resumeSessionId?: string | null;
  attachRemoteSession?: RemoteSessionBody | null;
  statusLineTelemetry?: boolean | null;
  start?: boolean | null;
  cols?: number | null;
  rows?: number | null;
}

/** A new case; with `path` in a folder of one's own choice. */
export interface CreateCaseBody {
  name: string;
  description?: string | null;
  path?: string | null;
}

/** A new case, with a container by the host `default` or by settings of its own. */
export interface CreateContainerBody {
  name: string;
  description?: string | null;
  image?: string | null;
  network?: string | null;
  memory?: string | null;
  cpus?: number | null;
  mountCredentials?: "copy" | boolean | null;
}

/** Where the caret is, counted from 0. */
export interface Cursor {
  x: number;
  y: number;
}

/** A model of a custom endpoint (protocol-models). */
export interface CustomModel {
  endpointId: string;
  modelId: string;
  label?: string;
}

/** A model of a custom endpoint, and the questions already answered. */
export interface CustomModelBody {
  endpointId: string;
  modelId: string;
  confirmed?: boolean | null;
  confirmedContext?: boolean | null;
  confirmedSwap?: boolean | null;
}

/** A model and the questions already answered, or `clear`. */
export interface CustomModelChange {
  endpointId?: string | null;
  modelId?: string | null;
  confirmed?: boolean | null;
  confirmedContext?: boolean | null;
  confirmedSwap?: boolean | null;
  clear?: boolean | null;
}

/** A session was removed, and what is left of it; absent where nothing is. */
export interface Deleted {
  left?: Left[];
}

/** What became of an input. */
export interface Delivery {
  delivered: boolean;
  duplicate?: boolean;
  opened?: string;
  putAside?: boolean;
}

/** A diff; cut short at 400 KB. */
export interface Diff {
  diff: string;
  truncated: boolean;
  binary: boolean;
}

/** How many sessions are not offered any more. */
export interface Dismissal {
  dismissed: number;
}

/** The item that was taken away. */
export interface Dismissed {
  id: string;
}

/** The report. */
export interface Doctor {
  platform: string;
  summary: Summary;
  tools: Tool[];
  lookedIn: string[];
}

/** The level that the agent told. */
export interface Effort {
  effort: string;
}

/** One of the agent's levels. */
export interface EffortBody {
  effort: string;
}

/** An endpoint; its key is never shown. */
export interface Endpoint {
  id: string;
  label: string;
  baseUrl: string;
  apiKeySet: boolean;
  authStyle: "bearer" | "api-key";
  models: EndpointModel[];
  lastDiscoveredAt: number | null;
  defaultModelId?: string;
}

/** Which subscription is meant. */
export interface EndpointBody {
  endpoint: string;
}

/** A model that an endpoint offers; its context in tokens, where the endpoint tells. */
export interface EndpointModel {
  id: string;
  contextLength?: number;
}

/** What is absent stays; of `defaultModelId` alone null is a value: there is none any more. */
export interface EndpointPatch {
  label?: string | null;
  baseUrl?: string | null;
  apiKey?: string | null;
  authStyle?: "bearer" | "api-key" | null;
  defaultModelId?: string | null;
}

/** One entry; a later one has a greater `seq`. */
export interface Entry {
  seq: number;
  at: number;
  actor: string;
  method: string;
  address: string;
  action: string;
  target: string;
  detail: Record<string, unknown>;
}

export interface Error {
  success: false;
  error: string;
  errorCode: "INVALID_INPUT" | "UNAUTHORIZED" | "FORBIDDEN" | "PASSWORD_CHANGE_REQUIRED" | "NOT_FOUND" | "USER_NOT_FOUND" | "SESSION_BUSY" | "CONFLICT" | "ALREADY_EXISTS" | "USER_EXISTS" | "LAST_ADMIN" | "PAYLOAD_TOO_LARGE" | "OPERATION_FAILED" | "RATE_LIMITED" | "INTERNAL_ERROR";
}

/** How the process ended; all `None`: nobody knows. */
export interface Exit {
  status?: number;
  signal?: string;
  at: number;
  reason?: string;
}

/** Where a case is on a remote host. */
export interface FarCase {
  hostId: string;
  path: string;
}

/** Why a repository has no status. */
export interface Fault {
  state: "error";
  error: string;
  repoRoot: string;
  checkedAt: number;
}

/** An entry of `clis.json` that is not in use as it stands there. */
export interface FaultyEntry {
  id: string;
  problem: string;
}

/** A changed file; the letters are those of `git status --porcelain=v2`. */
export interface File {
  path: string;
  origPath?: string;
  index: string;
  worktree: string;
  kind: "conflicted" | "staged" | "unstaged" | "untracked";
}

/** One entry of a tree; `children` is absent where it was not entered. */
export interface FileEntry {
  name: string;
  path: string;
  type: "file" | "dir" | "link" | "other";
  size?: number;
  mtimeMs: number;
  children?: FileEntry[];
  truncated?: boolean;
}

/** An address that needs no sign-in, until `expiresAt` or ten minutes after its last use. */
export interface FileLink {
  url: string;
  expiresAt: number;
}

/** What is no text; `url` has its bytes. */
export interface FileMedia {
  path: string;
  type: "image" | "pdf" | "audio" | "video" | "binary";
  mime: string;
  size: number;
  mtimeMs: number;
  url: string;
  tooLarge?: boolean;
  reason?: string;
}

/** Some lines of a text. */
export interface FileText {
  path: string;
  content: string;
  size: number;
  mtimeMs: number;
  hash: string;
  totalLines: number;
  from: number;
  truncated: boolean;
  eol: "lf" | "crlf" | "mixed";
  editable: boolean;
  reason?: string;
}

/** A tree; the totals count the entries in it. */
export interface FileTree {
  root: string;
  path: string;
  tree: FileEntry[];
  totalFiles: number;
  totalDirectories: number;
  truncated: boolean;
}

/** Each session's signal, null where none came. */
export interface Fleet {
  signals: Record<string, "exit" | "blocked" | "stop" | "idle" | "working" | null>;
  wait: WaitState;
  waitedMs: number;
  immediate: boolean;
}

/** Whether the flicker filter is on. */
export interface Flicker {
  flickerFilter: boolean;
}

/** The flicker filter, on or off. */
export interface FlickerBody {
  flickerFilter: boolean;
}

/** A folder inside of another. */
export interface Folder {
  name: string;
  path: string;
  isRepository: boolean;
}

/** What a folder brings for the agent of one mode. */
export interface FolderTrust {
  state: "nothing" | "trusted" | "asks";
  workingDir: string;
  paths: string[];
  summary: string;
  missing: number;
}

/** Whether there was one. */
export interface Forgotten {
  deleted: boolean;
}

/** What is known of a workspace (protocol-git-status). */
export interface GitStatus {
  state: "ok" | "not-a-repo" | "unsupported" | "error";
  reason?: "remote" | "docker";
  error?: string;
  repos: Repository[];
  reposTruncated: boolean;
  repoLimit?: number;
  checkedAt: number;
}

/** The process answers; nothing else is told to strangers. */
export interface Health {
  ok?: true;
}

/** Conversations, newest first. */
export interface History {
  sessions: Conversation[];
  total: number;
  complete?: boolean;
}

/** One hook event; `data` is the hook's payload, of which protocol-hooks says what is kept. */
export interface HookBody {
  event: "permission_prompt" | "elicitation_dialog" | "elicitation_complete" | "elicitation_response" | "idle_prompt" | "stop" | "prompt_submitted" | "agent_working" | "session_start" | "session_end" | "teammate_idle" | "task_completed" | "task_created" | "tool_started" | "tool_ended" | "permission_denied" | "subagent_started" | "subagent_stopped";
  sessionId: string;
  data?: Record<string, unknown> | null;
}

/** What a look at a host told; `host_key` is missing where it showed none. */
export interface HostChecked {
  ok: boolean;
  hostKey?: "known" | "unknown" | "changed";
  fingerprint?: string;
  knownFingerprint?: string;
  latencyMs?: number;
  tmux?: string;
  error?: string;
}

/** Something to be typed, and what to wait for afterwards. The length of `input` is checked apart: it is a 413. `wait` is `true` for the default signals, a comma list or a list of signals; `null`, `false` and an empty text mean none. */
export interface InputBody {
  input: string;
  useMux?: boolean | null;
  clientId?: string | null;
  seq?: number | null;
  wait?: boolean | string | string[] | null;
  waitTimeout?: number | null;
}

/** What became of the input, and how the wait ended. */
export interface InputWait {
  wait: SignalState;
  waitedMs: number;
  status: string;
  limitPaused: boolean;
  immediate: boolean;
  delivered: boolean;
  duplicate: boolean;
  opened?: string;
  putAside?: boolean;
}

/** What an install would do. */
export interface InstallPlan {
  command: string;
  target: string;
  writable: boolean;
}

/** An entry, and what its installation printed last. */
export interface InstalledItem {
  id: string;
  label: string;
  shortBadge: string;
  order: number;
  kind: "agent" | "shell";
  enabled: boolean;
  stock: boolean;
  installed: boolean;
  path?: string;
  version?: string;
  installCommand?: string;
  customModel?: boolean;
  params?: Record<string, string[]>;
  newline?: string;
  binaries?: string[];
  argv?: string[];
  lookedIn?: string[];
  loginShellProblem?: string;
  output: string;
}

/** What the owner of a session wants in its workspace. */
export interface Intent {
  key: string;
  workingDir: string;
  updatedAt: number;
  goals: string;
  recentPrompts: PastPrompt[];
}

/** The whole of an intent. */
export interface IntentBody {
  goals: string;
}

/** One thing that waits for a person. */
export interface Item {
  id: string;
  sessionId: string;
  sessionName: string;
  kind: "permission" | "question" | "idle";
  createdAt: number;
  toolName?: string;
  toolSummary?: string;
  toolDigest?: string;
  toolMissing?: number;
  toolOther?: string[];
  complete?: boolean;
  riskHint?: string;
  message?: string;
  cwd?: string;
  context?: string;
  options?: Option[];
  frame: string;
  acknowledgedAt?: number;
}

/** The pending items, oldest first. */
export interface Items {
  approvals: Item[];
}

/** A job; times in Unix milliseconds. */
export interface Job {
  id: string;
  owner?: string;
  name: string;
  agentType: string;
  workingDir: string;
  caseName?: string;
  launchCommand?: string;
  promptMode: "inline_text" | "prompt_file_path";
  promptText?: string;
  promptFilePath?: string;
  inputMode: "paste" | "typed";
  scheduleType: "once" | "interval" | "daily" | "weekly" | "cron";
  runAt?: number;
  intervalMinutes?: number;
  dailyTime?: string;
  weeklyDays?: number[];
  weeklyTime?: string;
  cronExpression?: string;
  enabled: boolean;
  concurrencyPolicy: "warn_only" | "skip_if_same_agent_running";
  autoClosePreviousSession: boolean;
  notes?: string;
  createdAt: number;
  updatedAt: number;
  lastRunAt: number | null;
  nextRunAt: number | null;
  lastStatus: "created" | "session_started" | "prompt_sent" | "failed" | "skipped" | null;
  lastDueKey: string | null;
  completedOnce?: boolean;
}

/** A new job (protocol-cron-job). */
export interface JobBody {
  caseName?: string | null;
  launchCommand?: string | null;
  promptText?: string | null;
  promptFilePath?: string | null;
  runAt?: number | null;
  intervalMinutes?: number | null;
  dailyTime?: string | null;
  weeklyDays?: number[] | null;
  weeklyTime?: string | null;
  cronExpression?: string | null;
  autoClosePreviousSession?: boolean | null;
  notes?: string | null;
  name: string;
  agentType: string;
  workingDir?: string | null;
  promptMode: "inline_text" | "prompt_file_path";
  inputMode: "paste" | "typed";
  scheduleType: "once" | "interval" | "daily" | "weekly" | "cron";
  enabled: boolean;
  concurrencyPolicy: "warn_only" | "skip_if_same_agent_running";
}

/** Whether the job fires. */
export interface JobEnabledBody {
  enabled: boolean;
}

/** Any of a job's fields; `null` takes an optional one away. The defaults stand for fields that are not there. */
export interface JobPatch {
  caseName?: string | null;
  launchCommand?: string | null;
  promptText?: string | null;
  promptFilePath?: string | null;
  runAt?: number | null;
  intervalMinutes?: number | null;
  dailyTime?: string | null;
  weeklyDays?: number[] | null;
  weeklyTime?: string | null;
  cronExpression?: string | null;
  autoClosePreviousSession?: boolean | null;
  notes?: string | null;
  name?: string;
  agentType?: string;
  workingDir?: string;
  promptMode?: "inline_text" | "prompt_file_path";
  inputMode?: "paste" | "typed";
  scheduleType?: "once" | "interval" | "daily" | "weekly" | "cron";
  enabled?: boolean;
  concurrencyPolicy?: "warn_only" | "skip_if_same_agent_running";
}

/** A kept image; `insert` is what the session's agent takes for it in a prompt. */
export interface KeptImage {
  path: string;
  filename: string;
  insert: string;
  attachment: "path" | "at" | "paste";
}

/** A kept screenshot. */
export interface KeptScreenshot {
  path: string;
  filename: string;
}

/** A named key. */
export interface KeyBody {
  key: string;
}

/** What a message for the browser is encrypted with (RFC 8291). */
export interface KeysBody {
  p256dh: string;
  auth: string;
}

/** How many sessions were removed, and what is left of them. */
export interface Killed {
  left?: Left[];
  killed: number;
}

/** A process that outlives its session; `command` is one line, untrusted and perhaps cut. */
export interface Left {
  pid: number;
  command: string;
}

/** The limits that hold: bytes, processors, processes. */
export interface Limits {
  memory: number;
  cpus: number;
  pids: number;
}

/** What to open. */
export interface LinkBody {
  path: string;
  download?: boolean;
}

/** A folder that is there, and what to call it. */
export interface LinkCaseBody {
  name: string;
  path: string;
}

/** A folder that is there, and whose engine makes the container for it. */
export interface LinkContainerBody {
  name: string;
  hostId: string;
  workspacePath: string;
}

/** What ends beside what is open; without a body nothing else. */
export interface LogOutBody {
  tokens?: boolean;
}

/** How many signed-in sessions ended, and how many tokens of the account live on. */
export interface LoggedOut {
  revoked: number;
  tokens: number;
}

/** Who signed in, and what goes with the cookie; `key` is null where nobody has to sign in. */
export interface Login {
  username: string;
  role: "admin" | "user";
  mustChangePassword: boolean;
  multiUser: boolean;
  key: string | null;
}

/** What the login page sends; without a body, Basic authentication says who it is. */
export interface LoginBody {
  username?: string | null;
  password?: string | null;
}

/** One occurrence: 0-based line of the history, and offset in it. `start`: of a long line, where in it `text` begins. */
export interface Match {
  line: number;
  text: string;
  offset: number;
  start?: number;
}

/** Who the caller is (protocol-login). */
export interface Me {
  username: string;
  role: "admin" | "user";
  mustChangePassword: boolean;
  multiUser: boolean;
}

/** Something that one side said. */
export interface Message {
  role: "user" | "assistant";
  text: string;
  timestamp: number | null;
}

/** The model as the agent calls it. */
export interface Model {
  model: string;
}

/** The model, by a name that the agent knows. */
export interface ModelBody {
  model: string;
}

/** What a model costs, in US dollars for a million tokens, and how many it takes. */
export interface ModelPrice {
  model: string;
  input: number;
  output: number;
  cacheRead?: number | null;
  cacheWrite?: number | null;
  window?: number | null;
}

/** What an endpoint offers. */
export interface Models {
  models: EndpointModel[];
}

/** The name that holds now. */
export interface Name {
  name: string;
}

/** An empty name returns to a generated one. */
export interface NameBody {
  name: string;
}

/** A custom entry; `enabled` defaults to true. */
export interface NewCliBody {
  label: string;
  shortBadge: string;
  binaries: string[];
  argv: string[];
  enabled?: boolean | null;
  id: string;
}

/** A new endpoint. */
export interface NewEndpointBody {
  label: string;
  baseUrl: string;
  apiKey?: string | null;
  authStyle?: "bearer" | "api-key" | null;
  defaultModelId?: string | null;
}

/** A new token, shown this once. */
export interface NewToken {
  token: string;
  record: Token;
}

/** A new account; its one-time password is shown this once. */
export interface NewUser {
  user: User;
  oneTimePassword?: string;
}

/** A new account; without a password it gets a one-time password. */
export interface NewUserBody {
  role?: "admin" | "user" | null;
  password?: string | null;
  canBypassPermissions?: boolean | null;
  osUser?: string | null;
  username: string;
}

/** A new worktree of the case, to work in; `from` is where a new branch begins. */
export interface NewWorktreeBody {
  branch: string;
  from?: string | null;
}

/** The priority that new sessions start with. */
export interface Nice {
  enabled?: boolean;
  value?: number;
}

/** Scheduling priority of the pane's process, -20 (most) to 19; 0 while disabled. */
export interface NiceAnswer {
  enabled: boolean;
  value: number;
}

/** The priority of the pane's process. */
export interface NiceBody {
  enabled: boolean;
  value?: number;
}

export interface NicePatch {
  enabled?: boolean | null;
  value?: number | null;
}

/** That it happened says it all. */
export type Nothing = Record<string, never>;

/** What the browser UI draws attention to. */
export interface NotificationPreferences {
  enabled?: boolean;
  sound?: boolean;
  events?: ("permission_prompt" | "elicitation_dialog" | "idle_prompt" | "stop" | "exit" | "error")[];
}

export interface NotificationPreferencesPatch {
  enabled?: boolean | null;
  sound?: boolean | null;
  events?: ("permission_prompt" | "elicitation_dialog" | "idle_prompt" | "stop" | "exit" | "error")[] | null;
}

/** What can be brought back; times in Unix milliseconds. */
export interface Offer {
  sessions: Offered[];
  expiresAt: number | null;
  restoring: boolean;
}

/** One session that can be brought back. */
export interface Offered {
  id: string;
  name: string;
  workingDir: string;
  mode: string;
  owner?: string;
  lastActivityAt: number;
  resumes: boolean;
  scrollback: boolean;
}

/** A case that was made. */
export interface OneCase {
  case: Case;
}

/** A host that was kept. */
export interface OneContainerHost {
  host: ContainerHost;
}

/** An endpoint, wrapped. */
export interface OneEndpoint {
  endpoint: Endpoint;
}

/** Null without one. */
export interface OneIntent {
  intent: Intent | null;
}

/** A job, wrapped. */
export interface OneJob {
  job: Job;
}

/** A host, wrapped. */
export interface OneRemoteHost {
  host: RemoteHost;
}

/** A session, wrapped. */
export interface OneSession {
  session: Session;
  warnings?: string[];
}

/** A password that is shown once, and must be changed at the next sign-in. */
export interface OneTime {
  oneTimePassword: string;
}

/** A run that was begun. */
export interface OneTimedRun {
  run: TimedRun;
}

/** One account. */
export interface OneUser {
  user: User;
}

/** A web tab that was made or changed. */
export interface OneWebView {
  webview: WebView;
}

/** Where a web tab is to be seen. `isolated_url`: the same on a listener of its own, if there is one; whether the browser reaches it is the browser's to find out. */
export interface OpenedWebView {
  webview: WebView;
  embedUrl: string;
  isolatedUrl?: string;
}

/** One choice of a dialog. */
export interface Option {
  n: number;
  label: string;
  selected: boolean;
  checked?: boolean;
  description?: string;
}

/** Every session that the caller sees, in order. */
export interface Order {
  order: string[];
}

/** Session ids in their new order; those not named stay where they are. */
export interface OrderBody {
  order: string[];
}

/** The wait for output, and the session's status alongside. */
export interface Output {
  wait: OutputState;
  waitedMs: number;
  status: string;
  limitPaused: boolean;
  immediate: boolean;
}

/** How a wait for output ended. */
export interface OutputState {
  timedOut: boolean;
  timeoutMs: number;
  until: ("exit" | "blocked" | "stop" | "idle" | "working")[];
  ended: boolean;
  signal: "exit" | "blocked" | "stop" | "idle" | "working" | null;
  matched: boolean;
  match: string | null;
  snippet: string | null;
}

/** What goes with the cookie of the caller's new session. */
export interface PageKey {
  key: string | null;
}

/** A user's own new password. */
export interface PasswordBody {
  currentPassword: string;
  newPassword: string;
}

/** Something that was said to an agent; `ts` in Unix milliseconds. */
export interface PastPrompt {
  ts: number;
  sessionId: string;
  text: string;
}

/** The mode that the screen shows. */
export interface PermissionMode {
  permissionMode: string;
}

/** One of the agent's modes. */
export interface PermissionModeBody {
  permissionMode: string;
}

/** Whether it is pinned. */
export interface Pin {
  pinned: boolean;
}

/** Pinned or not. */
export interface PinBody {
  pinned: boolean;
}

/** What is used of the plan's limits, as told last, `at` Unix milliseconds. */
export interface PlanUsageTold {
  fiveHour?: WindowTold;
  sevenDay?: WindowTold;
  at: number;
}

/** What fetches that which a case lacks. */
export interface Prepare {
  sessionId?: string;
  commands: string[];
}

/** The next fires, fewer than 5 where there are no more; Unix milliseconds. */
export interface Preview {
  fires: number[];
  explanation?: string;
}

/** Whether something answers at an address. */
export interface Probe {
  ok: boolean;
  status?: number;
  error?: string;
}

/** Where to look. */
export interface ProbeBody {
  url: string;
}

/** Voice dictation; of the key only whether there is one. */
export interface PublicVoice {
  provider: string;
  apiKeySet: boolean;
  language: string;
  keyterms: string[];
}

/** The service's public key: an uncompressed point of P-256, base64url. */
export interface PushKey {
  publicKey: string;
}

/** What there is to scan; `expires_at` is when the next one takes its place. Without authentication it holds no code, and stays. */
export interface Qr {
  svg: string;
  url: string;
  expiresAt: number | null;
  authEnabled: boolean;
}

/** The session that was started, and where. */
export interface QuickStart {
  sessionId: string;
  caseName: string;
  casePath: string;
  warnings?: string[];
}

/** A case and a session in it, which is started. */
export interface QuickStartBody {
  caseName?: string | null;
  mode?: string | null;
  parentSessionId?: string | null;
  envOverrides?: Record<string, string> | null;
  effort?: "low" | "medium" | "high" | "xhigh" | "max" | null;
  model?: string | null;
  params?: Record<string, string | boolean | number> | null;
  worktree?: NewWorktreeBody | null;
  customModel?: CustomModelBody | null;
  sessionName?: string | null;
  agentOrigin?: string | null;
}

/** Whether the host of a session is reached now; null for one that was not tried. `next_at` is when it is tried next by itself, in Unix milliseconds. */
export interface Reachability {
  reachable: boolean | null;
  wakeConfigured: "mac" | "command" | "none";
  nextAt?: number;
  error?: string;
}

/** One session's outcome; `scrollbackRestored` when what it showed stands above what it shows now. */
export interface Rebuilt {
  sessionId: string;
  outcome: "restored" | "already-live" | "capacity-reached" | "workspace-missing" | "workspace-forbidden" | "agent-failed";
  scrollbackRestored?: boolean;
}

/** The remote host's part; `owned` false: attached to, so never killed (protocol-remote). */
export interface Remote {
  hostId: string;
  name: string;
  owned: boolean;
}

/** A machine that sessions can run on. */
export interface RemoteHost {
  id: string;
  label: string;
  host: string;
  username: string;
  port: number;
  identityFile?: string;
  jumpHost?: string;
  extraSshOptions: string[];
  commands: Record<string, string>;
  wakeMac?: string;
  wakeCommand?: string;
}

/** A machine; everything but its label, host and username has a default. */
export interface RemoteHostBody {
  label: string;
  host: string;
  username: string;
  port?: number;
  identityFile?: string | null;
  jumpHost?: string | null;
  extraSshOptions?: string[];
  commands?: Record<string, string>;
  wakeMac?: string | null;
  wakeCommand?: string | null;
}

/** A folder of a remote host, and what to call it. */
export interface RemoteLinkBody {
  name: string;
  hostId: string;
  remotePath: string;
}

/** An existing session of a remote host. */
export interface RemoteSessionBody {
  hostId: string;
  remoteSessionName: string;
}

/** Whether there was such a subscription of the caller's. */
export interface Removed {
  removed: boolean;
}

/** What became of each. */
export interface Report {
  restored: number;
  skipped: number;
  entries: Rebuilt[];
}

/** A repository; `path` is its root relative to the working directory. */
export interface Repository {
  name: string;
  path: string;
  status: State | Fault;
}

/** A size, and what kind of screen asks for it. */
export interface ResizeBody {
  cols: number;
  rows: number;
  viewportType?: "mobile" | "tablet" | "desktop" | null;
  force?: boolean | null;
}

/** What a container may use at most. */
export interface Resources {
  memory: string;
  cpus: number;
  pids: number;
}

/** What a container may use at most. */
export interface ResourcesBody {
  memory?: string;
  cpus?: number;
  pids?: number;
}

/** The agent's last answer; an empty text and no time before the first. */
export interface Response {
  text: string;
  timestamp: number | null;
  messages?: Message[];
}

/** Which of the sessions that are offered; all when absent. */
export interface RestoreBody {
  sessionIds?: string[] | null;
}

/** What became of an attempt; absent fields have no value. */
export interface Result {
  ok: boolean;
  status?: number;
  error?: string;
  at: number;
}

/** One session, or without an id all of them. */
export interface RevokeBody {
  sessionId?: string | null;
}

/** How many sessions ended. */
export interface Revoked {
  revoked: number;
}

/** A run; `finishedAt` is about its launch and its prompt, not about the agent's work. */
export interface Run {
  id: string;
  sessionId: string | null;
  sessionName: string | null;
  status: "created" | "session_started" | "prompt_sent" | "failed" | "skipped";
  errorMessage?: string;
  cronJobId: string;
  startedAt: number;
  finishedAt: number | null;
  triggerType: "scheduled" | "manual_run_now";
  createdSessionUrl: string | null;
}

/** The run, and how many live sessions of the same mode are not of this job. */
export interface RunNow {
  run: Run;
  activeAgents: number;
}

/** What an endpoint has loaded; `supported` is false where it does not tell. */
export interface Running {
  supported: boolean;
  running: RunningModel[];
}

/** A model that is loaded, or on its way. */
export interface RunningModel {
  model: string;
  state: string;
}

/** A file as it was saved. */
export interface SavedFile {
  path: string;
  size: number;
  mtimeMs: number;
  hash: string;
}

/** One of a list. */
export interface Screenshot {
  path: string;
  filename: string;
  size: number;
  mtimeMs: number;
}

/** The newest 50. */
export interface Screenshots {
  screenshots: Screenshot[];
}

/** Occurrences, oldest first; `truncated`: there are more. */
export interface Search {
  matches: Match[];
  truncated: boolean;
}

/** A session (protocol-session). */
export interface Session {
  id: string;
  detached?: boolean;
  displayModel: string | null;
  displayModelSource?: "custom-endpoint" | "statusline" | "screen" | "config" | "launch";
  respawnBlocked?: boolean;
  mode: string;
  name: string;
  nameSource: "placeholder" | "auto" | "manual";
  workingDir: string;
  createdAt: number;
  lastActivityAt: number;
  status: "idle" | "busy" | "stopped" | "error";
  statusReason?: string;
  pid: number | null;
  owner?: string;
  caseName?: string;
  lastSubmitAt?: number;
  parentSessionId?: string;
  color: "default" | "red" | "orange" | "yellow" | "green" | "blue" | "purple" | "pink";
  pinned: boolean;
  pinnedAt?: number;
  cols: number;
  rows: number;
  autoCompact: AutoCompact;
  autoClear: AutoClear;
  autoResume: AutoResume;
  limitPaused: boolean;
  nice: NiceAnswer;
  flickerFilter: boolean;
  tokens: Tokens;
  totalCost: number;
  contextUsedPercentage?: number;
  params: Record<string, unknown>;
  customModel?: CustomModel;
  conversationIds: string[];
  paneExit?: Exit;
  location: "local" | "container" | "remote";
  remote?: Remote;
  container?: Container;
  hooksAvailable: boolean;
  currentTool?: string;
  backgroundTasks?: number;
  todos?: Todo[];
  currentTask?: string;
}

/** A session that a model is pushed out from under. */
export interface SessionNamed {
  id: string;
  name: string;
}

/** Every setting, `apiKeySet` in place of the key. */
export interface Settings {
  readMyMindEnabled: boolean;
  customModelEndpointsEnabled: boolean;
  cliManagementEnabled: boolean;
  mcpSyncEnabled: boolean;
  primaryVoiceEnabled: boolean;
  showPlanUsageLimits: boolean;
  tunnelEnabled: boolean;
  firstRunSeedEnabled: boolean;
  workspaceHooksEnabled: boolean;
  remoteAutoReconnect: boolean;
  approvalsInboxEnabled: boolean;
  keepScrollbackEnabled: boolean;
  autoRestoreEnabled: boolean;
  agentTokens: boolean;
  externalSignals: boolean;
  terminalGround: "dark" | "light";
  primaryMode: "bypass" | "auto" | "normal";
  trustFolders: "ask" | "own" | "always";
  historyLimit: number;
  displayName: string;
  defaultMode: string;
  defaultWorkingDir: string;
  lastUsedCase: string;
  caseOrder: string[];
  sessionOrder: string[];
  nice: Nice;
  voiceSettings: PublicVoice;
  notificationPreferences: NotificationPreferences;
  readMyMindModel: string;
  readMyMindModes: string[];
  modelPrices: ModelPrice[];
}

export interface SettingsPatch {
  readMyMindEnabled?: boolean | null;
  customModelEndpointsEnabled?: boolean | null;
  cliManagementEnabled?: boolean | null;
  mcpSyncEnabled?: boolean | null;
  primaryVoiceEnabled?: boolean | null;
  showPlanUsageLimits?: boolean | null;
  tunnelEnabled?: boolean | null;
  firstRunSeedEnabled?: boolean | null;
  workspaceHooksEnabled?: boolean | null;
  remoteAutoReconnect?: boolean | null;
  approvalsInboxEnabled?: boolean | null;
  keepScrollbackEnabled?: boolean | null;
  autoRestoreEnabled?: boolean | null;
  agentTokens?: boolean | null;
  externalSignals?: boolean | null;
  terminalGround?: "dark" | "light" | null;
  primaryMode?: "bypass" | "auto" | "normal" | null;
  trustFolders?: "ask" | "own" | "always" | null;
  historyLimit?: number | null;
  displayName?: string | null;
  defaultMode?: string | null;
  defaultWorkingDir?: string | null;
  lastUsedCase?: string | null;
  caseOrder?: string[] | null;
  sessionOrder?: string[] | null;
  nice?: NicePatch | null;
  voiceSettings?: VoiceSettingsPatch | null;
  notificationPreferences?: NotificationPreferencesPatch | null;
  readMyMindModel?: string | null;
  readMyMindModes?: string[] | null;
  modelPrices?: ModelPrice[] | null;
}

/** How a wait for one session ended; `signal` is null where none came. */
export interface SignalState {
  timedOut: boolean;
  timeoutMs: number;
  until: ("exit" | "blocked" | "stop" | "idle" | "working")[];
  ended: boolean;
  signal: "exit" | "blocked" | "stop" | "idle" | "working" | null;
}

/** The size that holds now. */
export interface Size {
  cols: number;
  rows: number;
}

/** `clearBreaker` gets a session started that the exit breaker stopped; with `fresh` its agent begins a conversation in place of going on with the last one. */
export interface StartBody {
  clearBreaker?: boolean | null;
  fresh?: boolean | null;
}

/** A repository's status; `commit` is where HEAD is, null before any commit. */
export interface State {
  state: "ok";
  branch: string | null;
  detached: boolean;
  commit: string | null;
  upstream: string | null;
  ahead: number;
  behind: number;
  hasRemote: boolean;
  upstreamGone: boolean;
  counts: Counts;
  files: File[];
  filesTruncated: boolean;
  unpushedCount: number;
  unpushed: Commit[];
  repoRoot: string;
  checkedAt: number;
}

/** The state that a client begins with: also the `init` event of the stream. Every field is there from the first release, empty where its feature is off. */
export interface Status {
  version: string;
  sessions: Session[];
  cronJobs?: number;
  approvals?: unknown[];
  planUsage?: PlanUsageTold | null;
  tunnel?: TunnelStatus;
  user: UserStatus;
  serverTime: number;
  timeZone?: string;
}

/** A browser's `PushSubscription`, as its `toJSON` gives it. */
export interface SubscriptionBody {
  endpoint: string;
  keys: KeysBody;
  expirationTime?: number | null;
}

/** What another guess is to heed; both absent for the first. */
export interface SuggestBody {
  steer?: string | null;
  rejected?: string[] | null;
}

/** Something to say next, and why. */
export interface Suggestion {
  prompt: string;
  why: string;
  kind: "continue" | "verify" | "redirect";
}

/** 1 to 3 suggestions, the likeliest first. */
export interface Suggestions {
  suggestions: Suggestion[];
  durationMs: number;
}

/** How many tools there are of each status. */
export interface Summary {
  ok: number;
  missing: number;
  outdated: number;
  skipped: number;
  error: number;
}

/** Another model is loaded; asked again with `confirmedSwap`, it is pushed out. */
export interface SwapQuestion {
  requiresConfirmation?: true;
  currentlyLoadedModel: string;
  affectedSessions: SessionNamed[];
}

/** What was done, or would be. */
export interface Sync {
  applied: boolean;
  targets: Target[];
  conflicts: string[];
  disabled: string[];
  unsupported: string[];
}

/** One CLI's configuration file; of servers there are only names. */
export interface Target {
  id: string;
  label: string;
  file: string;
  status: "ok" | "absent" | "skipped" | "unreadable" | "failed";
  error?: string;
  servers: string[];
  added: string[];
  skipped: string[];
}

/** What a status line is given; every field of `data` may be missing or null. */
export interface TelemetryBody {
  sessionId: string;
  data?: Record<string, unknown> | null;
}

/** A terminal read (protocol-terminal); without a process empty, `offset` 0 and `epoch` null. `stale`: the host is out of reach, and this is what was there at `staleAt`. */
export interface Terminal {
  terminalBuffer: string;
  status: "idle" | "busy" | "stopped" | "error";
  source: string;
  captureCols: number;
  captureRows: number;
  cursor: Cursor;
  alternateScreen: boolean;
  fullSize: number;
  truncated: boolean;
  truncationReason: string | null;
  offset: number;
  epoch: string | null;
  stale?: boolean;
  staleAt?: number;
}

/** A timed run; times in Unix milliseconds. */
export interface TimedRun {
  id: string;
  prompt: string;
  workingDir: string;
  durationMinutes: number;
  startedAt: number;
  endAt: number;
  status: "running" | "completed" | "stopped" | "failed";
  sessionId: string | null;
  turns: number;
  logs: string[];
  owner?: string;
}

/** A new timed run (protocol-legacy). */
export interface TimedRunBody {
  prompt: string;
  workingDir?: string | null;
  durationMinutes: number;
}

/** The runs, the newest first. */
export interface TimedRuns {
  runs: TimedRun[];
}

/** A tmux session on the user's own server of a host; `attached`: how many look at it. */
export interface TmuxSession {
  name: string;
  attached: number;
  created: number;
  windows: number;
  cols: number;
  rows: number;
}

/** Those of a host. */
export interface TmuxSessions {
  sessions: TmuxSession[];
}

/** One line of an agent's to-do list. */
export interface Todo {
  text: string;
  status: "pending" | "in_progress" | "completed";
  doing?: string;
}

/** A token's record; times in Unix milliseconds. */
export interface Token {
  id: string;
  name: string;
  scopes: ("sessions:read" | "sessions:input" | "sessions:manage" | "waits" | "events" | "settings" | "cron" | "git" | "approvals" | "admin")[];
  sessions: string[] | null;
  createdAt: number;
  expiresAt: number | null;
  lastUsedAt: number | null;
}

/** A new token; without `sessions` it reaches all of its owner's. */
export interface TokenBody {
  name: string;
  scopes: ("sessions:read" | "sessions:input" | "sessions:manage" | "waits" | "events" | "settings" | "cron" | "git" | "approvals" | "admin")[];
  sessions?: string[] | null;
  expiresAt?: number | null;
}

/** The caller's tokens, the oldest first. */
export interface TokenList {
  tokens: Token[];
}

/** Tokens used so far; an agent tells them, and no number is too large to be told. */
export interface Tokens {
  input: number;
  output: number;
  total: number;
}

/** One tool; absent fields have no value. */
export interface Tool {
  id: string;
  label: string;
  category: "core" | "office" | "other";
  required: boolean;
  status: "ok" | "missing" | "outdated" | "skipped" | "error";
  needed?: string;
  version?: string;
  path?: string;
  installHint?: string;
  reason?: string;
}

/** What was said in a conversation, oldest first. */
export interface Transcript {
  session: Conversation;
  messages: Message[];
  truncated: boolean;
}

/** The key that was compared with the host's own, as `SHA256:...`. */
export interface TrustBody {
  fingerprint: string;
}

/** The tunnel; `url` is null while it is being started. */
export interface Tunnel {
  running: boolean;
  url: string | null;
}

/** The managed tunnel. */
export interface TunnelStatus {
  running?: boolean;
  url?: string | null;
}

/** The tunnel, and who can see what comes through it. */
export interface TunnelStatusAnswer {
  running: boolean;
  url: string | null;
  sseClients: number;
  authSessions: AuthSession[];
}

/** One kept file. */
export interface UploadedFile {
  path: string;
  filename: string;
  insert: string;
  attachment: "path" | "at" | "paste";
  size: number;
}

/** All of a form. */
export interface Uploads {
  files: UploadedFile[];
}

/** What is in use: bytes, percent of one processor, processes. */
export interface Usage {
  memory: number | null;
  cpu: number | null;
  pids: number | null;
}

/** An account, without its password in any form. */
export interface User {
  username: string;
  role: "admin" | "user";
  enabled: boolean;
  canBypassPermissions: boolean;
  mustChangePassword: boolean;
  createdAt: number;
  osUser?: string | null;
}

/** Changes of an account. */
export interface UserPatch {
  role?: "admin" | "user" | null;
  password?: string | null;
  canBypassPermissions?: boolean | null;
  osUser?: string | null;
  enabled?: boolean | null;
}

/** Who the caller is. */
export interface UserStatus {
  username: string;
  role: "admin" | "user";
  multiUser: boolean;
}

/** Every account, the oldest first. */
export interface Users {
  users: User[];
}

/** The idle item that was acknowledged, if there was one. */
export interface Viewed {
  sessionId: string;
  acknowledged: string | null;
}

export interface VoiceSettingsPatch {
  provider?: "auto" | "primary" | "third_party" | "browser" | null;
  apiKey?: string | null;
  language?: string | null;
  keyterms?: string[] | null;
}

/** Whether the service can make text of speech; the account's secret is never told. */
export interface VoiceStatus {
  available: boolean;
  reason?: string;
  subscriptionType?: string;
  expiresAt?: number;
}

/** The wait, and the session's status alongside. */
export interface Wait {
  wait: SignalState;
  waitedMs: number;
  status: string;
  limitPaused: boolean;
  immediate: boolean;
}

/** How the wait ended. */
export interface WaitState {
  timedOut: boolean;
  timeoutMs: number;
  until: ("exit" | "blocked" | "stop" | "idle" | "working")[];
  ended: boolean;
}

/** A web tab; times in Unix milliseconds. */
export interface WebView {
  id: string;
  name: string;
  url: string;
  icon?: string;
  owner: string;
  createdAt: number;
  lastOpenedAt: number | null;
}

/** A new web tab. */
export interface WebViewBody {
  name: string;
  url: string;
  icon?: string | null;
}

/** Any of its fields. */
export interface WebViewPatch {
  name?: string | null;
  url?: string | null;
  icon?: string | null;
}

/** The caller's web tabs, oldest first. */
export interface WebViews {
  webviews: WebView[];
}

/** The configuration; `urlMasked` is scheme, host and port only. */
export interface Webhook {
  enabled: boolean;
  kind: "topic" | "chat_a" | "chat_b" | "generic";
  scope: "attention" | "all";
  hasUrl: boolean;
  urlMasked: string | null;
  lastResult: Result | null;
}

/** What is absent, or null, stays. */
export interface WebhookPatch {
  enabled?: boolean | null;
  kind?: "topic" | "chat_a" | "chat_b" | "generic" | null;
  scope?: "attention" | "all" | null;
  url?: string | null;
}

/** How much of one rate-limit window is used; `reset_at` in Unix milliseconds. */
export interface WindowTold {
  usedPercentage: number;
  resetAt?: number;
}

/** What came of waking a host; `woke`: what wakes it was done; `error`: why it was in vain. */
export interface Woken {
  woke: boolean;
  reachable: boolean;
  wakeConfigured: "mac" | "command";
  error?: string;
}

/** What a worktree comes from. */
export interface Worktree {
  repository: string;
  branch: string;
}

/** A branch, and where it begins, should it be a new one. */
export interface WorktreeBody {
  branch: string;
  from?: string | null;
}

/** A case on a new worktree, and what it lacks. */
export interface WorktreeMade {
  case: Case;
  warnings: string[];
}

/** What each event tells (protocol-events). */
export interface Told {
  "init": Status;
  "session:created": Session;
  "session:updated": Session;
  "session:deleted": { id: string; at: number };
  "session:idle": { id: string; at: number };
  "session:working": { id: string; at: number };
  "session:stop": { id: string; at: number };
  "session:blocked": { id: string; at: number };
  "session:error": { id: string; at: number };
  "session:interactive": { id: string; at: number };
  "session:exit": { id: string; status?: number };
  "session:terminal": { id: string; offset: number; data: string };
  "session:renamed": { id: string; name: string; nameSource: string };
  "session:pinned": { id: string; pinned: boolean };
  "session:orderChanged": { order: string[] };
  "session:inputLost": { id: string; at: number; chunks: number; reason: string };
  "session:limitPauseScheduled": { id: string; at: number; resumeAt: number; reason: string };
  "session:limitResume": { id: string; at: number };
  "session:limitResumeCancelled": { id: string; at: number };
  "session:autoCompact": { id: string; at: number; tokens: number };
  "session:autoClear": { id: string; at: number; tokens: number };
  "session:breakerTripped": { id: string; at: number };
  "session:statusTelemetry": { sessionId: string; fiveHour?: WindowTold; sevenDay?: WindowTold; contextUsedPercentage?: number; costUsd?: number; modelDisplayName?: string };
  "hook:permission_prompt": { sessionId: string; at: number; data: Record<string, unknown> };
  "hook:elicitation_dialog": { sessionId: string; at: number; data: Record<string, unknown> };
  "hook:elicitation_complete": { sessionId: string; at: number; data: Record<string, unknown> };
  "hook:elicitation_response": { sessionId: string; at: number; data: Record<string, unknown> };
  "hook:idle_prompt": { sessionId: string; at: number; data: Record<string, unknown> };
  "hook:stop": { sessionId: string; at: number; data: Record<string, unknown> };
  "hook:prompt_submitted": { sessionId: string; at: number; data: Record<string, unknown> };
  "hook:agent_working": { sessionId: string; at: number; data: Record<string, unknown> };
  "hook:session_start": { sessionId: string; at: number; data: Record<string, unknown> };
  "hook:session_end": { sessionId: string; at: number; data: Record<string, unknown> };
  "hook:teammate_idle": { sessionId: string; at: number; data: Record<string, unknown> };
  "hook:task_completed": { sessionId: string; at: number; data: Record<string, unknown> };
  "hook:task_created": { sessionId: string; at: number; data: Record<string, unknown> };
  "hook:tool_started": { sessionId: string; at: number; data: Record<string, unknown> };
  "hook:tool_ended": { sessionId: string; at: number; data: Record<string, unknown> };
  "hook:permission_denied": { sessionId: string; at: number; data: Record<string, unknown> };
  "hook:subagent_started": { sessionId: string; at: number; data: Record<string, unknown> };
  "hook:subagent_stopped": { sessionId: string; at: number; data: Record<string, unknown> };
  "approval:pending": Item;
  "approval:updated": Item;
  "approval:resolved": { id: string; sessionId: string; kind: string; resolution: string };
  "cron:jobsChanged": { jobs: Job[] };
  "cron:jobDeleted": { id: string; at: number };
  "cron:runCreated": Run;
  "cron:runUpdated": Run;
  "case:created": Case;
  "case:linked": Case;
  "case:deleted": { name: string };
  "case:orderChanged": { order: string[] };
  "case:cloneProgress": { name: string; phase: string; percent: number | null };
  "container:imageBuildStarted": { hostId: string; image: string };
  "container:imageBuildProgress": { hostId: string; image: string; percent: number | null; line: string };
  "container:imageBuildComplete": { hostId: string; image: string };
  "container:imageBuildFailed": { hostId: string; image: string; error: string };
  "tunnel:started": { url: string };
  "tunnel:stopped": Nothing;
  "tunnel:error": { error: string };
  "tunnel:qrRotated": { svg: string; url: string; expiresAt: number | null };
  "tunnel:qrRegenerated": { svg: string; url: string; expiresAt: number | null };
  "tunnel:qrAuthUsed": { ip: string; ua: string; timestamp: number };
  "cli:changed": { id: string; deleted: boolean };
  "cli:installStarted": { id: string };
  "cli:installOutput": { id: string; data: string };
  "cli:installFinished": { id: string; ok: boolean; status: number | null; path?: string };
  "settings:changed": Settings;
  "webhook:changed": Webhook;
  "admin:usersChanged": Nothing;
  "mcp:synced": Sync;
  "restore:offered": { sessions: number };
  "restore:progress": { sessionId: string; done: number; total: number };
  "restore:finished": Report;
  "model:endpointsChanged": { endpoints: Endpoint[] };
  "model:swappedOut": { endpointId: string; modelId: string; sessions: SessionNamed[] };
  "webview:changed": Nothing;
  "remote:sessionDropped": { id: string; attempt: number; nextAt: number };
  "remote:sessionReconnected": { id: string; at: number };
  "remote:hostWaking": { hostId: string; method: "mac" | "command" };
  "remote:hostWakeFailed": { hostId: string; reason: string };
  "remote:reconnectExhausted": { id: string; at: number };
  "server:shutdown": Nothing;
  "sse:heartbeat": { t: number };
}

export type EventName = keyof Told;

/** An event of the stream. */
export type ServerEvent = { [Name in EventName]: { name: Name; data: Told[Name] } }[EventName];
