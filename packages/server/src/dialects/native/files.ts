/** The files of working folders: lists, contents, and what calls of a session have made of a file. */
import { basename } from 'node:path';
import { Fault, type Principal } from '@parlance/protocol';
import { FileQuery, FilesQuery, FileVersionsQuery } from '@parlance/protocol/api';
import type { OpenedFile, SessionFiles } from '../../core/index.ts';
import { NO_SNIFFING } from '../../http/built-files.ts';
import { isUnchanged, ranged } from '../../http/conditional.ts';
import { endpoint, type NativeContext, sessionOf } from './context.ts';
import { timeView } from './views.ts';

export const fileEndpoints = [
  endpoint({
    method: 'get',
    path: '/v1/files',
    summary: 'Lists a folder, or searches paths, as the agent of the session may read them',
    security: 'caller',
    examples: ({ session }) => [{ query: { session, path: '.' } }, { query: { session, q: 'read' } }],
    query: FilesQuery,
    answers: { 200: { description: 'The entries, or the paths', schema: 'FileList' } },
    errors: [400, 401, 403, 404],
    async handle({ principal, request, query: { path, q, ...place } }, ctx) {
      const files = await filesOf(ctx, principal, place);
      if (q !== undefined) {
        const { paths, complete } = await files.find(q, request.signal);
        return { paths, complete };
      }
      const { entries, more } = await files.list(path);
      return {
        entries: entries.map(({ changedAt, ...entry }) => ({ ...entry, changedAt: timeView(changedAt) })),
        complete: !more,
      };
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/files/content',
    summary: 'The content of a file; ranges and If-None-Match are supported',
    security: 'caller',
    examples: ({ session }) => [{ query: { session, path: 'README.md' } }],
    query: FileQuery,
    answers: { 200: { description: 'The content', type: 'application/octet-stream' } },
    errors: [400, 401, 403, 404, 413],
    async handle({ principal, request, query: { path, version, ...place } }, ctx) {
      const files = await filesOf(ctx, principal, place);
      return contentAnswer(request, path, await files.open(path, version));
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/files/versions',
    summary: 'What calls of a session have made of a file, the oldest first, as far as it is stored',
    security: 'caller',
    examples: ({ session }) => [{ query: { session, path: 'README.md' } }],
    query: FileVersionsQuery,
    answers: { 200: { description: 'The versions', schema: 'FileVersions' } },
    errors: [400, 401, 403, 404],
    async handle({ principal, query: { path, session } }, ctx) {
      const files = await filesOf(ctx, principal, { session });
      return { versions: await files.versions(path) };
    },
  }),
];

async function filesOf(
  ctx: NativeContext,
  principal: Principal,
  { session, ...begin }: Pick<FileQuery, 'session' | 'agent' | 'cwd'>,
): Promise<SessionFiles> {
  const place = session === undefined ? begin : { session: await sessionOf(ctx, principal, session) };
  return ctx.engine.files(principal, place);
}

const MAX_BYTES = 1024 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;

/** Nothing in a file runs where the server is: it has no type, no origin, and is saved instead of shown. */
const HEADERS = {
  ...NO_SNIFFING,
  'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'private, no-cache',
};

async function contentAnswer(request: Request, path: string, file: OpenedFile): Promise<Response> {
  const name = basename(path);
  const etag = `"${Bun.hash(file.mark).toString(36)}"`;
  const headers = {
    ...HEADERS,
    etag,
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name.toWellFormed()).replaceAll("'", '%27')}`,
  };
  const { size } = file;
  if (size > MAX_BYTES) {
    await file[Symbol.asyncDispose]();
    throw new Fault('too_large', `The file ${name} is larger than 1 GB.`);
  }
  let isRead = false;
  const body = (from: number, to: number) => {
    if (request.method === 'HEAD') return null;
    isRead = true;
    return streamOf(file, { from, to, signal: request.signal });
  };
  const answer = isUnchanged(request, etag)
    ? new Response(null, { status: 304, headers })
    : ranged(request, { size, body }, headers);
  if (!isRead) await file[Symbol.asyncDispose]();
  return answer;
}

/** Reads at the client's pace, and closes the file at the end, after a failure, or when the client has left. */
function streamOf(
  file: OpenedFile,
  { from, to, signal }: { readonly from: number; readonly to: number; readonly signal: AbortSignal },
): ReadableStream<Uint8Array> {
  let at = from;
  let isOpen = true;
  const close = async () => {
    if (!isOpen) return;
    isOpen = false;
    signal.removeEventListener('abort', close);
    await file[Symbol.asyncDispose]();
  };
  signal.addEventListener('abort', close, { once: true });
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const bytes = await file.read(at, Math.min(CHUNK_BYTES, to - at));
        at += bytes.length;
        // The rest was cut off meanwhile: what is announced cannot be sent.
        if (bytes.length === 0 && at < to) throw new Fault('not_found', 'The file was changed meanwhile.');
        if (bytes.length > 0) controller.enqueue(bytes);
        if (at < to) return;
        await close();
        controller.close();
      } catch (thrown) {
        await close();
        controller.error(thrown);
      }
    },
    cancel: close,
  });
}
