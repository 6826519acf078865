/** Servers whose models agents can be given. */
import { isAdmin } from "../../store/me.ts";
import { ListPage } from "../../ui/ListPage.tsx";
import { EndpointForm } from "./EndpointForm.tsx";
import { EndpointRow } from "./EndpointRow.tsx";
import "./models.css";
import { discover, type Endpoints, useEndpoints } from "./useEndpoints.ts";

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
