/** Server-sent events: one answer that goes on, to a reader that may be slower than what it is told. */

import type { Log } from '../core/ports/logger.ts';
import { type Meter, NO_METER } from '../core/ports/meter.ts';
import type { OnTokenRevoked, OpenStream, Pieces, Reader } from './connection.ts';
import { requestIdOf } from './request-id.ts';
import { type Lag, SendBuffer, type Wire } from './send-buffer.ts';

const KEEP_ALIVE_MS = 15_000;
const KEEP_ALIVE = ': still here\n\n';

/** What Bun hands to a stream of type `direct`: a write that returns a promise says that the reader is behind. */
type Direct = { write(text: string): number | Promise<number>; flush(): unknown; close(): void };

export function eventStreams(limits: { readonly heldCharacters: number }, log: Log, meter: Meter = NO_METER) {
  // What lives as long as the stream does not hold on to the request.
  const open: OpenStream = (request, { dialect, encode, tell, onTokenRevoked }) => {
    const reader = new StreamReader(
      limits.heldCharacters,
      encode,
      new StreamLag(meter, dialect),
      onTokenRevoked,
    );
    const id = requestIdOf(request);
    if (request.signal.aborted) reader.end();
    else request.signal.addEventListener('abort', () => reader.end(), { once: true });
    const source = {
      type: 'direct',
      async pull(direct: Direct) {
        reader.begin(direct);
        try {
          await tell(reader);
        } catch (thrown) {
          log.error({ err: thrown, dialect, request: id }, 'a stream could not go on');
        } finally {
          reader.end();
          direct.close();
        }
      },
      cancel: () => reader.end(),
    };
    // The types know only standard streams.
    return new Response(new ReadableStream(source as never), {
      headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
    });
  };
  return open;
}

class StreamLag implements Lag {
  constructor(
    private readonly meter: Meter,
    private readonly dialect: string,
  ) {}

  coalesced(): void {
    this.meter.add('frames_coalesced', this.dialect);
  }

  caughtUp(ms: number): void {
    this.meter.observe('reader_lag_seconds', ms / 1000, this.dialect);
  }

  gaveUp(): void {
    this.meter.add('resyncs', this.dialect);
  }
}

class StreamReader implements Reader, Wire {
  gone = false;
  #direct: Direct | null = null;
  #outbox: SendBuffer;
  #lost = Promise.withResolvers<readonly (object | undefined)[] | null>();
  /** pending while the reader is behind */
  #written: Promise<unknown> | null = null;
  #quiet = true;
  #keepAlive: ReturnType<typeof setInterval> | undefined;
  #endGuard: (() => void) | undefined;

  constructor(
    private readonly limit: number,
    readonly encode: (frame: object) => string,
    private readonly lag: Lag,
    private readonly onTokenRevoked: OnTokenRevoked | undefined,
  ) {
    this.#outbox = new SendBuffer(this, lag, limit);
  }

  begin(direct: Direct): void {
    this.#direct = direct;
    this.#endGuard = this.onTokenRevoked?.(() => this.end());
    this.#keepAlive = setInterval(() => {
      if (this.#quiet && !this.#outbox.behind) this.send(KEEP_ALIVE);
      this.#quiet = true;
    }, KEEP_ALIVE_MS);
  }

  end(): void {
    clearInterval(this.#keepAlive);
    this.#endGuard?.();
    this.#endGuard = undefined;
    this.gone = true;
    this.#lost.resolve(null);
  }

  send(text: string, frame?: object, pieces?: Pieces): boolean {
    this.#quiet = false;
    return !this.gone && this.#outbox.send(text, frame, pieces);
  }

  async ready(): Promise<void> {
    while (this.#written && !this.gone) {
      await Promise.race([this.#written, this.#lost.promise]);
    }
  }

  async lost(): Promise<readonly (object | undefined)[] | null> {
    const dropped = await this.#lost.promise;
    if (dropped && !this.gone) {
      this.#lost = Promise.withResolvers();
      this.#outbox = new SendBuffer(this, this.lag, this.limit);
    }
    return this.gone ? null : dropped;
  }

  /** The outbox has more to hold than it may. */
  disconnect(dropped: readonly (object | undefined)[]): void {
    this.#lost.resolve(dropped);
  }

  /** Past the send buffer. */
  sendText(text: string): number {
    const direct = this.#direct;
    if (!direct || this.gone) return 0;
    const written = direct.write(text);
    direct.flush();
    if (typeof written === 'number') return written;
    const settled = () => {
      this.#written = null;
      this.#outbox.drained();
    };
    this.#written = written.then(settled, settled);
    return -1;
  }
}
