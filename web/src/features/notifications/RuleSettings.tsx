/** The account's own rules: what rings where, and when nothing does. */
import { useState } from "preact/hooks";
import { browserZone } from "../../lib/zone.ts";
import { Button } from "../../ui/Button.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Select } from "../../ui/Select.tsx";
import { Field, Switch } from "../settings/fields.tsx";
import "./rules.css";
import {
  chooseSent,
  type Hook,
  KINDS,
  newHook,
  type Rules,
  sentBy,
  startRules,
  type Urgency,
  withEvent,
} from "./rules.ts";
import { useRules } from "./useRules.ts";

const HOOK_KINDS = [
  ["ntfy", "ntfy"],
  ["slack", "Slack"],
  ["discord", "Discord"],
  ["generic", "Another program"],
] as const;

const SENT = [
  ["attention", "What needs me"],
  ["all", "Everything"],
  ["chosen", "Chosen events"],
] as const;

const URGENCIES: readonly (readonly [Urgency, string])[] = [
  ["critical", "Critical"],
  ["warning", "Warning"],
  ["info", "Info"],
];

const HOOKS_MOST = 5;

interface PartProps {
  rules: Rules;
  save: (part: Partial<Rules>) => void;
}

/** One line for each event: where it rings, and how urgent it is. */
function Events({ rules, save }: PartProps) {
  return (
    <table class="notice-events" data-testid="notice-events">
      <caption class="sr-only">Events, where they ring, and how urgent they are</caption>
      <thead>
        <tr>
          <th scope="col">Ring when</th>
          <th scope="col">Page</th>
          <th scope="col">Push</th>
          <th scope="col">Urgency</th>
        </tr>
      </thead>
      <tbody>
        {KINDS.map(([kind, label]) => (
          <tr key={kind}>
            <th scope="row">{label}</th>
            {(["browser", "push"] as const).map((channel) => (
              <td key={channel}>
                <input
                  type="checkbox"
                  aria-label={`${label}: ${channel === "push" ? "push" : "page"}`}
                  checked={(rules[channel].events ?? []).includes(kind)}
                  data-testid={`notice-${channel}-${kind}`}
                  onChange={({ currentTarget: { checked } }) => {
                    const events = withEvent(rules[channel].events ?? [], kind, checked);
                    save({ [channel]: { enabled: events.length > 0, events } });
                  }}
                />
              </td>
            ))}
            <td>
              <Select
                aria-label={`${label}: urgency`}
                value={rules.urgency[kind] ?? "info"}
                choices={URGENCIES}
                testid={`notice-urgency-${kind}`}
                onChoose={(urgency) => save({ urgency: { ...rules.urgency, [kind]: urgency } })}
              />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Quiet({ rules: { quietHours }, save }: PartProps) {
  const change = (part: Partial<Rules["quietHours"]>) =>
    save({ quietHours: { ...quietHours, timeZone: browserZone(), ...part } });
  const time = (label: string, name: "start" | "end") => (
    <Field label={label}>
      <input
        type="time"
        class="field"
        required
        value={quietHours[name]}
        data-testid={`notice-quiet-${name}`}
        onChange={({ currentTarget: { value } }) => value && change({ [name]: value })}
      />
    </Field>
  );
  return (
    <>
      <Switch
        label="Quiet hours"
        hint={
          quietHours.enabled
            ? `in the time zone ${quietHours.timeZone}`
            : "nothing rings; you get it afterwards"
        }
        value={quietHours.enabled ?? false}
        onChange={(enabled) => change({ enabled })}
      />
      {quietHours.enabled && (
        <>
          {time("From", "start")}
          {time("To", "end")}
          <Switch
            label="Critical events ring anyway"
            hint="those whose urgency is critical in the table above"
            value={quietHours.critical ?? false}
            onChange={(critical) => change({ critical })}
          />
        </>
      )}
    </>
  );
}

/** The events of a webhook, where they are chosen one by one. */
function HookEvents({ hook, number, change }: Pick<HookProps, "hook" | "number" | "change">) {
  const events = hook.events ?? [];
  return (
    <fieldset class="setting-checks" data-testid={`notice-hook-events-${number}`}>
      <legend>Events</legend>
      {KINDS.map(([kind, label]) => (
        <label key={kind}>
          <input
            type="checkbox"
            checked={events.includes(kind)}
            data-testid={`notice-hook-${number}-${kind}`}
            onChange={({ currentTarget: { checked } }) =>
              change({ events: withEvent(events, kind, checked) })
            }
          />
          {label}
        </label>
      ))}
    </fieldset>
  );
}

interface HookProps {
  hook: Hook;
  number: number;
  urgency: Rules["urgency"];
  change: (part: Partial<Hook>) => void;
  remove: () => void;
}

function HookCard({ hook, number, urgency, change, remove }: HookProps) {
  const name = `Webhook ${number}`;
  return (
    <fieldset class="notice-hook" data-testid="notice-hook">
      <legend>{name}</legend>
      <Switch label="On" value={hook.enabled} onChange={(enabled) => change({ enabled })} />
      <Field label="Kind">
        <Select
          value={hook.kind}
          choices={HOOK_KINDS}
          testid={`notice-hook-kind-${number}`}
          onChoose={(kind) => change({ kind })}
        />
      </Field>
      <Field
        label="Send"
        hint={sentBy(hook) === "attention" ? "every event but those of urgency info" : undefined}
      >
        <Select
          value={sentBy(hook)}
          choices={SENT}
          testid={`notice-hook-scope-${number}`}
          onChoose={(sent) => change(chooseSent(hook, sent, urgency))}
        />
      </Field>
      {hook.events !== null && <HookEvents hook={hook} number={number} change={change} />}
      <Field label="URL" hint={hook.urlMasked ? "saved, never shown again" : "stored as a secret"}>
        <input
          class="field"
          inputMode="url"
          autocomplete="off"
          spellcheck={false}
          maxLength={2048}
          placeholder={hook.urlMasked ? `${hook.urlMasked}/…` : "https://"}
          value={hook.url ?? ""}
          data-testid={`notice-hook-url-${number}`}
          onChange={({ currentTarget: { value } }) => value && change({ url: value })}
        />
      </Field>
      {hook.lastResult && (
        <p class="dim">Last message: {hook.lastResult.ok ? "delivered" : hook.lastResult.error}</p>
      )}
      <button type="button" class="button small" onClick={remove}>
        Remove {name.toLowerCase()}
      </button>
    </fieldset>
  );
}

function Hooks({ rules, save }: PartProps) {
  // One without a URL is not saved yet.
  const [draft, setDraft] = useState<Hook>();
  const saved: Hook[] = rules.webhooks;
  const put = (hooks: Hook[]) => save({ webhooks: hooks });
  const changed = (id: string, part: Partial<Hook>) =>
    put(saved.map((hook) => (hook.id === id ? { ...hook, ...part } : hook)));
  const changeDraft = (part: Partial<Hook>) => {
    const next = { ...(draft as Hook), ...part };
    if (!next.url) return setDraft(next);
    setDraft(undefined);
    put([...saved, next]);
  };
  return (
    <>
      {saved.map((hook, at) => (
        <HookCard
          key={hook.id}
          hook={hook}
          number={at + 1}
          urgency={rules.urgency}
          change={(part) => changed(hook.id, part)}
          remove={() => put(saved.filter(({ id }) => id !== hook.id))}
        />
      ))}
      {draft && (
        <HookCard
          hook={draft}
          number={saved.length + 1}
          urgency={rules.urgency}
          change={changeDraft}
          remove={() => setDraft(undefined)}
        />
      )}
      {!draft && saved.length < HOOKS_MOST && (
        <Button onClick={() => setDraft(newHook(saved))} testid="notice-add-hook">
          <Icon name="plus" size={16} /> Add webhook
        </Button>
      )}
    </>
  );
}

export function RuleSettings() {
  const { rules, problem, choose } = useRules();
  if (!rules) return null;
  const save = (part: Partial<Rules>) => choose({ ...rules, ...part });
  const parts = { rules, save };
  return (
    <section data-testid="notice-rules">
      <h3>My own rules</h3>
      <Switch
        label="Use my own rules"
        hint="instead of the switches above, for your account only"
        value={rules.custom}
        onChange={(custom) => choose(custom ? startRules(rules, browserZone()) : { ...rules, custom })}
      />
      {problem && (
        <p class="problem" role="alert" data-testid="notice-problem">
          <Icon name="alert" /> {problem}
        </p>
      )}
      {rules.custom && (
        <>
          <Events {...parts} />
          <Switch
            label="Only while nobody looks"
            hint="not about a session on one of your screens; after 50 seconds without an answer it rings"
            value={rules.onlyUnwatched}
            onChange={(onlyUnwatched) => save({ onlyUnwatched })}
          />
          <Switch
            label="One notice for a family of agents"
            hint="sub-agents ring together; those that are done do not ring"
            value={rules.groupFamilies}
            onChange={(groupFamilies) => save({ groupFamilies })}
          />
          <Switch
            label="One summary afterwards"
            hint="what waited in quiet hours or while muted is told at once"
            value={rules.digest}
            onChange={(digest) => save({ digest })}
          />
          <Quiet {...parts} />
          <Hooks {...parts} />
        </>
      )}
    </section>
  );
}
