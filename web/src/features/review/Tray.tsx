/** The comments gathered so far, and the way to the agent. */
import { useState } from "preact/hooks";
import { plural } from "../../lib/format.ts";
import { Button } from "../../ui/Button.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { askQuestion } from "../../ui/ask.ts";
import { choose, comments, selection, sending, sendReview } from "./state.ts";

async function send(session: string, note: string): Promise<boolean> {
  const found = await sendReview(session, note, false);
  if (found !== "busy") return found === "sent";
  const sure = await askQuestion({
    title: "The agent is working",
    text: "It gets the comments in the middle of its turn. Send them now?",
    action: "Send now",
  });
  return sure !== undefined && (await sendReview(session, note, true)) === "sent";
}

export function Tray({ session }: { session: string }) {
  const [note, setNote] = useState("");
  const [open, setOpen] = useState(false);
  const waiting = comments.value.filter((comment) => comment.state === "open");
  if (waiting.length === 0 || selection.value) return null;
  return (
    <section class="review-tray" aria-label="Comments to send" data-testid="review-tray">
      {open && (
        <div class="review-tray-list">
          <ul>
            {waiting.map((comment) => (
              <li key={comment.id}>
                <button
                  type="button"
                  onClick={() => choose({ repo: comment.repo, path: comment.anchor.path })}
                >
                  <small>
                    <bdi>
                      {comment.anchor.path}:{comment.anchor.line ?? comment.line}
                    </bdi>
                  </small>
                  <span dir="auto">{comment.text}</span>
                </button>
              </li>
            ))}
          </ul>
          <label>
            <small>For all of it</small>
            <textarea
              class="field"
              rows={2}
              value={note}
              maxLength={8000}
              dir="auto"
              onInput={(event) => setNote(event.currentTarget.value)}
              data-testid="review-note"
            />
          </label>
        </div>
      )}
      <div class="review-tray-row">
        <Button small aria-expanded={open} onClick={() => setOpen(!open)}>
          {plural(waiting.length, "comment")}
        </Button>
        <span class="spring" />
        <Button
          primary
          disabled={sending.value}
          onClick={() => void send(session, note).then((sent) => sent && setNote(""))}
          testid="review-send"
        >
          <Icon name="send" size={16} /> Send {plural(waiting.length, "comment")}
        </Button>
      </div>
    </section>
  );
}
