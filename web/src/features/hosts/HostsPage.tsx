/** Other machines that sessions run on, by ssh. */
import { ListPage } from "../../ui/ListPage.tsx";
import { HostForm } from "./HostForm.tsx";
import { HostRow } from "./HostRow.tsx";
import "./hosts.css";
import { useHosts } from "./useHosts.ts";

export function HostsPage() {
  const page = useHosts();
  const form = (close: () => void) => {
    const kept = (id: string) => {
      close();
      void page.attempt().then(() => page.check(id));
    };
    return <HostForm onClose={close} onKept={kept} />;
  };
  return (
    <ListPage
      testid="hosts"
      class="host-page"
      summary="Machines that can run sessions. Nothing is installed on them."
      add={{ label: "New host", testid: "host-new", form }}
      problem={page.problem}
      busy={page.busy}
      items={page.all}
      empty="No remote hosts yet. Add a machine that the server reaches over SSH with a key that needs no passphrase."
      row={(host) => <HostRow key={host.id} host={host} page={page} />}
    />
  );
}
