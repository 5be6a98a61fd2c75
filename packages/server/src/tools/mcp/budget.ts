/**
 * Limits on what an MCP server sends, counted before anything is parsed. A server that exceeds one is
 * disconnected.
 */

/** A message, in bytes; each value in it counts as `VALUE_BYTES`. */
export const MAX_MESSAGE = 10 * 1024 * 1024;
/** Small values cost more memory and time than their bytes: `[],[],[]`. */
const VALUE_BYTES = 64;
const MAX_LEVELS = 200;

type Allowance = { readonly burst: number; readonly perSecond: number };
const MESSAGES: Allowance = { burst: 2_000, perSecond: 200 };
const BYTES: Allowance = { burst: 128 * 1024 * 1024, perSecond: 16 * 1024 * 1024 };
/** Standard error is only a log. */
const LOG_BYTES: Allowance = { burst: 32 * 1024 * 1024, perSecond: 1024 * 1024 };

/** Thrown where the data was read; the connection is closed already. */
export class BudgetExceeded extends Error {}

/** One per connection, shared by all of its streams. */
export class Budget {
  readonly #messages = new Bucket(MESSAGES);
  readonly #bytes = new Bucket(BYTES);
  readonly #logBytes = new Bucket(LOG_BYTES);
  readonly #exceeded: (reason: string) => void;
  #reason: string | null = null;

  /** `exceeded` is called once, and must close the connection. */
  constructor(exceeded: (reason: string) => void) {
    this.#exceeded = exceeded;
  }

  messages(count: number): void {
    if (!this.#messages.take(count)) this.exceed('the server sent too many messages');
  }

  /** Throws as well if the connection was closed for an earlier reason. */
  bytes(count: number): void {
    if (this.#reason !== null) throw new BudgetExceeded(this.#reason);
    if (!this.#bytes.take(count)) this.exceed('the server sent too much data');
  }

  /** Bytes of standard error. False if there were too many, and the connection is closed. */
  logged(count: number): boolean {
    if (this.#reason === null && !this.#logBytes.take(count))
      this.#close('the server wrote too much to standard error');
    return this.#reason === null;
  }

  exceed(reason: string): never {
    this.#close(reason);
    throw new BudgetExceeded(reason);
  }

  #close(reason: string): void {
    if (this.#reason !== null) return;
    this.#reason = reason;
    this.#exceeded(reason);
  }
}

class Bucket {
  readonly #allowance: Allowance;
  #left: number;
  #at = performance.now();

  constructor(allowance: Allowance) {
    this.#allowance = allowance;
    this.#left = allowance.burst;
  }

  take(count: number): boolean {
    const { burst, perSecond } = this.#allowance;
    const now = performance.now();
    this.#left = Math.min(burst, this.#left + ((now - this.#at) / 1_000) * perSecond) - count;
    this.#at = now;
    return this.#left >= 0;
  }
}

/** How messages are separated: one per line, server-sent events, or one JSON text, which may be a batch. */
export type Framing = 'lines' | 'events' | 'body';

const [LF, CR, QUOTE, BACKSLASH] = [0x0a, 0x0d, 0x22, 0x5c];
const [COMMA, COLON, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x2c, 0x3a, 0x5b, 0x5d, 0x7b, 0x7d];

/** Counts the messages, bytes and values of one stream. */
export class Meter {
  readonly #budget: Budget;
  readonly #framing: Framing;
  #size = 0;
  #depth = 0;
  /** of the current chunk */
  #values = 0;
  #lineLength = 0;
  #inText = false;
  #escaped = false;
  #afterCarriageReturn = false;

  constructor(budget: Budget, framing: Framing) {
    this.#budget = budget;
    this.#framing = framing;
  }

  /** Throws `BudgetExceeded`. */
  read(chunk: Uint8Array): void {
    this.#budget.bytes(chunk.length);
    this.#values = 0;
    for (let index = 0; index < chunk.length; index++) {
      if (this.#inText && !this.#escaped) {
        const end = endOfText(chunk, index);
        this.#grow(end - index);
        index = end;
      }
      const byte = chunk[index];
      if (byte !== undefined) this.#step(byte);
    }
    this.#budget.bytes(this.#values * VALUE_BYTES);
  }

  #grow(bytes: number): void {
    this.#size += bytes;
    if (this.#size > MAX_MESSAGE) this.#budget.exceed('the server sent a message that is too large');
  }

  #step(byte: number): void {
    this.#grow(1);
    if (byte === LF || byte === CR) {
      this.#lineEnded(byte);
      return;
    }
    this.#afterCarriageReturn = false;
    this.#lineLength++;
    if (this.#escaped) this.#escaped = false;
    else if (this.#inText && byte === BACKSLASH) this.#escaped = true;
    else if (byte === QUOTE) this.#inText = !this.#inText;
    else if (!this.#inText) this.#structure(byte);
  }

  #structure(byte: number): void {
    if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) this.#depth--;
    const opens = byte === OPEN_LIST || byte === OPEN_OBJECT;
    if (!opens && byte !== COMMA && byte !== COLON) return;
    this.#values++;
    this.#grow(VALUE_BYTES);
    if (!opens) return;
    // The messages of a batch.
    if (this.#framing === 'body' && byte === OPEN_OBJECT && this.#depth <= 1) this.#budget.messages(1);
    if (++this.#depth > MAX_LEVELS)
      this.#budget.exceed('the server sent a message that is nested too deeply');
  }

  /** Texts in JSON contain no line breaks: each line starts outside of them. */
  #lineEnded(byte: number): void {
    this.#inText = false;
    this.#escaped = false;
    if (this.#framing === 'body') return;
    if (this.#framing === 'lines') {
      if (byte === LF) this.#messageEnded();
      return;
    }
    const isSecondOfPair = byte === LF && this.#afterCarriageReturn;
    this.#afterCarriageReturn = byte === CR;
    if (isSecondOfPair) return;
    if (this.#lineLength === 0) this.#messageEnded();
    this.#lineLength = 0;
  }

  #messageEnded(): void {
    this.#budget.messages(1);
    this.#size = 0;
    this.#depth = 0;
  }
}

/** The index of the first byte that is not a plain one of a text, or the length. */
function endOfText(chunk: Uint8Array, from: number): number {
  let index = from;
  for (; index < chunk.length; index++) {
    const byte = chunk[index];
    if (byte === QUOTE || byte === BACKSLASH || byte === LF || byte === CR) break;
  }
  return index;
}
