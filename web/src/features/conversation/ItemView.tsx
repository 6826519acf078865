/** One item: a bubble, an answer, or a line that opens. */
import { useState } from "preact/hooks";
import { showError } from "../../store/toasts.ts";
import { useRead } from "../../store/resource.ts";
import type { ToolCallResponse } from "../../api/types.ts";
import { Button } from "../../ui/Button.tsx";
import { Icon, type IconName } from "../../ui/Icon.tsx";
import { nameUploads, splitUploads } from "../attach/names.ts";
import { Preview } from "../files/Preview.tsx";
import { answers, findRuleOf } from "../rules/state.ts";
import { useSurroundings } from "./context.ts";
import { countLines, describeResult, type Item, titleWithin } from "./items.ts";
import { showInTerminal } from "./jump.ts";
import { SubAgent } from "./SubAgent.tsx";
import { ToolBody } from "./ToolBody.tsx";

/** Its text is longer than a list holds. */
function Whole({ item }: { item: Item }) {
  const { conversation } = useSurroundings();
  const [busy, setBusy] = useState(false);
  const load = async () => {
    setBusy(true);
    try {
      await conversation.loadWhole(item.id);
    } catch (error) {
      showError("Couldn't load the item", error);
    }
    setBusy(false);
  };
  return (
    <button
      type="button"
      class="button small"
      disabled={busy}
      onClick={() => void load()}
      data-testid="conversation-whole"
    >
      {busy ? "Loading…" : "Show all"}
    </button>
  );
}

/** The types that a picture may have: an address of another type could be a document that runs. */
const PICTURE = /^image\/(png|jpeg|gif|webp|avif|bmp)$/;

function Pictures({ item }: { item: Item }) {
  const { conversation } = useSurroundings();
  const { data } = useRead(() => conversation.reader.item(item.id), [item.id]);
  return (
    <p class="talk-pictures">
      {(data ?? item).attachments?.map(({ mediaType, data: bytes }, at) =>
        bytes !== undefined && PICTURE.test(mediaType) ? (
          <img key={at} src={`data:${mediaType};base64,${bytes}`} alt={`Picture ${at + 1}`} />
        ) : (
          <span key={at} class="dim">
            {mediaType}
          </span>
        ),
      )}
    </p>
  );
}

/** Uploads by their names: their paths are long, and say nothing. */
function PromptText({ text }: { text: string }) {
  const { folder } = useSurroundings();
  return splitUploads(text, folder).map((part, at) =>
    typeof part === "string" ? (
      part
    ) : (
      <span key={at} class="talk-upload" title={part.path} data-testid="conversation-upload">
        [{part.name}]
      </span>
    ),
  );
}

const STATES = { queued: "Queued in the agent", withdrawn: "Withdrawn", sent: "Queued, then sent" };

function Prompt({ item }: { item: Item }) {
  return (
    <div class="talk-prompt" data-state={item.state} data-testid="conversation-prompt" dir="auto">
      <span class="sr-only">You: </span>
      <PromptText text={item.text ?? ""} />
      {item.attachments && <Pictures item={item} />}
      {item.state && <small>{STATES[item.state]}</small>}
      {item.cut && <Whole item={item} />}
    </div>
  );
}

function Answer({ item }: { item: Item }) {
  const { sessionId } = useSurroundings();
  const file = sessionId === undefined ? {} : { sessionId, path: "" };
  return (
    <div class="talk-answer" data-testid="conversation-answer" dir="auto">
      <Preview text={item.text ?? ""} {...file} />
      {item.attachments && <Pictures item={item} />}
      {item.cut && <Whole item={item} />}
    </div>
  );
}

const MARKS: Record<string, IconName> = {
  running: "clock",
  done: "check",
  failed: "alert",
  denied: "close",
};
const STATUS_WORDS = { running: "Running", done: "Done", failed: "Failed", denied: "Denied" };

/** Inputs that a rule is about, as the service chooses them. */
const SUBJECTS = ["command", "file_path", "url"];

/** Which rule allowed a call, for calls that it was asked about. */
function AllowedBy({ item, tool }: { item: Item; tool: ToolCallResponse }) {
  const { sessionId } = useSurroundings();
  const known = answers.data.value ?? [];
  const subject = SUBJECTS.map((name) => tool.input[name]).find((value) => typeof value === "string");
  const rule = findRuleOf(known, sessionId, subject, item.at);
  if (rule === undefined) return null;
  return <small data-testid="conversation-rule">allowed by rule “{rule}”</small>;
}

function Tool({ item, below }: { item: Item; below: readonly Item[] }) {
  const [open, setOpen] = useState(false);
  const { folder, sessionId } = useSurroundings();
  const { tool } = item;
  if (!tool) return null;
  const lines = countLines(tool);
  const told = describeResult(tool);
  return (
    <details
      class="talk-tool"
      data-status={tool.status}
      data-testid="conversation-tool"
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        <Icon name={MARKS[tool.status] ?? "play"} size={15} />
        <span class="sr-only">{STATUS_WORDS[tool.status]}: </span>
        <bdi class="talk-title">{nameUploads(titleWithin(tool.title, folder))}</bdi>
        {lines && (
          <span class="talk-lines">
            <ins>+{lines.added}</ins> <del>−{lines.removed}</del>
          </span>
        )}
        {told !== "" && <small>{told}</small>}
        <AllowedBy item={item} tool={tool} />
      </summary>
      {open && (
        <div class="talk-body">
          <ToolBody item={item} tool={tool} />
          {item.attachments && <Pictures item={item} />}
          {item.cut && <Whole item={item} />}
          {sessionId !== undefined && (
            <Button
              small
              onClick={() => void showInTerminal(sessionId, [item])}
              testid="conversation-to-terminal"
            >
              <Icon name="search" size={14} /> Find in the terminal
            </Button>
          )}
        </div>
      )}
      {open && (tool.branch !== undefined || below.length > 0) && (
        <SubAgent branch={tool.branch} below={below} draw={draw} />
      )}
    </details>
  );
}

function Folded({ label, item }: { label: string; item: Item }) {
  const [open, setOpen] = useState(false);
  return (
    <details
      class="talk-folded"
      data-kind={item.kind}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>{label}</summary>
      {open && (
        <div class="talk-body" dir="auto">
          {item.text}
          {item.cut && <Whole item={item} />}
        </div>
      )}
    </details>
  );
}

const draw = (item: Item, below: readonly Item[]) => <ItemView key={item.id} item={item} below={below} />;

export function ItemView({ item, below }: { item: Item; below: readonly Item[] }) {
  if (item.tool) return <Tool item={item} below={below} />;
  if (item.kind === "thinking") return item.text ? <Folded label="Thinking" item={item} /> : null;
  if (item.kind === "compaction") return <Folded label="Conversation compacted" item={item} />;
  if (item.kind === "text") return item.role === "user" ? <Prompt item={item} /> : <Answer item={item} />;
  return (
    <p class="talk-notice" data-kind={item.kind} dir="auto">
      {item.kind === "error" && <Icon name="alert" size={15} />}
      <span>{item.text}</span>
      {item.cut && <Whole item={item} />}
    </p>
  );
}
