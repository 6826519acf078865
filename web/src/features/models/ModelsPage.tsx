/** Servers whose models agents can be given. */
import { Select } from "../../ui/Select.tsx";
import { PlainInput } from "../../ui/PlainInput.tsx";
import { Button } from "../../ui/Button.tsx";
import { api } from "../../api/client.ts";
import type { Endpoint } from "../../api/types.ts";
import { Field } from "../settings/fields.tsx";
import { SheetForm } from "../../ui/SheetForm.tsx";
import { useForm } from "../../ui/useForm.ts";
import {
  type Draft,
  draftOf,
  EMPTY,
  formatModel,
  newBody,
  patchOf,
  validateDraft,
  describeModels,
} from "./texts.ts";
import { useState } from "preact/hooks";
import { formatAgo } from "../../lib/ago.ts";
import { askQuestion } from "../../ui/ask.ts";
import { Icon } from "../../ui/Icon.tsx";
import { useNow } from "../../ui/useNow.ts";
import { discover, type Endpoints, useEndpoints } from "./useEndpoints.ts";
import { isAdmin } from "../../store/me.ts";
import { ListPage } from "../../ui/ListPage.tsx";
import "./models.css";

interface EndpointFormProps {
  /** The one to change; absent: a new one. */
  endpoint?: Endpoint;
  onClose: () => void;
  onKept: (id: string) => void;
}

interface Part {
  draft: Draft;
  set: (part: Partial<Draft>) => void;
}

function Key({ draft, set, kept }: Part & { kept: boolean }) {
  return (
    <>
      <Field label="Key" hint={kept ? "saved; type a new one to replace it" : "if the endpoint needs one"}>
        <input
          class="field"
          type="password"
          autocomplete="new-password"
          autocapitalize="off"
          spellcheck={false}
          value={draft.apiKey}
          maxLength={4096}
          disabled={draft.forgetKey}
          placeholder={kept ? "saved, never shown" : ""}
          onInput={(event) => set({ apiKey: event.currentTarget.value })}
          data-testid="endpoint-key"
        />
      </Field>
      {kept && (
        <Field label="Delete the key">
          <input
            type="checkbox"
            class="switch"
            role="switch"
            checked={draft.forgetKey}
            onChange={(event) => set({ forgetKey: event.currentTarget.checked, apiKey: "" })}
            data-testid="endpoint-forget"
          />
        </Field>
      )}
      <Field label="Sent as">
        <select
          class="field"
          value={draft.authStyle}
          onChange={(event) => set({ authStyle: event.currentTarget.value as Draft["authStyle"] })}
        >
          <option value="bearer">Authorization: Bearer</option>
          <option value="api-key">x-api-key</option>
        </select>
      </Field>
    </>
  );
}

function Default({ draft, set, endpoint }: Part & { endpoint: Endpoint }) {
  if (endpoint.models.length === 0) return null;
  return (
    <Field label="Model" hint="default for new sessions">
      <Select
        value={draft.defaultModelId}
        testid="endpoint-default"
        choices={endpoint.models.map((model) => [model.id, formatModel(model)] as const)}
        onChoose={(chosen) => set({ defaultModelId: chosen })}
      >
        <option value="">none</option>
      </Select>
    </Field>
  );
}

export function EndpointForm({ endpoint, onClose, onKept }: EndpointFormProps) {
  const { draft, set, submit, problem, busy } = useForm(
    endpoint ? draftOf(endpoint) : EMPTY,
    async (wanted: Draft) => {
      const kept = endpoint
        ? api.put("/api/model-endpoints/{id}", { path: { id: endpoint.id }, body: patchOf(wanted) })
        : api.post("/api/model-endpoints", { body: newBody(wanted) });
      onKept((await kept).endpoint.id);
    },
    { validate: validateDraft },
  );
  return (
    <SheetForm
      label={endpoint ? `Edit ${endpoint.label}` : "New endpoint"}
      testid="endpoint"
      onSubmit={submit}
      onClose={onClose}
      problem={problem}
      busy={busy}
      action="Save and test"
      pending="Saving…"
      actionTestid="endpoint-save"
      note="Anyone who can start a session with it can read its key through the agent."
    >
      <Field label="Name" hint="shown in lists">
        <PlainInput
          value={draft.label}
          maxLength={60}
          onText={(text) => set({ label: text })}
          testid="endpoint-label"
        />
      </Field>
      <Field label="Address" hint="base URL; /v1 is optional">
        <PlainInput
          inputMode="url"
          value={draft.baseUrl}
          placeholder="http://127.0.0.1:8080"
          onText={(text) => set({ baseUrl: text })}
          testid="endpoint-url"
        />
      </Field>
      <Key draft={draft} set={set} kept={endpoint?.apiKeySet === true} />
      {endpoint && <Default draft={draft} set={set} endpoint={endpoint} />}
    </SheetForm>
  );
}

interface Props {
  endpoint: Endpoint;
  page: Endpoints;
  /** Changes are for administrators. */
  mayChange: boolean;
}

async function remove({ endpoint, page }: Props): Promise<void> {
  const agreed = await askQuestion({
    title: `Remove ${endpoint.label}?`,
    text: "This deletes its address and key. You can't start new sessions with its models.",
    action: "Remove",
    danger: true,
  });
  if (agreed !== undefined)
    await page.attempt(() => api.delete("/api/model-endpoints/{id}", { path: { id: endpoint.id } }));
}

function Actions(props: Props & { onEdit: () => void }) {
  const { endpoint, page, onEdit } = props;
  const action = (name: string, testid: string, act: () => void) => (
    <Button small label={`${name} ${endpoint.label}`} disabled={page.busy} onClick={act} testid={testid}>
      {name}
    </Button>
  );
  return (
    <span class="endpoint-actions">
      {action("Test", "endpoint-test", () => void page.attempt(() => discover(endpoint.id)))}
      {action("Edit", "endpoint-edit", onEdit)}
      {action("Remove", "endpoint-remove", () => void remove(props))}
    </span>
  );
}

function Found({ endpoint }: { endpoint: Endpoint }) {
  if (endpoint.models.length === 0) return null;
  return (
    <ul class="endpoint-models" aria-label={`Models of ${endpoint.label}`}>
      {endpoint.models.map((model) => (
        <li key={model.id} data-first={model.id === endpoint.defaultModelId}>
          <bdi>{formatModel(model)}</bdi>
        </li>
      ))}
    </ul>
  );
}

function EndpointRow(props: Props) {
  const { endpoint, page, mayChange } = props;
  const now = useNow();
  const [editing, setEditing] = useState(false);
  if (editing)
    return (
      <li>
        <EndpointForm
          endpoint={endpoint}
          onClose={() => setEditing(false)}
          onKept={(id) => {
            setEditing(false);
            void page.attempt(() => discover(id));
          }}
        />
      </li>
    );
  return (
    <li class="record" data-testid="endpoint" data-endpoint={endpoint.label}>
      <span
        class="record-mark"
        data-tone={endpoint.models.length > 0 ? "accent" : undefined}
        aria-hidden="true"
      >
        <Icon name="bulb" size={16} />
      </span>
      <div class="record-main">
        <span class="record-title">
          <strong>{endpoint.label}</strong>
          <span class="tag" data-tone={endpoint.models.length > 0 ? "accent" : "plain"}>
            {describeModels(endpoint)}
          </span>
          {endpoint.apiKeySet && <span class="tag">key saved</span>}
        </span>
        <small class="endpoint-url">
          {endpoint.baseUrl}
          {endpoint.lastDiscoveredAt !== null && ` · checked ${formatAgo(endpoint.lastDiscoveredAt, now)}`}
        </small>
        <Found endpoint={endpoint} />
        {mayChange && <Actions {...props} onEdit={() => setEditing(true)} />}
      </div>
    </li>
  );
}

function Off({ page }: { page: Endpoints }) {
  return (
    <div class="endpoints-off" data-testid="models-off">
      <p>Custom models are off.</p>
      <small>
        Agents can use models from an endpoint you name: llama.cpp, Ollama, vLLM or a gateway. What you send
        in such a session goes to that endpoint.
      </small>
      {isAdmin.value && (
        <Button primary disabled={page.busy} onClick={() => void page.enable()} testid="models-enable">
          Turn on
        </Button>
      )}
    </div>
  );
}

export function ModelsPage() {
  const page = useEndpoints();
  if (page.enabled === false) return <Off page={page} />;
  const form = (close: () => void) => {
    const kept = (id: string) => {
      close();
      void page.attempt(() => discover(id));
    };
    return <EndpointForm onClose={close} onKept={kept} />;
  };
  return (
    <ListPage
      testid="models"
      summary="Endpoints that offer models for new sessions."
      add={isAdmin.value ? { label: "New endpoint", testid: "endpoint-new", form } : undefined}
      problem={page.problem}
      busy={page.busy}
      items={page.all}
      empty="No endpoints yet. Add one to list its models."
      row={(endpoint) => (
        <EndpointRow key={endpoint.id} endpoint={endpoint} page={page} mayChange={isAdmin.value} />
      )}
    />
  );
}
