/**
 * A read of what goes on changing while its answer is under way.
 *
 * Of two answers the one asked for later may arrive first, and an answer may be older than an event
 * that overtook it: so there is one read at a time, and one more behind it for whatever was asked or
 * told meanwhile.
 */
export class CoalescedRead {
  #running: Promise<void> | undefined;
  #again = false;
  readonly #read: (outdated: () => boolean) => Promise<void>;

  /**
   * @param read one request and what its answer changes; it handles its own failures. `outdated`
   *   says, once the answer is there, that another read follows.
   */
  constructor(read: (outdated: () => boolean) => Promise<void>) {
    this.#read = read;
  }

  /** Read, behind the read under way if there is one; kept when nothing is left to read. */
  now(): Promise<void> {
    this.markOutdated();
    this.#running ??= this.#run();
    return this.#running;
  }

  /** Something changed that the answer under way, if any, may not know. */
  markOutdated(): void {
    this.#again = this.#running !== undefined;
  }

  async #run(): Promise<void> {
    try {
      do {
        this.#again = false;
        await this.#read(() => this.#again);
      } while (this.#again);
    } finally {
      this.#running = undefined;
    }
  }
}
