/** Other machines that sessions run on, by ssh. */
import { useState } from "preact/hooks";
import { Icon } from "../ui/Icon.tsx";
import { Problem } from "../ui/Problem.tsx";
import { useFocusBack } from "../ui/useFocusBack.ts";
import { HostForm } from "./HostForm.tsx";
import { HostRow } from "./HostRow.tsx";
import "../ui/styles/records.css";
import "./hosts.css";
import { useHosts } from "./useHosts.ts";

export function HostsPage() {
  const page = useHosts();
  const [adding, setAdding] = useState(false);
  const opener = useFocusBack(adding);
  const kept = (id: string) => {
    setAdding(false);
    void page.attempt(async () => undefined).then(() => page.check(id));
  };
  return (
    <div class="records-page far-page" aria-busy={page.busy} data-testid="hosts">
      <div class="records-bar">
        <span class="dim">Machines that sessions can run on. Nothing is installed there.</span>
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
          None yet. A host is a machine that this one reaches by ssh, with a key that opens it without a
          question.
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
