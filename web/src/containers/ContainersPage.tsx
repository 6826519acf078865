/** Engines that make containers for cases, and those containers. */
import { useState } from "preact/hooks";
import { Icon } from "../ui/Icon.tsx";
import { Problem } from "../ui/Problem.tsx";
import { useFocusBack } from "../ui/useFocusBack.ts";
import { HostForm } from "./HostForm.tsx";
import { HostRow } from "./HostRow.tsx";
import "../ui/styles/records.css";
import "../hosts/hosts.css";
import "./containers.css";
import { useContainers } from "./useContainers.ts";

export function ContainersPage() {
  const page = useContainers();
  const [adding, setAdding] = useState(false);
  const opener = useFocusBack(adding);
  return (
    <div class="records-page far-page" aria-busy={page.busy} data-testid="containers">
      <div class="records-bar">
        <span class="dim">Engines whose containers sessions can run in.</span>
        {!adding && (
          <button
            ref={opener}
            type="button"
            class="button primary"
            onClick={() => setAdding(true)}
            data-testid="box-host-new"
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
          None yet. A container host is podman or docker on the service’s machine, with an image and limits.
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
