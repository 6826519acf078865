/** Which programs of the host the service works with, and which are missing. */
import { Icon } from "../../ui/Icon.tsx";
import "./doctor.css";
import { ToolRow } from "./ToolRow.tsx";
import type { DoctorResponse } from "../../api/types.ts";
import { type Examined, useReport } from "./useReport.ts";
import { CATEGORIES, listTools, countByStatus, formatDuration, summarizeReport } from "./texts.ts";

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
        <button type="button" class="button" disabled={looking} onClick={again} data-testid="doctor-again">
          {looking ? <span class="spinner" /> : <Icon name="refresh" size={16} />} Check again
        </button>
      </footer>
    </div>
  );
}
