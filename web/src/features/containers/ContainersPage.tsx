/** Engines that make containers for cases, and those containers. */
import { useState } from "preact/hooks";
import { Icon } from "../../ui/Icon.tsx";
import { Problem } from "../../ui/Problem.tsx";
import { useReturnFocus } from "../../ui/useReturnFocus.ts";
import { HostForm } from "./HostForm.tsx";
import { HostRow } from "./HostRow.tsx";
import "../../ui/styles/records.css";
import "../hosts/hosts.css";
import "./containers.css";
import { useContainers } from "./useContainers.ts";

export function ContainersPage() {
  const page = useContainers();
  const [adding, setAdding] = useState(false);
  const opener = useReturnFocus(adding);
  return (
    <div class="records-page host-page" aria-busy={page.busy} data-testid="containers">
      <div class="records-bar">
        <span class="dim">Container engines that can run sessions.</span>
        {!adding && (
          <button
            ref={opener}
            type="button"
            class="button primary"
            onClick={() => setAdding(true)}
            data-testid="container-host-new"
          >
            <Icon name="plus" size={16} /> New host
          </button>
        )}
      </div>
      {adding && (
        <HostForm
          onClose={() => setAdding(false)}
          onKept={() => {
            setAdding(false);
            void page.attempt(async () => undefined);
          }}
        />
      )}
      <Problem text={page.problem} testid="containers-problem" />
      {page.all?.length === 0 && !adding && (
        <p class="records-none dim">
          No container hosts yet. A container host is podman or docker on the server, with an image and
          limits.
        </p>
      )}
      <ul class="records">
        {page.all?.map((host) => (
          <HostRow key={host.id} host={host} page={page} />
        ))}
      </ul>
    </div>
  );
}
