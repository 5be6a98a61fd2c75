/** Keeps the search index up to date in the background, in small batches. */
import type { Log } from '../ports/logger.ts';
import type { MessageSearch } from '../ports/message-search.ts';

/** Number of events indexed without a pause. */
const BATCH = 200;
const PAUSE_MS = 20;
const REST_MS = 60_000;

export class SearchIndexer {
  #timer: ReturnType<typeof setTimeout> | null = null;
  #running: Promise<void> | null = null;
  #stopped = false;

  constructor(
    private readonly search: Pick<MessageSearch, 'update'>,
    private readonly log: Log,
  ) {}

  start(): void {
    if (!this.#stopped) this.#in(PAUSE_MS);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#running;
  }

  #in(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#running = this.#update();
    }, ms);
    this.#timer.unref();
  }

  async #update(): Promise<void> {
    let done = true;
    try {
      done = await this.search.update(BATCH);
    } catch (err) {
      this.log.warn({ err }, 'failed to update search index');
    }
    if (!this.#stopped) this.#in(done ? REST_MS : PAUSE_MS);
  }
}
