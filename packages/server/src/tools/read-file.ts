/** Reads a page of a text file. */
import type { FileHandle } from 'node:fs/promises';
import { Fault, textPart } from '@parlance/protocol';
import { z } from 'zod';
import { defineTool, type Tool } from '../core/ports/tool.ts';
import { errorCode } from '../lib/errors.ts';
import { openForReading, resolvePath } from './confined-path.ts';
import { cutText } from './cut.ts';
import type { Guard } from './guard.ts';
import { untrustedFiles } from './untrusted-files.ts';

const Input = z.object({
  path: z.string().min(1).describe('The path, relative to the working folder.'),
  offset: z.number().int().min(1).default(1).describe('The first line, counted from 1.'),
  limit: z.number().int().min(1).max(10_000).default(2_000).describe('The maximum number of lines.'),
});

const CHUNK_BYTES = 64 * 1024;
const PAGE_CHARACTERS = 60_000;
const LINE_CHARACTERS = 2_000;

export const readFile = (guard: Guard): Tool =>
  defineTool({
    name: 'read_file',
    description: 'Reads a text file in the working folder, one page of lines at a time.',
    input: Input,
    repeatable: true,
    approval: () => null,
    run: async ({ path, offset, limit }, { root, signal }) => {
      const bounds = { root, ...guard };
      await using entry = await resolvePath(bounds, path);
      await using file = await openForReading(bounds, entry).catch((cause) => {
        if (cause instanceof Fault) throw cause;
        const missing = errorCode(cause) === 'ENOENT';
        const reason = missing ? `There is no file ${path}.` : `The file ${path} cannot be opened.`;
        throw new Fault('tool_failed', reason, { cause });
      });
      const found = await file.stat();
      if (found.isDirectory())
        throw new Fault('tool_failed', `The path ${path} is a folder; list_files shows what is in it.`);
      if (!found.isFile()) throw new Fault('tool_failed', `The path ${path} is not a regular file.`);
      if (await isBinary(file))
        return { parts: [textPart(`${path} is a binary file of ${found.size} bytes.`)] };
      const parts = [textPart(await readPage(file, { path, offset, limit }, signal))];
      return { parts, ...(untrustedFiles(bounds)(entry.path) && { untrusted: true }) };
    },
  });

/** A file with a zero byte near its beginning is binary. */
async function isBinary(file: FileHandle): Promise<boolean> {
  const { buffer, bytesRead } = await file.read(new Uint8Array(8_192), 0, 8_192, 0);
  return buffer.subarray(0, bytesRead).includes(0);
}

/** Needs memory for one chunk and one page, regardless of file size and line length. */
async function readPage(
  file: FileHandle,
  { path, offset, limit }: { readonly path: string; readonly offset: number; readonly limit: number },
  signal: AbortSignal,
): Promise<string> {
  let text = '';
  let next = offset;
  for await (const [number, line] of linesOf(file, signal)) {
    if (number < offset) continue;
    if (number >= offset + limit || text.length + line.length > PAGE_CHARACTERS) {
      return `${text}[… more lines follow; go on with offset ${number} …]\n`;
    }
    text += `${line}\n`;
    next = number + 1;
  }
  if (text !== '') return text;
  return offset === 1 ? `${path} is empty.` : `${path} has no line ${next}.`;
}

async function* linesOf(file: FileHandle, signal: AbortSignal): AsyncGenerator<[number, string]> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(CHUNK_BYTES);
  let line = new LongLine();
  let number = 1;
  for (let position = 0, ended = false; !ended; ) {
    if (signal.aborted) throw new Fault('cancelled', 'aborted');
    const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, position);
    position += bytesRead;
    ended = bytesRead === 0;
    const pieces = decoder.decode(buffer.subarray(0, bytesRead), { stream: !ended }).split('\n');
    line.push(pieces[0] ?? '');
    for (const piece of pieces.slice(1)) {
      yield [number++, line.text()];
      line = new LongLine();
      line.push(piece);
    }
  }
  if (line.length > 0) yield [number, line.text()];
}

/** A line of which only the beginning is stored. */
class LongLine {
  length = 0;
  #kept = '';

  push(piece: string): void {
    this.length += piece.length;
    if (this.#kept.length < LINE_CHARACTERS) {
      this.#kept += piece.slice(0, LINE_CHARACTERS - this.#kept.length);
    }
  }

  text(): string {
    return cutText(this.#kept, LINE_CHARACTERS, { total: this.length, gap: ' ' });
  }
}
