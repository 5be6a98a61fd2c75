/** Server-sent events: a response that stays open, with a bounded buffer for slow readers. */
import type { ConnectionId, Fault } from '@parlance/protocol';
import { type Log, type Meter, NO_METER } from '../core/ports/telemetry.ts';

import type { EventStream, OnTokenRevoked, OpenStream, Pieces } from './connection.ts';
import { serverOf } from './idle-connections.ts';
import type { ClosableStream, OpenStreams } from './open-streams.ts';
import { requestIdOf } from './request-id.ts';
import { type FrameWriter, type Lag, SendBuffer } from './send-buffer.ts';

const KEEP_ALIVE_MS = 15_000;
const KEEP_ALIVE = ': still here\n\n';

/** The controller of a Bun stream of type `direct`. If `write` returns a promise, the reader is behind. */
type Direct = { write(text: string): number | Promise<number>; flush(): unknown; close(): void };

export type StreamParts = {
  readonly log: Log;
  readonly meter?: Meter;
  /** where open streams are listed */
  readonly streams?: OpenStreams;
};

export function eventStreams(limits: { readonly heldCharacters: number }, parts: StreamParts) {
  const { log, meter = NO_METER, streams } = parts;
  // Nothing that lives as long as the stream may reference the request.
  const open: OpenStream = (request, { dialect, encode, produce, onTokenRevoked, keepAlive }) => {
    const stream = new ResponseStream(limits.heldCharacters, new StreamLag(meter, dialect), {
      encode,
      onTokenRevoked,
      keepAlive,
    });
    const id = requestIdOf(request);
    const listener = serverOf(request);
    if (request.signal.aborted) stream.end();
    else request.signal.addEventListener('abort', () => stream.end(), { once: true });
    const source = {
      type: 'direct',
      async pull(direct: Direct) {
        stream.begin(direct);
        try {
          // Not before: a response to HEAD is never read.
          streams?.add(stream, listener);
          await produce(stream);
        } catch (thrown) {
          log.error({ err: thrown, dialect, request: id }, 'event stream failed');
        } finally {
          stream.end();
          direct.close();
          streams?.remove(stream);
        }
      },
      cancel: () => stream.end(),
    };
    // The types only know standard streams.
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

class ResponseStream implements EventStream, FrameWriter, ClosableStream {
  readonly id = crypto.randomUUID() as string as ConnectionId;
  open = true;
  #direct: Direct | null = null;
  #buffer: SendBuffer;
  #lost = Promise.withResolvers<readonly (object | undefined)[] | null>();
  readonly #ended = Promise.withResolvers<void>();
  /** pending while the reader is behind */
  #written: Promise<unknown> | null = null;
  #quiet = true;
  #keepAlive: ReturnType<typeof setInterval> | undefined;
  #stopTokenWatch: (() => void) | undefined;
  #tell: ((fault: Fault) => void) | null = null;
  readonly encode: (frame: object) => string;
  readonly #onTokenRevoked: OnTokenRevoked | undefined;
  readonly #keepAliveText: string;

  constructor(
    private readonly limit: number,
    private readonly lag: Lag,
    options: Pick<Parameters<OpenStream>[1], 'encode' | 'onTokenRevoked' | 'keepAlive'>,
  ) {
    const { encode, onTokenRevoked, keepAlive = KEEP_ALIVE } = options;
    this.encode = encode;
    this.#keepAliveText = keepAlive;
    this.#onTokenRevoked = onTokenRevoked;
    this.#buffer = new SendBuffer(this, lag, limit);
  }

  begin(direct: Direct): void {
    this.#direct = direct;
    this.#stopTokenWatch = this.#onTokenRevoked?.(() => this.end());
    this.#keepAlive = setInterval(() => {
      if (this.#quiet && !this.#buffer.behind) this.send(this.#keepAliveText);
      this.#quiet = true;
    }, KEEP_ALIVE_MS);
  }

  end(): void {
    clearInterval(this.#keepAlive);
    this.#stopTokenWatch?.();
    this.#stopTokenWatch = undefined;
    this.open = false;
    this.#lost.resolve(null);
    this.#ended.resolve();
  }

  send(text: string, frame?: object, pieces?: Pieces): boolean {
    this.#quiet = false;
    return this.open && this.#buffer.send(text, frame, pieces);
  }

  async ready(): Promise<void> {
    while (this.#written && this.open) {
      // Not `#lost`: it stays resolved until `lost()` is called, and this loop would not end.
      await Promise.race([this.#written, this.#ended.promise]);
    }
  }

  async lost(): Promise<readonly (object | undefined)[] | null> {
    const dropped = await this.#lost.promise;
    if (dropped && this.open) {
      this.#lost = Promise.withResolvers();
      this.#buffer = new SendBuffer(this, this.lag, this.limit);
    }
    return this.open ? dropped : null;
  }

  close(): void {
    this.end();
  }

  onClosing(tell: (fault: Fault) => void): void {
    this.#tell = tell;
  }

  closeWith(fault: Fault): void {
    if (this.#tell) this.#tell(fault);
    else this.end();
  }

  /** Called when the buffer is full. */
  disconnect(dropped: readonly (object | undefined)[]): void {
    this.#lost.resolve(dropped);
  }

  /** Writes without buffering. */
  sendText(text: string): number {
    const direct = this.#direct;
    if (!direct || !this.open) return 0;
    const written = direct.write(text);
    direct.flush();
    if (typeof written === 'number') return written;
    const settled = () => {
      this.#written = null;
      this.#buffer.drained();
    };
    this.#written = written.then(settled, settled);
    return -1;
  }
}
