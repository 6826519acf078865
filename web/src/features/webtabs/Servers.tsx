/** The servers of a session: a chip for each port, which opens the server's page as a web tab. */
import type { Session } from "../../api/types.ts";
import { showError } from "../../store/toasts.ts";
import { listServers } from "./servers.ts";
import "./strip.css";

async function show(address: string): Promise<void> {
  try {
    await (await import("./actions.ts")).openAddress(address);
  } catch (error) {
    showError("Couldn't open", error);
  }
}

export function Servers({ session }: { session: Session }) {
  return (
    <>
      {listServers(session).map(({ port, address }) => (
        <button
          key={port}
          type="button"
          class="server-chip"
          aria-label={`:${port}, open the server of ${session.name} as a web tab`}
          title={`Open ${address} as a web tab`}
          onClick={() => void show(address)}
          data-testid="server"
        >
          :{port}
        </button>
      ))}
    </>
  );
}
