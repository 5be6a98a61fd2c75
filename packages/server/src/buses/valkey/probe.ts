/**
 * Monitors a connection: twice a second, publishes a text that must come back to this node, which proves that
 * both directions work. Also reads the server's clock, which determines expiry.
 */
export type ProbeOptions = {
  /** Publishes the text to the own channel, and resolves with the server's time in milliseconds. */
  readonly ask: (text: string) => Promise<number>;
  readonly failed: (reason: string) => void;
};

const PROBE_MS = 500;
/** After a pause of this process, first read what the server has sent. */
const GRACE_MS = 50;
const TEXT = 'probe';

export class Probe {
  /** offset of the server's clock to `performance.now()` */
  clockOffset = 0;
  /** parts of the last probe that have not come back yet */
  #text = false;
  #answer = false;
  #over = false;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(private readonly options: ProbeOptions) {}

  /** Resolves when the first probe has come back. */
  async start(): Promise<void> {
    await this.#send();
    this.#after(PROBE_MS, () => this.#check());
  }

  stop(): void {
    this.#over = true;
    if (this.#timer) clearTimeout(this.#timer);
  }

  /** True if the text is a probe. Any text proves that the connection works. */
  take(text: string): boolean {
    this.#text = false;
    return text === TEXT;
  }

  #check(): void {
    if (this.#complete) this.#next();
    else
      this.#after(GRACE_MS, () => {
        if (this.#complete) this.#next();
        else this.#fail(`no response within ${PROBE_MS} ms`);
      });
  }

  get #complete(): boolean {
    return !this.#text && !this.#answer;
  }

  #next(): void {
    this.#send().catch((thrown) => this.#fail(thrown instanceof Error ? thrown.message : String(thrown)));
    this.#after(PROBE_MS, () => this.#check());
  }

  async #send(): Promise<void> {
    this.#text = true;
    this.#answer = true;
    this.clockOffset = (await this.options.ask(TEXT)) - performance.now();
    this.#answer = false;
  }

  #after(ms: number, act: () => void): void {
    if (this.#over) return;
    this.#timer = setTimeout(act, ms);
    this.#timer.unref();
  }

  #fail(reason: string): void {
    if (this.#over) return;
    this.stop();
    this.options.failed(reason);
  }
}
