/** Loads the echo of typed characters where the way to the service is long, and asks it while it is. */
import type { Terminal } from "@xterm/xterm";
import { prefs } from "../../../store/prefs.ts";
import type { TerminalLink } from "../link/link.ts";
import type { LocalEcho } from "./localecho.ts";

/** Shorter round trips are not noticed (ms). */
const LEAST_MS = 40;

export class EchoSwitch {
  private readonly terminal: Terminal;
  private readonly link: TerminalLink;
  private loading = false;
  private closed = false;
  private echo: LocalEcho | undefined;

  constructor(terminal: Terminal, link: TerminalLink) {
    this.terminal = terminal;
    this.link = link;
  }

  private get wanted(): boolean {
    return this.link.roundTrip > LEAST_MS && prefs.peek().localEcho;
  }

  /** The round trip was measured again. */
  measured(): void {
    if (this.wanted && !this.loading) void this.load();
  }

  /** Call before the input is sent. */
  typed(data: string): void {
    if (this.wanted) this.echo?.typed(data);
    else this.reset();
  }

  reset(): void {
    this.echo?.reset();
  }

  dispose(): void {
    this.closed = true;
    this.echo?.dispose();
  }

  private async load(): Promise<void> {
    this.loading = true;
    try {
      const { LocalEcho } = await import("./localecho.ts");
      if (!this.closed) this.echo = new LocalEcho(this.terminal, this.link);
    } catch (error) {
      // Keys then show with their echo, and the next answer asks again.
      console.info("the echo of typed characters was not loaded", error);
      this.loading = false;
    }
  }
}
