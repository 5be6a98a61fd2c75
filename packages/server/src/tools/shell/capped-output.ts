/** Collects output of any size in bounded memory: retains head and tail, counts and drops the middle. */

export const BYTE_LIMIT = 10 * 1024;
export const LINE_LIMIT = 256;

const HALF_BYTES = BYTE_LIMIT / 2;
const HALF_LINES = LINE_LIMIT / 2;
const NEWLINE = 0x0a;

export class CappedOutput {
  readonly #head = new Uint8Array(HALF_BYTES);
  /** a ring: once it is full, the oldest byte is at `#total % HALF_BYTES` counted after the head */
  readonly #tail = new Uint8Array(HALF_BYTES);
  #total = 0;
  #newlines = 0;
  #last = NEWLINE;

  push(chunk: Uint8Array): void {
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) this.#newlines++;
    this.#last = chunk.at(-1) ?? this.#last;
    const intoHead = Math.max(0, Math.min(chunk.length, HALF_BYTES - this.#total));
    this.#head.set(chunk.subarray(0, intoHead), this.#total < HALF_BYTES ? this.#total : 0);
    this.#total += intoHead;
    let rest = chunk.subarray(intoHead);
    if (rest.length > HALF_BYTES) {
      this.#total += rest.length - HALF_BYTES;
      rest = rest.subarray(rest.length - HALF_BYTES);
    }
    if (rest.length === 0) return;
    const position = (this.#total - HALF_BYTES) % HALF_BYTES;
    const first = Math.min(rest.length, HALF_BYTES - position);
    this.#tail.set(rest.subarray(0, first), position);
    this.#tail.set(rest.subarray(first), 0);
    this.#total += rest.length;
  }

  /** The output, or its head and tail with a line between them that reports the missing amount. */
  text(): string {
    const lines = this.#newlines + (this.#last === NEWLINE ? 0 : 1);
    const whole = this.#total <= BYTE_LIMIT;
    if (whole && lines <= LINE_LIMIT) return decode(this.#kept());
    const kept = this.#kept();
    const head = trimEndToCharacter(firstLines(whole ? kept : kept.subarray(0, HALF_BYTES), HALF_LINES));
    const tail = trimStartToCharacter(lastLines(whole ? kept : kept.subarray(HALF_BYTES), HALF_LINES));
    const bytes = this.#total - head.length - tail.length;
    const leftOut = Math.max(0, lines - countLines(head) - countLines(tail));
    const before = decode(head);
    const gap = before.endsWith('\n') ? '' : '\n';
    return `${before}${gap}[… ${bytes} bytes (about ${leftOut} lines) left out …]\n${decode(tail)}`;
  }

  /** The retained bytes in order: all of them, or head and tail. */
  #kept(): Uint8Array {
    if (this.#total <= HALF_BYTES) return this.#head.subarray(0, this.#total);
    const after = this.#total - HALF_BYTES;
    if (after <= HALF_BYTES) return join(this.#head, this.#tail.subarray(0, after));
    const oldest = after % HALF_BYTES;
    return join(this.#head, this.#tail.subarray(oldest), this.#tail.subarray(0, oldest));
  }
}

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

const join = (...pieces: Uint8Array[]): Uint8Array => Buffer.concat(pieces);

function countLines(bytes: Uint8Array): number {
  let count = 0;
  for (const byte of bytes) if (byte === NEWLINE) count++;
  return count;
}

function firstLines(bytes: Uint8Array, limit: number): Uint8Array {
  let end = -1;
  for (let line = 0; line < limit; line++) {
    end = bytes.indexOf(NEWLINE, end + 1);
    if (end < 0) return bytes;
  }
  return bytes.subarray(0, end + 1);
}

function lastLines(bytes: Uint8Array, limit: number): Uint8Array {
  let start = bytes.at(-1) === NEWLINE ? bytes.length - 1 : bytes.length;
  for (let line = 0; line < limit; line++) {
    start = start === 0 ? -1 : bytes.lastIndexOf(NEWLINE, start - 1);
    if (start < 0) return bytes;
  }
  return bytes.subarray(start + 1);
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Drops an incomplete character at the end. */
function trimEndToCharacter(bytes: Uint8Array): Uint8Array {
  let lead = bytes.length - 1;
  while (lead > bytes.length - 4 && isContinuation(bytes[lead])) lead--;
  const first = bytes[lead] ?? 0;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return lead + length > bytes.length ? bytes.subarray(0, lead) : bytes;
}

/** Drops an incomplete character at the beginning. */
function trimStartToCharacter(bytes: Uint8Array): Uint8Array {
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start++;
  return bytes.subarray(start);
}
