/** The form of an endpoint. A key goes in and never comes out again. */
import { api } from "../../api/client.ts";
import type { Endpoint } from "../../api/types.ts";
import { Field } from "../settings/fields.tsx";
import { SheetForm } from "../../ui/SheetForm.tsx";
import { useForm } from "../../ui/useForm.ts";
import { type Draft, draftOf, EMPTY, formatModel, newBody, patchOf, validateDraft } from "./texts.ts";

interface Props {
  /** The one to change; absent: a new one. */
  endpoint?: Endpoint;
  onClose: () => void;
  onKept: (id: string) => void;
}

interface Part {
  draft: Draft;
  set: (part: Partial<Draft>) => void;
}

const plain = { autocomplete: "off", autocapitalize: "off", spellcheck: false } as const;

function Key({ draft, set, kept }: Part & { kept: boolean }) {
  return (
    <>
      <Field label="Key" hint={kept ? "saved; type a new one to replace it" : "if the endpoint needs one"}>
        <input
          {...plain}
          class="field"
          type="password"
          autocomplete="new-password"
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
      <select
        class="field"
        value={draft.defaultModelId}
        onChange={(event) => set({ defaultModelId: event.currentTarget.value })}
        data-testid="endpoint-default"
      >
        <option value="">none</option>
        {endpoint.models.map((model) => (
          <option key={model.id} value={model.id}>
            {formatModel(model)}
          </option>
        ))}
      </select>
    </Field>
  );
}

export function EndpointForm({ endpoint, onClose, onKept }: Props) {
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
        <input
          {...plain}
          class="field"
          value={draft.label}
          maxLength={60}
          onInput={(event) => set({ label: event.currentTarget.value })}
          data-testid="endpoint-label"
        />
      </Field>
      <Field label="Address" hint="base URL; /v1 is optional">
        <input
          {...plain}
          class="field"
          inputMode="url"
          value={draft.baseUrl}
          placeholder="http://127.0.0.1:8080"
          onInput={(event) => set({ baseUrl: event.currentTarget.value })}
          data-testid="endpoint-url"
        />
      </Field>
      <Key draft={draft} set={set} kept={endpoint?.apiKeySet === true} />
      {endpoint && <Default draft={draft} set={set} endpoint={endpoint} />}
    </SheetForm>
  );
}
