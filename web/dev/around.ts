/** The mock's answers about what stands around a session: git, the webhook, the doctor. */
import type { DoctorResponse, NoticeRulesResponse, WebhookResponse } from "../src/api/types.ts";
import type { GitStatusResponse } from "../src/api/types.ts";

export function gitStatus(workingDir: string): GitStatusResponse {
  const checkedAt = Date.now();
  const status = {
    state: "ok" as const,
    branch: "main",
    detached: false,
    commit: "0".repeat(40),
    upstream: "origin/main",
    ahead: 0,
    behind: 0,
    hasRemote: true,
    upstreamGone: false,
    counts: { staged: 0, unstaged: 1, untracked: 0, conflicted: 0, uncommitted: 1, stashes: 0 },
    files: [{ path: "src/demo.py", index: ".", worktree: "M", kind: "unstaged" as const }],
    filesTruncated: false,
    unpushedCount: 0,
    unpushed: [],
    repoRoot: workingDir,
    checkedAt,
  };
  return { state: "ok", repos: [{ name: "demo", path: ".", status }], reposTruncated: false, checkedAt };
}

export const GIT_DIFF = {
  diff: "--- a/src/demo.py\n+++ b/src/demo.py\n@@ -1,2 +1,2 @@\n import sys\n-print(1)\n+print(2)\n",
  truncated: false,
  binary: false,
};

export const WEBHOOK: WebhookResponse = {
  enabled: false,
  kind: "topic",
  scope: "attention",
  hasUrl: false,
  urlMasked: null,
  lastResult: null,
};

export const NOTICE_RULES: NoticeRulesResponse = {
  custom: false,
  browser: {},
  push: {},
  webhooks: [],
  onlyUnwatched: true,
  quietHours: {},
  urgency: {},
  groupFamilies: true,
  digest: true,
};

export const DOCTOR: DoctorResponse = {
  platform: "mock",
  summary: { ok: 1, missing: 0, outdated: 0, skipped: 0, error: 0 },
  tools: [{ id: "tmux", label: "tmux", category: "core", required: true, status: "ok", version: "3.5a" }],
  lookedIn: ["/usr/bin"],
};
