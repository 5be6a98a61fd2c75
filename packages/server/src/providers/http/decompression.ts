/** Decompresses a body as it arrives, for servers that compress although they were asked not to. */
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Source, Told } from './body.ts';
import { badAnswer, HttpError } from './error.ts';

const DECODERS = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/** Null for a body that is as it was sent. Throws `BAD_ENCODING` for a coding that is not understood. */
export function decoderFor(headers: Headers): (() => Transform) | null {
  const coding = headers.get('content-encoding')?.trim().toLowerCase() ?? '';
  if (coding === '' || coding === 'identity') return null;
  const decoder = DECODERS.get(coding);
  if (decoder) return decoder;
  throw new HttpError('BAD_ENCODING', 'The answer is compressed in a way that is not understood.');
}

/**
 * However much the bytes expand to, little of it is in memory: the decoder stops while nobody reads, and the socket while
 * the decoder has enough to do.
 */
export class Decompression {
  /** all bytes of the body have arrived */
  complete = false;
  #full = false;

  constructor(
    private readonly decoder: Transform,
    private readonly source: Source,
    told: Told,
  ) {
    decoder.on('data', (bytes: Buffer) => told.piece(bytes));
    decoder.on('drain', () => this.#empty());
    decoder.on('end', () => told.over({ kind: 'complete' }));
    decoder.on('error', () => {
      told.over({ kind: 'broken', thrown: badAnswer('The answer is not compressed as it says.') });
      if (!this.complete) source.abandon();
    });
  }

  write(bytes: Uint8Array): void {
    // A copy: the socket uses its memory again.
    if (this.decoder.write(Buffer.from(bytes)) || this.#full) return;
    this.#full = true;
    this.source.pause();
  }

  end(): void {
    this.complete = true;
    this.#empty();
    this.decoder.end();
  }

  pause(): void {
    this.decoder.pause();
  }

  resume(): void {
    this.decoder.resume();
  }

  stop(): void {
    this.decoder.destroy();
  }

  #empty(): void {
    if (this.#full) this.source.resume();
    this.#full = false;
  }
}
