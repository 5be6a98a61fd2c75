/** Reads the body of a response: decompressed as a stream, with bounded memory. */
import type { IncomingMessage } from 'node:http';
import { type Duplex, PassThrough } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { Fault } from '@parlance/protocol';
import { PAGE_BYTES } from './limits.ts';

const DECODERS: Record<string, () => Duplex> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Throws a `Fault` as soon as the decompressed body exceeds `PAGE_BYTES`. */
export async function readBody(message: IncomingMessage, signal: AbortSignal): Promise<Uint8Array> {
  if (Number(message.headers['content-length'] ?? 0) > PAGE_BYTES) throw tooLarge();
  const decoder = decoderFor(message.headers['content-encoding'] ?? '');
  const stop = connect(message, decoder, signal);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of decoder as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      if (bytes > PAGE_BYTES) throw tooLarge();
      chunks.push(chunk);
    }
  } finally {
    stop();
  }
  return Buffer.concat(chunks);
}

/** Manual piping: `stream.pipeline` of Bun 1.4 never settles for a message whose reader has stopped. */
function connect(message: IncomingMessage, decoder: Duplex, signal: AbortSignal): () => void {
  const fail = (cause?: unknown) => {
    if (!message.complete || signal.aborted) decoder.destroy(new Error('the body is incomplete', { cause }));
  };
  const abort = () => fail(signal.reason);
  message.on('error', fail).on('close', fail);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  message.pipe(decoder);
  return () => {
    signal.removeEventListener('abort', abort);
    message.unpipe(decoder);
    message.destroy();
    decoder.destroy();
  };
}

function decoderFor(encoding: string): Duplex {
  const name = encoding.trim().toLowerCase();
  if (name === '' || name === 'identity') return new PassThrough();
  const decoder = Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
  if (!decoder) throw new Fault('tool_failed', 'The page uses an unsupported compression.');
  return decoder();
}

const tooLarge = () =>
  new Fault('tool_failed', `The page is larger than ${PAGE_BYTES / 1024 / 1024} MB and was not read.`);
