/** Servers whose models agents can be given. */
import { useState } from "preact/hooks";
import { isAdmin } from "../../store/me.ts";
import { Icon } from "../../ui/Icon.tsx";
import { Problem } from "../../ui/Problem.tsx";
import { useReturnFocus } from "../../ui/useReturnFocus.ts";
import { discover } from "./calls.ts";
import { EndpointForm } from "./EndpointForm.tsx";
import { EndpointRow } from "./EndpointRow.tsx";
import "../../ui/styles/records.css";
import "./models.css";
import { type Endpoints, useEndpoints } from "./useEndpoints.ts";

function Off({ page }: { page: Endpoints }) {
  return (
    <div class="endpoints-off" data-testid="models-off">
      <p>Custom models are off.</p>
      <small>
        Agents can use models from an endpoint you name: llama.cpp, Ollama, vLLM or a gateway. What you send
        in such a session goes to that endpoint.
      </small>
      {isAdmin.value && (
        <button
          type="button"
          class="button primary"
          disabled={page.busy}
          onClick={() => void page.enable()}
          data-testid="models-enable"
        >
          Turn on
        </button>
      )}
    </div>
  );
}

export function ModelsPage() {
  const page = useEndpoints();
  const [adding, setAdding] = useState(false);
  const opener = useReturnFocus(adding);
  if (page.enabled === false) return <Off page={page} />;
  const kept = (id: string) => {
    setAdding(false);
    void page.attempt(() => discover(id));
  };
  return (
    <div class="records-page" aria-busy={page.busy} data-testid="models">
      <div class="records-bar">
        <span class="dim">Endpoints that offer models for new sessions.</span>
        {isAdmin.value && !adding && (
          <button
            ref={opener}
            type="button"
            class="button primary"
            onClick={() => setAdding(true)}
            data-testid="endpoint-new"
          >
            <Icon name="plus" size={16} /> New endpoint
          </button>
        )}
      </div>
      {adding && <EndpointForm onClose={() => setAdding(false)} onKept={kept} />}
      <Problem text={page.problem} testid="models-problem" />
      {page.all?.length === 0 && !adding && (
        <p class="records-none dim">No endpoints yet. Add one to list its models.</p>
      )}
      <ul class="records">
        {page.all?.map((endpoint) => (
          <EndpointRow key={endpoint.id} endpoint={endpoint} page={page} mayChange={isAdmin.value} />
        ))}
      </ul>
    </div>
  );
}
