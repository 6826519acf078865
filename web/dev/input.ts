/** The mock's POST input: exactly once, held on demand, refused on demand (protocol-exactly-once). */
import { Refused } from "./refused.ts";
import type { MockSession } from "./session.ts";

export class MockInput {
  /** Those that wait for the composer; undefined: it is ready. */
  private held: (() => void)[] | undefined;
  /** The status of the next answer; 0: it is typed; -1: typed, but the answer is lost. */
  nextStatus = 0;
  private readonly seen = new Map<string, number>();

  /** Prompts wait until this is called without. */
  hold(on: boolean): void {
    const waiting = this.held ?? [];
    this.held = on ? waiting : undefined;
    if (!on) for (const go of waiting) go();
  }

  async take(session: MockSession, body: Record<string, unknown>): Promise<unknown> {
    const { input, clientId, seq } = body as { input: string; clientId?: string; seq?: number };
    const status = this.nextStatus;
    this.nextStatus = 0;
    if (status > 0) throw new Refused(status, "OPERATION_FAILED", "the composer did not become ready");
    if (this.held) await new Promise<void>((go) => this.held?.push(go));
    if (session.record.pid === null) throw new Refused(409, "CONFLICT", "no process runs in this session");
    const key = `${session.record.id} ${clientId}`;
    if (seq !== undefined && seq <= (this.seen.get(key) ?? -1)) return { delivered: false, duplicate: true };
    if (seq !== undefined) this.seen.set(key, seq);
    session.prompted(input.replace(/\r$/, ""));
    if (status < 0) throw new Refused(503, "", "the answer is lost");
    return { delivered: true };
  }
}
