/** What a tool was given, and what came of it. */
import type { ToolDiffResponse, ToolCallResponse } from "../../api/types.ts";
import type { Item } from "./items.ts";

const KINDS: Record<string, string> = { "+": "add", "-": "remove" };

function Diff({ diff }: { diff: ToolDiffResponse }) {
  return (
    <figure class="talk-diff" aria-label={`Changes of ${diff.path}`}>
      {diff.hunks.map((hunk, at) => (
        <pre key={at} tabIndex={0}>
          {hunk.newStart > 0 && <span class="talk-hunk">Line {hunk.newStart}</span>}
          {hunk.lines.map((line, number) => (
            <span key={number} data-kind={KINDS[line[0] ?? ""]}>
              {`${line}\n`}
            </span>
          ))}
        </pre>
      ))}
    </figure>
  );
}

/** A command, or the input as JSON; what the title already says is left out. */
function describeInput({ input, diffs }: ToolCallResponse): string {
  const command = input["command"] ?? input["cmd"];
  if (typeof command === "string") return command;
  if (diffs) return "";
  const names = Object.keys(input);
  return names.length === 0 ? "" : JSON.stringify(input, undefined, 2);
}

interface Question {
  question: string;
  labels: string[];
}

function readQuestions(input: ToolCallResponse["input"]): Question[] {
  const { questions } = input;
  if (!Array.isArray(questions)) return [];
  return questions.flatMap((each: unknown): Question[] => {
    const { question, options } = (each ?? {}) as { question?: unknown; options?: unknown };
    if (typeof question !== "string") return [];
    const labels = (Array.isArray(options) ? options : []).map((option: unknown) =>
      String((option as { label?: unknown } | null)?.label ?? ""),
    );
    return [{ question, labels }];
  });
}

const TODO_MARKS: Record<string, string> = { completed: "☑", in_progress: "▶", pending: "☐" };

export function Todos({ todos }: { todos: readonly { text: string; status: string }[] }) {
  return (
    <ul class="talk-todos">
      {todos.map(({ text, status }, at) => (
        <li key={at} data-status={status}>
          <span aria-hidden="true">{TODO_MARKS[status] ?? "☐"}</span>
          <span class="sr-only">{status.replace("_", " ")}: </span>
          {text}
        </li>
      ))}
    </ul>
  );
}

export function ToolBody({ item, tool }: { item: Item; tool: ToolCallResponse }) {
  const given = describeInput(tool);
  const questions = item.kind === "question" ? readQuestions(tool.input) : [];
  if (item.todos) return <Todos todos={item.todos} />;
  return (
    <>
      {questions.map(({ question, labels }, at) => (
        <div key={at} class="talk-question">
          <p>{question}</p>
          <ul>
            {labels.map((label, number) => (
              <li key={number}>{label}</li>
            ))}
          </ul>
        </div>
      ))}
      {questions.length === 0 && given !== "" && (
        <pre class="talk-input" tabIndex={0} aria-label="Input">
          {given}
        </pre>
      )}
      {tool.diffs?.map((diff, at) => (
        <Diff key={at} diff={diff} />
      ))}
      {tool.output && (!tool.diffs || tool.status !== "done") && (
        <pre class="talk-output" tabIndex={0} aria-label="Output">
          {tool.output}
        </pre>
      )}
    </>
  );
}
