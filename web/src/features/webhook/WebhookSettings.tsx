/** Messages to a chat, a push topic or a program: one webhook for the whole service. */
import { Select } from "../../ui/Select.tsx";
import { Button } from "../../ui/Button.tsx";
import { Segments } from "../../ui/Segments.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { type FieldName, type Problem, diffDraft, isEmpty, KINDS, describeResult, SCOPES } from "./texts.ts";
import { Field, Switch } from "../settings/fields.tsx";
import { useNow } from "../../ui/useNow.ts";
import type { DeliveryResultResponse, WebhookResponse } from "../../api/types.ts";
import { type Card, useWebhook } from "./useWebhook.ts";
import "./webhook.css";

const problemId = (field: FieldName): string => `webhook-problem-${field}`;

/** What is wrong with a field, below it and tied to it. */
function FieldProblem({ field, problem }: { field: FieldName; problem: Problem | undefined }) {
  if (problem?.field !== field) return null;
  return (
    <p class="webhook-problem" id={problemId(field)} role="alert" data-testid={problemId(field)}>
      <Icon name="alert" size={15} /> {problem.text}
    </p>
  );
}

/** Ties a field to its problem, for screen readers too. */
function marked(card: Card, field: FieldName) {
  const wrong = card.problem?.field === field;
  return { "aria-invalid": wrong, "aria-describedby": wrong ? problemId(field) : undefined };
}

function KindField({ card, now }: { card: Card; now: WebhookResponse }) {
  const hint = KINDS.find(([kind]) => kind === now.kind)?.[2];
  return (
    <>
      <Field label="Kind" hint={hint}>
        <Select
          value={now.kind}
          testid="webhook-kind"
          choices={KINDS}
          onChoose={(chosen) => card.edit({ kind: chosen })}
          {...marked(card, "kind")}
        />
      </Field>
      <FieldProblem field="kind" problem={card.problem} />
    </>
  );
}

function ScopeField({ card, now }: { card: Card; now: WebhookResponse }) {
  return (
    <>
      <div class="setting webhook-scope">
        <span>Send for</span>
        <Segments
          label="Send for"
          choices={SCOPES}
          value={now.scope}
          testid="webhook-scope"
          onChange={(scope) => card.edit({ scope })}
          {...marked(card, "scope")}
        />
      </div>
      <FieldProblem field="scope" problem={card.problem} />
    </>
  );
}

/** What is saved is a secret: the field is for a new one, the placeholder tells where the old leads. */
function UrlField({ card, saved }: { card: Card; saved: WebhookResponse }) {
  return (
    <>
      <Field
        label="URL"
        hint={saved.hasUrl ? "saved, never shown again; type to replace it" : "stored as a secret"}
      >
        <input
          class="field"
          inputMode="url"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          maxLength={2048}
          value={card.draft.url ?? ""}
          placeholder={saved.hasUrl ? `${saved.urlMasked ?? "saved"}/…` : "https://"}
          onInput={(event) => card.edit({ url: event.currentTarget.value })}
          data-testid="webhook-url"
          {...marked(card, "url")}
        />
      </Field>
      <FieldProblem field="url" problem={card.problem} />
    </>
  );
}

function LastResult({ result }: { result: DeliveryResultResponse | null }) {
  const now = useNow();
  return (
    <p class="webhook-result" role="status" data-ok={result?.ok} data-testid="webhook-result">
      {result ? (
        <>
          <Icon name={result.ok ? "check" : "alert"} size={15} /> Last message: {describeResult(result, now)}
        </>
      ) : (
        "No messages sent yet."
      )}
    </p>
  );
}

function Buttons({ card, saved }: { card: Card; saved: WebhookResponse }) {
  const change = diffDraft(saved, card.draft);
  return (
    <div class="dialog-foot">
      {saved.hasUrl && (
        <>
          <button
            type="button"
            class="button webhook-clear"
            disabled={card.busy !== ""}
            onClick={() => void card.clear()}
            data-testid="webhook-clear"
          >
            Delete URL
          </button>
          <Button
            disabled={card.busy !== "" || !isEmpty(change)}
            title={isEmpty(change) ? undefined : "Save first. The test uses the saved URL."}
            onClick={() => void card.test()}
            testid="webhook-test"
          >
            {card.busy === "testing" ? <span class="spinner" /> : <Icon name="send" size={16} />} Send test
          </Button>
        </>
      )}
      <Button submit primary disabled={card.busy !== "" || isEmpty(change)} testid="webhook-save">
        Save
      </Button>
    </div>
  );
}

function WebhookForm({ card, saved }: { card: Card; saved: WebhookResponse }) {
  const { url: _, ...changed } = card.draft;
  const now = { ...saved, ...changed };
  const submit = (event: Event) => {
    event.preventDefault();
    void card.save();
  };
  return (
    <form onSubmit={submit} noValidate>
      <Switch
        label="Send messages"
        hint="even while no page is open"
        value={now.enabled}
        onChange={(enabled) => card.edit({ enabled })}
      />
      <FieldProblem field="enabled" problem={card.problem} />
      <KindField card={card} now={now} />
      <ScopeField card={card} now={now} />
      <UrlField card={card} saved={saved} />
      {saved.hasUrl && <LastResult result={saved.lastResult} />}
      {card.problem && card.problem.field === undefined && (
        <p class="problem" role="alert" data-testid="webhook-problem">
          <Icon name="alert" /> {card.problem.text}
        </p>
      )}
      <Buttons card={card} saved={saved} />
    </form>
  );
}

export function WebhookSettings() {
  const card = useWebhook();
  return (
    <section class="webhook" data-testid="webhook-settings" aria-busy={card.busy !== ""}>
      <h3>Webhook</h3>
      {card.refused && (
        <p class="dim" data-testid="webhook-refused">
          Only admins can set up the webhook.
        </p>
      )}
      {!card.refused && card.saved && <WebhookForm card={card} saved={card.saved} />}
      {!card.refused && !card.saved && card.problem && (
        <p class="problem" role="alert">
          <Icon name="alert" /> {card.problem.text}
        </p>
      )}
    </section>
  );
}
