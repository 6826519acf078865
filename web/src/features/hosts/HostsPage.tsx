/** Other machines that sessions run on, by ssh. */
import { useState } from "preact/hooks";
import { Icon } from "../../ui/Icon.tsx";
import { Problem } from "../../ui/Problem.tsx";
import { useReturnFocus } from "../../ui/useReturnFocus.ts";
import { HostForm } from "./HostForm.tsx";
import { HostRow } from "./HostRow.tsx";
import "../../ui/styles/records.css";
import "./hosts.css";
import { useHosts } from "./useHosts.ts";

export function HostsPage() {
  const page = useHosts();
  const [adding, setAdding] = useState(false);
  const opener = useReturnFocus(adding);
  const kept = (id: string) => {
    setAdding(false);
    void page.attempt(async () => undefined).then(() => page.check(id));
  };
  return (
    <div class="records-page host-page" aria-busy={page.busy} data-testid="hosts">
      <div class="records-bar">
        <span class="dim">Machines that can run sessions. Nothing is installed on them.</span>
        {!adding && (
          <button
            ref={opener}
            type="button"
            class="button primary"
            onClick={() => setAdding(true)}
            data-testid="host-new"
          >
            <Icon name="plus" size={16} /> New host
          </button>
        )}
      </div>
      {adding && <HostForm onClose={() => setAdding(false)} onKept={kept} />}
      <Problem text={page.problem} testid="hosts-problem" />
      {page.all?.length === 0 && !adding && (
        <p class="records-none dim">
          No remote hosts yet. Add a machine that the server reaches over SSH with a key that needs no
          passphrase.
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
