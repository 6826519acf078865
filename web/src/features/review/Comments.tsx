/** Comments at their lines, and the field for a new one. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { CommentResponse } from "../../api/types.ts";
import { Button } from "../../ui/Button.tsx";
import { visibleLines } from "../git/diff/diff.ts";
import {
  addComment,
  deleteComment,
  type FileKey,
  type Selection,
  selection,
  setCommentState,
} from "./state.ts";

const STATES = { open: "Not sent yet", sent: "Sent", resolved: "Resolved" } as const;
const REPLIES = { done: "Done", question: "Question", declined: "Declined" } as const;

function Outdated({ comment }: { comment: CommentResponse }) {
  const { anchor, lines } = comment;
  if (anchor.state === "same" || anchor.state === "moved") return null;
  return (
    <details class="review-outdated" open>
      <summary>{anchor.state === "gone" ? "These lines were removed" : "These lines changed"}</summary>
      <pre aria-label="Before">{visibleLines(lines.join("\n"))}</pre>
      {anchor.lines.length > 0 && <pre aria-label="Now">{visibleLines(anchor.lines.join("\n"))}</pre>}
    </details>
  );
}

export function Comment({ session, comment }: { session: string; comment: CommentResponse }) {
  const { reply, state } = comment;
  return (
    <article class="review-comment" data-state={state} data-testid="review-comment">
      <header>
        <b>
          <bdi>{comment.author || "You"}</bdi>
        </b>
        <small>{STATES[state]}</small>
      </header>
      <Outdated comment={comment} />
      <p dir="auto">{comment.text}</p>
      {comment.suggestion !== undefined && (
        <pre class="review-suggestion" aria-label="Suggested replacement">
          {visibleLines(comment.suggestion)}
        </pre>
      )}
      {reply && (
        <p class="review-reply" data-state={reply.state} dir="auto">
          <b>{REPLIES[reply.state]}</b> {reply.text}
        </p>
      )}
      <footer>
        {state === "resolved" ? (
          <Button small onClick={() => void setCommentState(session, comment, "open")}>
            Reopen
          </Button>
        ) : (
          <Button small onClick={() => void setCommentState(session, comment, "resolved")}>
            Resolve
          </Button>
        )}
        {state === "sent" && (
          <Button small onClick={() => void setCommentState(session, comment, "open")}>
            Send again
          </Button>
        )}
        <Button small onClick={() => void deleteComment(session, comment)} testid="review-comment-delete">
          Delete
        </Button>
      </footer>
    </article>
  );
}

const describe = ({ line, endLine, side }: Selection): string =>
  `${line === endLine ? `Line ${line}` : `Lines ${line} to ${endLine}`}${side === "old" ? " before" : ""}`;

interface FormProps {
  session: string;
  file: FileKey;
  at: Selection;
  /** The lines themselves, to begin a suggestion with. */
  lines: readonly string[];
}

export function CommentForm({ session, file, at, lines }: FormProps) {
  const [text, setText] = useState("");
  const [suggestion, setSuggestion] = useState<string>();
  const [busy, setBusy] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const save = async () => {
    if (text.trim() === "" || busy) return;
    setBusy(true);
    const saved = await addComment(session, file, at, text, suggestion);
    if (!saved) setBusy(false);
  };
  const handleKey = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    if (event.key === "Escape") selection.value = undefined;
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void save();
    else return;
    event.stopPropagation();
    event.preventDefault();
  };
  return (
    <form
      class="review-form"
      onKeyDown={handleKey}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <label>
        <small>{describe(at)}</small>
        <textarea
          ref={field}
          class="field"
          rows={3}
          value={text}
          dir="auto"
          maxLength={8000}
          placeholder="What should change here?"
          onInput={(event) => setText(event.currentTarget.value)}
          data-testid="review-text"
        />
      </label>
      {suggestion !== undefined && (
        <label>
          <small>Suggested replacement</small>
          <textarea
            class="field review-code"
            rows={Math.min(8, suggestion.split("\n").length + 1)}
            value={suggestion}
            maxLength={8000}
            spellcheck={false}
            onInput={(event) => setSuggestion(event.currentTarget.value)}
          />
        </label>
      )}
      <div class="review-form-actions">
        <Button submit primary small disabled={text.trim() === "" || busy} testid="review-save">
          Comment
        </Button>
        <Button small onClick={() => (selection.value = undefined)}>
          Cancel
        </Button>
        <span class="spring" />
        {suggestion === undefined && at.side === "new" && (
          <Button small onClick={() => setSuggestion(lines.join("\n"))}>
            Suggest
          </Button>
        )}
      </div>
    </form>
  );
}
