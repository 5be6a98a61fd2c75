/**
 * `notifications/progress` while an agent writes. Each has the whole text so far, so they are sent at
 * intervals.
 */
import { notificationMessage } from './json-rpc.ts';
import type { ToolCall } from './tool-call.ts';

const INTERVAL_MS = 100;
/** Also sent without new text, for clients that extend their timeout on progress. */
const SILENCE_MS = 10_000;

export class Progress {
  #last = 0;
  #isDue = false;
  #isRunning = false;
  #isOver = false;
  readonly #heartbeat: ReturnType<typeof setInterval> | undefined;

  constructor(
    private readonly call: Pick<ToolCall, 'stream' | 'progressToken'>,
    private readonly source: { text(): string; elapsed(): number },
  ) {
    if (this.#isWanted) this.#heartbeat = setInterval(() => this.#send(), SILENCE_MS);
  }

  /** The text has changed. */
  update(): void {
    if (!this.#isWanted || this.#isOver) return;
    this.#isDue = true;
    if (!this.#isRunning) void this.#run();
  }

  /** Sends the pending notification, and stops. */
  stop(): void {
    clearInterval(this.#heartbeat);
    this.#isOver = true;
    if (this.#isDue) this.#send();
  }

  get #isWanted(): boolean {
    return this.call.progressToken !== undefined && this.call.stream !== null;
  }

  /** A slow reader gets the next notification after it has read the last one. */
  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#isDue && !this.#isOver) {
      this.#send();
      await this.call.stream?.ready();
      await Bun.sleep(INTERVAL_MS);
    }
    this.#isRunning = false;
  }

  #send(): void {
    this.#isDue = false;
    // Milliseconds since the call started, so that they also increase if the stream is resumed after a restart.
    this.#last = Math.max(this.#last + 1, this.source.elapsed());
    const message = this.source.text();
    const params = {
      progressToken: this.call.progressToken,
      progress: this.#last,
      ...(message !== '' && { message }),
    };
    this.call.stream?.send(notificationMessage('notifications/progress', params));
  }
}
