/** Shows the question that {@link ask} put. */
import { Button } from "./Button.tsx";
import { useState } from "preact/hooks";
import { type OpenQuestion, openQuestion } from "./ask.ts";
import { Dialog } from "./Dialog.tsx";

function Ask({ question }: { question: OpenQuestion }) {
  const [text, setText] = useState(question.initial ?? "");
  const decline = () => question.answer(undefined);
  const agree = (event: Event) => {
    event.preventDefault();
    question.answer(question.input ? text : question.action);
  };
  const write = (event: Event) =>
    setText((event.currentTarget as HTMLInputElement | HTMLTextAreaElement).value);
  return (
    <Dialog title={question.title} onClose={decline} class="ask" testid="ask">
      <form onSubmit={agree}>
        <p class="ask-text">{question.text}</p>
        {question.preview !== undefined && <pre class="ask-preview">{question.preview}</pre>}
        {question.input === "line" && (
          <input
            class="field"
            value={text}
            onInput={write}
            // What stands there is more often replaced than mended.
            onFocus={(event) => event.currentTarget.select()}
            autofocus
            aria-label={question.title}
          />
        )}
        {question.input === "multiline" && (
          <textarea
            class="field"
            rows={5}
            value={text}
            onInput={write}
            autofocus
            aria-label={question.title}
          />
        )}
        <div class="dialog-foot">
          <Button onClick={decline} autofocus={question.danger === true}>
            Cancel
          </Button>
          {question.other !== undefined && (
            <Button onClick={() => question.answer(question.other)} testid="ask-other">
              {question.other}
            </Button>
          )}
          <button
            type="submit"
            class={`button ${question.danger ? "danger" : "primary"}`}
            data-testid="ask-agree"
            autofocus={!question.input && !question.danger}
          >
            {question.action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

export function AskDialog() {
  const question = openQuestion.value;
  return question ? <Ask key={question} question={question} /> : null;
}
