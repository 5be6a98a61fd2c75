/** Decompresses a body as it arrives, for servers that compress although the request forbids it. */
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { badResponse, HttpError } from './error.ts';

/** Flow control of the socket. `abandon` closes it. */
export type Source = { pause(): void; resume(): void; abandon(): void };

export type End = { readonly kind: 'complete' } | { readonly kind: 'broken'; readonly thrown: unknown };

/** Receives decompressed bytes, and then how the body ended. */
export type Sink = { bytes(piece: Buffer): void; end(end: End): void };

/** Created from the first byte of the body. */
export type OpenDecoder = (first: number) => Transform;

const DECODERS = new Map<string, OpenDecoder>([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  // Many servers leave out the header of zlib, which begins with the method 8 (RFC 1950, 2.2).
  ['deflate', (first) => ((first & 0x0f) === 8 ? createInflate() : createInflateRaw())],
  ['br', () => createBrotliDecompress()],
]);

/** Null for an uncompressed body. Throws `BAD_ENCODING` for an unknown coding. */
export function decoderFor(headers: Headers): OpenDecoder | null {
  const coding = headers.get('content-encoding')?.trim().toLowerCase() ?? '';
  if (coding === '' || coding === 'identity') return null;
  const decoder = DECODERS.get(coding);
  if (decoder) return decoder;
  throw new HttpError('BAD_ENCODING', 'The answer is compressed in a way that is not understood.');
}

/**
 * Memory stays bounded regardless of the expansion: the decoder pauses without a reader, and the socket
 * pauses while the decoder's buffer is full.
 */
export class Decompression {
  /** whether all bytes of the body have arrived */
  complete = false;
  #decoder: Transform | null = null;
  #full = false;

  constructor(
    private readonly open: OpenDecoder,
    private readonly source: Source,
    private readonly sink: Sink,
  ) {}

  write(bytes: Uint8Array): void {
    const [first] = bytes;
    if (first === undefined) return;
    this.#decoder ??= this.#begin(first);
    // A copy: the socket reuses its buffer.
    if (this.#decoder.write(Buffer.from(bytes)) || this.#full) return;
    this.#full = true;
    this.source.pause();
  }

  end(): void {
    this.complete = true;
    this.#empty();
    if (this.#decoder) this.#decoder.end();
    else this.sink.end({ kind: 'complete' });
  }

  pause(): void {
    this.#decoder?.pause();
  }

  resume(): void {
    this.#decoder?.resume();
  }

  stop(): void {
    this.#decoder?.destroy();
  }

  #begin(first: number): Transform {
    const { source, sink } = this;
    const decoder = this.open(first);
    decoder.on('data', (bytes: Buffer) => sink.bytes(bytes));
    decoder.on('drain', () => this.#empty());
    decoder.on('end', () => sink.end({ kind: 'complete' }));
    decoder.on('error', () => {
      sink.end({ kind: 'broken', thrown: badResponse('The compressed response is invalid.') });
      if (!this.complete) source.abandon();
    });
    return decoder;
  }

  #empty(): void {
    if (this.#full) this.source.resume();
    this.#full = false;
  }
}
