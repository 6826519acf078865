/** Engines that make containers for cases, and those containers. */
import { ListPage } from "../../ui/ListPage.tsx";
import { HostForm } from "./HostForm.tsx";
import { HostRow } from "./HostRow.tsx";
import "../hosts/hosts.css";
import "./containers.css";
import { useContainers } from "./useContainers.ts";

export function ContainersPage() {
  const page = useContainers();
  const form = (close: () => void) => {
    const kept = () => {
      close();
      void page.attempt();
    };
    return <HostForm onClose={close} onKept={kept} />;
  };
  return (
    <ListPage
      testid="containers"
      class="host-page"
      summary="Container engines that can run sessions."
      add={{ label: "New host", testid: "container-host-new", form }}
      problem={page.problem}
      busy={page.busy}
      items={page.all}
      empty="No container hosts yet. A container host is podman or docker on the server, with an image and limits."
      row={(host) => <HostRow key={host.id} host={host} page={page} />}
    />
  );
}
