/** Rules that answer agents: what they are about, how often they answered, and new ones. */
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { getErrorText } from "../../api/errors.ts";
import type { ApprovalRuleResponse, RulePreviewResponse, RuleSuggestionResponse } from "../../api/types.ts";
import { formatAgo } from "../../lib/ago.ts";
import { plural } from "../../lib/format.ts";
import { sessionList, sessions } from "../../store/state.ts";
import { Button } from "../../ui/Button.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { ListPage } from "../../ui/ListPage.tsx";
import { Problem } from "../../ui/Problem.tsx";
import { Select } from "../../ui/Select.tsx";
import { SheetForm } from "../../ui/SheetForm.tsx";
import { useForm } from "../../ui/useForm.ts";
import { useNow } from "../../ui/useNow.ts";
import { Field } from "../settings/fields.tsx";
import {
  bodyOf,
  type Draft,
  EMPTY,
  KINDS,
  LIFETIMES,
  type MatchKind,
  TOOLS,
  validateDraft,
} from "./draft.ts";
import "./rules.css";
import { addRule, createRule, deleteRule, rules } from "./state.ts";
import { ACTIONS, ANSWERS, describeEnd, describeMatch, describeScope, joinWords } from "./texts.ts";

interface PartProps {
  draft: Draft;
  set: (part: Partial<Draft>) => void;
}

function Subject({ draft, set }: PartProps) {
  const choose = (kind: MatchKind) => set({ kind, tool: TOOLS[kind][0]?.[0] ?? "" });
  const hint = KINDS.find(([kind]) => kind === draft.kind)?.[2] ?? "";
  return (
    <>
      <Field label="About">
        <Select value={draft.kind} choices={KINDS} onChoose={choose} testid="rule-kind" />
      </Field>
      {TOOLS[draft.kind].length > 1 && (
        <Field label="Tool">
          <Select value={draft.tool} choices={TOOLS[draft.kind]} onChoose={(tool) => set({ tool })} />
        </Field>
      )}
      <Field label="Match">
        <input
          class="field"
          value={draft.text}
          placeholder={hint}
          maxLength={4000}
          onInput={(event) => set({ text: event.currentTarget.value })}
          autocomplete="off"
          spellcheck={false}
          data-testid="rule-text"
        />
      </Field>
    </>
  );
}

function listScopes(): [string, string][] {
  const cases = new Set(sessions.value.map(({ caseName }) => caseName).filter((name) => name != null));
  return [
    ["all", "everywhere"],
    ...[...cases].map((name): [string, string] => [`case:${name}`, `in ${name}`]),
    ...sessions.value.map(({ id, name }): [string, string] => [`session:${id}`, `in session ${name}`]),
  ];
}

function Terms({ draft, set }: PartProps) {
  return (
    <>
      <Field label="Action">
        <Select
          value={draft.action}
          choices={Object.entries(ACTIONS) as [Draft["action"], string][]}
          onChoose={(action) => set({ action })}
          testid="rule-action"
        />
      </Field>
      <Field label="Where">
        <Select
          value={draft.scope}
          choices={listScopes()}
          onChoose={(scope) => set({ scope })}
          testid="rule-scope"
        />
      </Field>
      <Field label="How long">
        <Select value={draft.lifetime} choices={LIFETIMES} onChoose={(lifetime) => set({ lifetime })} />
      </Field>
      <Field label="Name" hint="optional">
        <input
          class="field"
          value={draft.note}
          maxLength={80}
          onInput={(event) => set({ note: event.currentTarget.value })}
          autocomplete="off"
          data-testid="rule-note"
        />
      </Field>
    </>
  );
}

function Preview({ draft }: { draft: Draft }) {
  const [found, setFound] = useState<RulePreviewResponse>();
  const [problem, setProblem] = useState("");
  const show = async () => {
    setProblem("");
    setFound(undefined);
    try {
      const rule = bodyOf(draft, Date.now());
      setFound(await api.post("/api/approval-rules/preview", { body: { rule } }));
    } catch (error) {
      setProblem(getErrorText(error));
    }
  };
  return (
    <div class="rule-preview">
      <Button small onClick={() => void show()} testid="rule-preview">
        Preview
      </Button>
      <Problem text={problem} testid="rule-preview-problem" />
      {found && (
        <div role="status" data-testid="rule-preview-found">
          <small>
            Decides {found.decided.length} of the last {plural(found.requests, "question")}
          </small>
          <ul>
            {found.decided.map((each) => (
              <li key={`${each.at} ${each.subject}`}>
                {ACTIONS[each.action]}: {each.subject ?? each.tool}
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

function NewRule({ onClose }: { onClose: () => void }) {
  const send = async (draft: Draft) => {
    await createRule(bodyOf(draft, Date.now()));
    await rules.refresh();
    onClose();
  };
  const { draft, set, submit, problem, busy } = useForm(EMPTY, send, { validate: validateDraft });
  return (
    <SheetForm
      label="New rule"
      testid="rule"
      onSubmit={submit}
      onClose={onClose}
      problem={problem}
      busy={busy}
      action="Add rule"
      pending="Adding…"
      actionTestid="rule-add"
      note="What a rule doesn't name, an agent still asks."
    >
      <Subject draft={draft} set={set} />
      <Terms draft={draft} set={set} />
      <Preview draft={draft} />
    </SheetForm>
  );
}

const nameOf = (id: string): string | undefined => sessionList.value.byId.get(id)?.name;

function LastAnswers({ rule, now }: { rule: ApprovalRuleResponse; now: number }) {
  if (!rule.answers || rule.answers.length === 0) return null;
  return (
    <details data-testid="rule-answers">
      <summary>Last answers</summary>
      <ul class="rule-answers">
        {rule.answers.map((each) => (
          <li key={each.at}>
            {formatAgo(each.at, now)} {ANSWERS[each.answer]}: {each.subject ?? each.tool}
          </li>
        ))}
      </ul>
    </details>
  );
}

const TONES = { allow: "accent", deny: "warn", ask: "plain" } as const;

function Row({ rule, now }: { rule: ApprovalRuleResponse; now: number }) {
  const ends = describeEnd(rule, now);
  return (
    <li class="record" data-testid="rule">
      <span class="record-mark" aria-hidden="true">
        <Icon name={rule.action === "deny" ? "close" : rule.action === "ask" ? "help" : "check"} size={16} />
      </span>
      <div class="record-main">
        <span class="record-title">
          <strong>{rule.note ?? describeMatch(rule.match)}</strong>
          <span class="tag" data-tone={TONES[rule.action]}>
            {ACTIONS[rule.action]}
          </span>
          {ends && (
            <span class="tag" data-tone="warn">
              {ends}
            </span>
          )}
        </span>
        {rule.note && <code class="rule-match">{describeMatch(rule.match)}</code>}
        <small>
          {rule.tool} · {describeScope(rule.scope, nameOf)} · {plural(rule.hits, "answer")}
          {rule.lastHitAt !== undefined && `, last ${formatAgo(rule.lastHitAt, now)}`}
        </small>
        <LastAnswers rule={rule} now={now} />
      </div>
      <Button
        small
        label={`Delete the rule ${rule.name}`}
        onClick={() => void deleteRule(rule)}
        testid="rule-delete"
      >
        Delete
      </Button>
    </li>
  );
}

function Suggestion({ suggestion }: { suggestion: RuleSuggestionResponse }) {
  const { words, caseName, tool, count } = suggestion;
  const add = async () => {
    const scope = caseName === undefined ? { all: true } : { caseName };
    await addRule({ scope, tool, match: { command: { pattern: [...words] } }, action: "allow" });
    await rules.refresh();
  };
  return (
    <li class="record" data-testid="rule-suggestion">
      <span class="record-mark" aria-hidden="true">
        <Icon name="bulb" size={16} />
      </span>
      <div class="record-main">
        <span>
          You allowed <code class="rule-match">{joinWords(words)}</code> {count} times
          {caseName !== undefined && ` in ${caseName}`}
        </span>
      </div>
      <Button
        small
        onClick={() => void add()}
        label={`Add a rule for ${joinWords(words)}`}
        testid="rule-suggestion-add"
      >
        Add rule
      </Button>
    </li>
  );
}

export function RulesPage() {
  const now = useNow();
  useEffect(rules.follow, []);
  const found = rules.data.value;
  return (
    <ListPage
      testid="rules"
      summary="Answer agents' questions without you, and nothing beyond what they name."
      add={{ label: "New rule", testid: "new-rule", form: (close) => <NewRule onClose={close} /> }}
      problem={rules.trouble.value}
      items={found?.rules}
      empty="No rules yet. Add one here, or beside the answers when an agent asks."
      row={(rule) => <Row key={rule.id} rule={rule} now={now} />}
    >
      {() =>
        found &&
        found.suggestions.length > 0 && (
          <ul class="records" aria-label="Suggestions">
            {found.suggestions.map((each) => (
              <Suggestion key={`${each.tool} ${each.caseName} ${each.words.join(" ")}`} suggestion={each} />
            ))}
          </ul>
        )
      }
    </ListPage>
  );
}
