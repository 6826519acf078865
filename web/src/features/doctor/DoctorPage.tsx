/** Which programs of the host the service works with, and which are missing. */
import { Button } from "../../ui/Button.tsx";
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { ApiError, getErrorText } from "../../api/errors.ts";
import type { DoctorResponse, ToolResponse } from "../../api/types.ts";
import { copyText } from "../../ui/clipboard.ts";
import { Icon, type IconName } from "../../ui/Icon.tsx";
import { IconButton } from "../../ui/IconButton.tsx";
import { showError, showToast } from "../../store/toasts.ts";
import {
  type Status,
  STATUS_WORDS,
  CATEGORIES,
  listTools,
  countByStatus,
  formatDuration,
  summarizeReport,
} from "./texts.ts";
import "./doctor.css";

type Examined =
  | { state: "looking"; before?: DoctorResponse }
  | { state: "refused" }
  | { state: "failed"; problem: string }
  | { state: "read"; report: DoctorResponse; ms: number };

/** In multi-user mode the report is for administrators (protocol-doctor). */
function outcome(error: unknown): Examined {
  const refused = error instanceof ApiError && error.status === 403;
  return refused ? { state: "refused" } : { state: "failed", problem: getErrorText(error) };
}

function useReport(): [Examined, () => void] {
  const [found, setFound] = useState<Examined>({ state: "looking" });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const began = performance.now();
    setFound((last) => ({ state: "looking", ...(last.state === "read" && { before: last.report }) }));
    api.get("/api/doctor", { signal }).then(
      (report) => !signal.aborted && setFound({ state: "read", report, ms: performance.now() - began }),
      (error: unknown) => !signal.aborted && setFound(outcome(error)),
    );
    return () => controller.abort();
  }, [turn]);
  return [found, () => setTurn((before) => before + 1)];
}

const MARKS: Record<Status, IconName> = {
  ok: "check",
  missing: "close",
  outdated: "alert",
  skipped: "clock",
  error: "alert",
};

async function copyHint(hint: string): Promise<void> {
  if (await copyText(hint)) showToast("good", "Copied", hint);
  else showError("Couldn't copy", "Your browser blocked access to the clipboard.");
}

function Versions({ tool }: { tool: ToolResponse }) {
  return (
    <span class="tool-versions">
      {tool.version && <span class="tool-version">{tool.version}</span>}
      {tool.needed && (
        <small>
          {tool.status === "ok" ? "" : "needs "}
          {tool.needed} or newer
        </small>
      )}
    </span>
  );
}

function Hint({ hint, label }: { hint: string; label: string }) {
  return (
    <div class="tool-hint">
      <code>{hint}</code>
      <IconButton
        icon="copy"
        label={`Copy the install command for ${label}`}
        onClick={() => void copyHint(hint)}
        testid="doctor-copy"
      />
    </div>
  );
}

function ToolRow({ tool }: { tool: ToolResponse }) {
  return (
    <li class="tool" data-status={tool.status} data-testid="doctor-tool" data-tool={tool.id}>
      <span class="tool-mark">
        <Icon name={MARKS[tool.status]} size={16} />
      </span>
      <span class="tool-name">
        <span>{tool.label}</span>
        {tool.required && <span class="badge">required</span>}
      </span>
      <span class="tool-state">
        <span class={tool.status === "ok" ? "sr-only" : "tool-status"}>{STATUS_WORDS[tool.status]}</span>
        {(tool.version || tool.needed) && <Versions tool={tool} />}
      </span>
      {(tool.reason || tool.path) && (
        <span class="tool-more">
          {tool.reason && <span>{tool.reason}</span>}
          {tool.path && <bdi>{tool.path}</bdi>}
        </span>
      )}
      {tool.installHint && <Hint hint={tool.installHint} label={tool.label} />}
    </li>
  );
}

function Groups({ report }: { report: DoctorResponse }) {
  return (
    <>
      {CATEGORIES.map(([category, title, hint]) => {
        const tools = listTools(report, category);
        if (tools.length === 0) return null;
        return (
          <section key={category} class="doctor-group" data-testid={`doctor-${category}`}>
            <h3>
              {title} <small>{hint}</small>
            </h3>
            <ul>
              {tools.map((tool) => (
                <ToolRow key={tool.id} tool={tool} />
              ))}
            </ul>
          </section>
        );
      })}
    </>
  );
}

function Verdict({ report }: { report: DoctorResponse }) {
  const { good, text } = summarizeReport(report);
  return (
    <div class="doctor-verdict" data-good={good} data-testid="doctor-verdict">
      <span class="tool-mark">
        <Icon name={good ? "check" : "alert"} />
      </span>
      <div>
        <p>{text}</p>
        <p class="doctor-tallies">
          {countByStatus(report).map(([status, words]) => (
            <span key={status} data-status={status}>
              {words}
            </span>
          ))}
        </p>
      </div>
    </div>
  );
}

function Refused() {
  return (
    <div class="doctor-refused" data-testid="doctor-refused">
      <Icon name="alert" size={28} />
      <p>Admins only.</p>
      <small>This page shows which programs are installed on the server. Ask an admin.</small>
    </div>
  );
}

function spoken(found: Examined): string {
  if (found.state === "looking") return "Checking the programs…";
  return found.state === "read" ? `Checked in ${formatDuration(found.ms)}` : "";
}

export function DoctorPage() {
  const [found, again] = useReport();
  if (found.state === "refused") return <Refused />;
  const report = found.state === "read" ? found.report : found.state === "looking" ? found.before : undefined;
  const looking = found.state === "looking";
  return (
    <div class="doctor" aria-busy={looking} data-testid="doctor">
      {report && <Verdict report={report} />}
      {found.state === "failed" && (
        <p class="problem" role="alert" data-testid="doctor-problem">
          <Icon name="alert" /> {found.problem}
        </p>
      )}
      {report && <Groups report={report} />}
      <footer class="doctor-foot">
        <small role="status" data-testid="doctor-duration">
          {spoken(found)}
          {found.state === "read" && ` · ${found.report.platform}`}
        </small>
        <Button disabled={looking} onClick={again} testid="doctor-again">
          {looking ? <span class="spinner" /> : <Icon name="refresh" size={16} />} Check again
        </Button>
      </footer>
    </div>
  );
}
