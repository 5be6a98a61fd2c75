/** Sessions as resources. */
import type { Principal } from '@parlance/protocol';
import type { Engine, SessionRecord, SessionRef } from '../../core/index.ts';
import { invalidParams, type Params, RpcFault } from '../kit/json-rpc.ts';
import { CODES } from './faults.ts';
import { latestMessages, transcript } from './messages.ts';

const BASE = 'parlance://sessions/';
const MIME = 'text/markdown';
const PAGE = 100;
const MAX_MESSAGES = 1_000;

export const uriOf = (session: string): string => BASE + encodeURIComponent(session);

export const TEMPLATE = {
  uriTemplate: `${BASE}{id}`,
  name: 'session',
  title: 'Session',
  description: 'The messages of a session with an agent.',
  mimeType: MIME,
};

export const titleOf = ({ title, firstInput, ref }: SessionRecord): string => title || firstInput || ref.id;

export async function listResources(
  engine: Engine,
  principal: Principal,
  { cursor }: Params,
): Promise<object> {
  if (cursor !== undefined && typeof cursor !== 'string') throw invalidParams('cursor must be a string.');
  const { sessions, next } = await engine.list(principal, { limit: PAGE, cursor });
  const resources = sessions.map((record) => ({
    uri: uriOf(record.ref.id),
    name: titleOf(record),
    mimeType: MIME,
    annotations: { lastModified: new Date(record.updatedAt).toISOString() },
  }));
  return { resources, ...(next !== null && { nextCursor: next }) };
}

export async function readResource(engine: Engine, principal: Principal, { uri }: Params): Promise<object> {
  const ref = await resourceNamed(engine, principal, uri);
  const record = await engine.record(ref);
  if (!record) throw notFound(uri);
  const messages = await latestMessages(engine, record, MAX_MESSAGES);
  const text = `# ${titleOf(record)}\n\n${transcript(messages)}`;
  return { contents: [{ uri, mimeType: MIME, text }] };
}

/** Throws if the session does not exist or belongs to another user. */
export async function resourceNamed(engine: Engine, principal: Principal, uri: unknown): Promise<SessionRef> {
  if (typeof uri !== 'string') throw invalidParams('uri must be a string.');
  const id = uri.startsWith(BASE) ? decoded(uri.slice(BASE.length)) : null;
  const ref = id === null ? null : await engine.find(principal, id);
  if (!ref) throw notFound(uri);
  return ref;
}

/** Without `data.uri`: clients of 2026-07-28 would report another code. */
const notFound = (uri: unknown): RpcFault =>
  new RpcFault(CODES.resource, `Resource not found: ${String(uri).slice(0, 300)}`);

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
