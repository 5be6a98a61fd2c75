/** The session endpoints of `copilot`: history, list and changes. */
import { Fault, type Principal } from '@parlance/protocol';
import {
  type Engine,
  requirePermission,
  type SessionFilter,
  type SessionRecord,
  type SessionRef,
} from '../../core/index.ts';
import {
  ActiveTaskQuery,
  ArchiveBody,
  type CopilotSessionStatus,
  DomainPath,
  InitBody,
  ListQuery,
  MessagesQuery,
  RenameBody,
  SessionPath,
  StatusQuery,
  Uuid,
} from './contract.ts';
import { activeTask, latestMessages } from './outbound.ts';
import { endpoint, type RestContext } from './rest.ts';
import { rootDomain, siteLabels } from './root-domain.ts';

const LIST_PAGE = 200;
const MAX_COUNTED = 2_000;

/** What all of these endpoints have in common. */
const READER = {
  security: 'token',
  allow: ({ principal }: { readonly principal: Principal }) => requirePermission(principal, 'chat:read'),
} as const;

/** The same for one session. */
const SESSION_READER = { ...READER, foreign: 'forbidden', params: SessionPath } as const;

export const sessionEndpoints = [
  endpoint({
    ...SESSION_READER,
    method: 'get',
    path: '/api/session/{sessionId}/task/active',
    summary: 'The current task of a session',
    examples: ({ session }) => [{ title: 'Get the current task', params: { sessionId: session } }],
    query: ActiveTaskQuery,
    answers: { 200: { description: 'The task, or null', schema: 'CopilotActiveTask' } },
    errors: [400, 401, 403],
    async handle({ principal, params }, ctx) {
      const ref = await found(ctx, principal, params.sessionId);
      return { success: true, data: ref ? await activeTask(ctx.hub, ref) : null };
    },
  }),
  endpoint({
    ...READER,
    method: 'get',
    path: '/api/session',
    summary: 'Lists the sessions of the caller whose id is a UUID, by last change, latest first',
    examples: () => [
      { title: 'List sessions' },
      { title: 'List archived sessions, too', query: { includeArchived: 'true', limit: '100', offset: '0' } },
    ],
    query: ListQuery,
    answers: { 200: { description: 'One page', schema: 'CopilotSessionPage' } },
    errors: [400, 401, 403],
    async handle({ principal, query: { status, includeArchived, limit, offset } }, { engine }) {
      const filter = filterOf(status, includeArchived);
      const { sessions, total, hasMore } = await listed(engine, principal, filter, { limit, offset });
      const pagination = { total, limit, offset, hasMore };
      return { success: true, data: { sessions: sessions.map(sessionObject), pagination } };
    },
  }),
  endpoint({
    ...READER,
    method: 'post',
    path: '/api/session',
    summary: 'Archives a session',
    examples: ({ session }) => [{ title: 'Archive a session', body: { sessionId: session } }],
    foreign: 'forbidden',
    body: ArchiveBody,
    answers: {
      200: { description: 'Archived', schema: 'CopilotSessionArchived' },
    },
    errors: [400, 401, 403, 404],
    async handle({ principal, body: { sessionId } }, ctx) {
      const ref = await existing(ctx, principal, sessionId);
      await ctx.engine.send(ref, { type: 'session.archive' }, { principal, dialect: 'copilot' });
      const message = 'The session is archived.';
      return { success: true, data: { sessionId, status: 'archived', message } };
    },
  }),
  endpoint({
    ...READER,
    method: 'post',
    path: '/api/session/init',
    summary: 'Creates a session with an id chosen by the client; an existing one is unchanged',
    examples: ({ session }) => [
      {
        title: 'Start a session',
        body: { sessionId: session, title: 'A lamp', url: 'http://elsewhere.example/' },
      },
    ],
    foreign: 'forbidden',
    body: InitBody,
    answers: { 200: { description: 'The session exists', schema: 'CopilotSessionBegun' } },
    errors: [400, 401, 403],
    async handle({ principal, body: { sessionId, url, title } }, { engine }) {
      await requireOwn(engine, principal, sessionId);
      const ref = await engine.resolve(principal, sessionId);
      const by = { principal, dialect: 'copilot' };
      const { events } = await engine.send(ref, { type: 'session.create' }, by);
      const created = events.length > 0;
      // A temporary title: the first query replaces it.
      if (created && title) await engine.send(ref, { type: 'session.rename', title, automatic: true }, by);
      const { labels } = await engine.snapshot(ref);
      const site = url ? siteLabels(url) : null;
      if (site && site.url !== labels.url)
        await engine.send(ref, { type: 'session.label', labels: site }, by);
      return { success: true, data: { sessionId, created } };
    },
  }),
  endpoint({
    ...READER,
    method: 'get',
    path: '/api/session/latest',
    summary: 'The last changed session',
    examples: () => [{ title: 'Get the latest session' }],
    query: StatusQuery,
    answers: { 200: { description: 'The session', schema: 'CopilotSession' } },
    errors: [400, 401, 403, 404],
    async handle({ principal, query: { status } }, { engine }) {
      const record = await newest(engine, principal, filterOf(status));
      if (!record) throw new Fault('not_found', 'There is no session yet.');
      return sessionObject(record);
    },
  }),
  endpoint({
    ...READER,
    method: 'get',
    path: '/api/session/by-domain/{domain}',
    summary: 'The last changed session of a site',
    examples: ({ site }) => [{ title: 'Get the session of a site', params: { domain: site } }],
    params: DomainPath,
    query: StatusQuery,
    answers: { 200: { description: 'The session, or null', schema: 'CopilotSessionFound' } },
    errors: [400, 401, 403],
    async handle({ principal, params, query: { status } }, { engine }) {
      const label = { name: 'domain', value: rootDomain(`http://${params.domain}`) };
      const record = await newest(engine, principal, { ...filterOf(status), label });
      return { success: true, data: record ? shown(record) : { session: null } };
    },
  }),
  endpoint({
    ...SESSION_READER,
    method: 'get',
    path: '/api/session/{sessionId}',
    summary: 'A session',
    examples: ({ session }) => [{ title: 'Get a session', params: { sessionId: session } }],
    answers: { 200: { description: 'The session', schema: 'CopilotSessionShown' } },
    errors: [400, 401, 403, 404],
    async handle({ principal, params }, ctx) {
      const ref = await existing(ctx, principal, params.sessionId);
      return { success: true, data: shown(await recordOf(ctx, ref)) };
    },
  }),
  endpoint({
    ...SESSION_READER,
    method: 'patch',
    path: '/api/session/{sessionId}',
    summary: 'Renames a session',
    examples: ({ session }) => [
      { title: 'Rename a session', params: { sessionId: session }, body: { title: 'A lamp' } },
    ],
    body: RenameBody,
    answers: { 200: { description: 'The session', schema: 'CopilotSessionRenamed' } },
    errors: [400, 401, 403, 404],
    async handle({ principal, params, body: { title } }, ctx) {
      const ref = await existing(ctx, principal, params.sessionId);
      await ctx.engine.send(ref, { type: 'session.rename', title }, { principal, dialect: 'copilot' });
      const record = await recordOf(ctx, ref);
      // Clients expect a number only in this response.
      const session = { ...sessionObject(record), updatedAt: record.updatedAt };
      return { success: true, data: { ...session, session }, session };
    },
  }),
  endpoint({
    ...SESSION_READER,
    method: 'get',
    path: '/api/session/{sessionId}/messages',
    summary: 'The latest messages, oldest first; empty for an unknown session',
    examples: ({ session }) => [{ title: 'List messages', params: { sessionId: session } }],
    query: MessagesQuery,
    answers: { 200: { description: 'The messages', schema: 'CopilotMessages' } },
    errors: [400, 401, 403],
    async handle({ principal, params: { sessionId }, query }, ctx) {
      const ref = await found(ctx, principal, sessionId);
      // Not a 404: clients would keep retrying.
      if (!ref) return { sessionId, messages: [], total: 0, sessionExists: false };
      const now = await ctx.engine.snapshot(ref);
      const messages = await latestMessages(ctx.engine, now, query);
      return { sessionId, messages, total: now.messageCount, sessionExists: true };
    },
  }),
];

async function requireOwn(engine: Engine, principal: Principal, sessionId: string): Promise<void> {
  if (await engine.foreign(principal, sessionId))
    throw new Fault('forbidden', 'The session belongs to another user.');
}

async function found(
  { engine }: RestContext,
  principal: Principal,
  sessionId: string,
): Promise<SessionRef | null> {
  await requireOwn(engine, principal, sessionId);
  return engine.find(principal, sessionId);
}

async function existing(ctx: RestContext, principal: Principal, sessionId: string): Promise<SessionRef> {
  const ref = await found(ctx, principal, sessionId);
  if (!ref) throw new Fault('not_found', 'There is no such session.');
  return ref;
}

async function recordOf({ engine }: RestContext, ref: SessionRef): Promise<SessionRecord> {
  const record = await engine.record(ref);
  if (!record) throw new Fault('not_found', 'There is no such session.');
  return record;
}

/** Pages of the list, latest first, and the sessions in them with an id that is valid here: other dialects allow other ids. */
async function* pages(
  engine: Engine,
  principal: Principal,
  filter: SessionFilter & { readonly limit: number },
) {
  let cursor: string | undefined;
  do {
    const page = await engine.list(principal, { ...filter, cursor });
    const valid = page.sessions.filter(({ ref }) => Uuid.safeParse(ref.id).success);
    cursor = page.next ?? undefined;
    yield { valid, read: page.sessions.length, isLast: cursor === undefined };
  } while (cursor !== undefined);
}

/** Clients reject a list with an id that is not valid here. Of a long list, `total` also counts the others. */
async function listed(
  engine: Engine,
  principal: Principal,
  filter: SessionFilter,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ sessions: SessionRecord[]; total: number; hasMore: boolean }> {
  const sessions: SessionRecord[] = [];
  let count = 0;
  let read = 0;
  let isWhole = false;
  for await (const page of pages(engine, principal, { ...filter, limit: LIST_PAGE })) {
    const skipped = Math.max(0, offset - count);
    sessions.push(...page.valid.slice(skipped, skipped + limit - sessions.length));
    count += page.valid.length;
    read += page.read;
    isWhole = page.isLast;
    if (count > offset + limit && read >= MAX_COUNTED) break;
  }
  const total = isWhole ? count : await engine.count(principal, filter);
  return { sessions, total, hasMore: count > offset + sessions.length };
}

async function newest(
  engine: Engine,
  principal: Principal,
  filter: SessionFilter,
): Promise<SessionRecord | null> {
  for await (const { valid } of pages(engine, principal, { ...filter, limit: 20 })) {
    if (valid[0]) return valid[0];
  }
  return null;
}

// A session as the copilot contract shows it, and the filter of the list.

/** Every session can be continued, so none is ever completed or interrupted. */
function filterOf(status: CopilotSessionStatus | undefined, includeArchived = false): SessionFilter {
  switch (status) {
    case 'active':
      return { status: ['idle', 'running', 'waiting'] };
    case 'failed':
      return { status: ['failed'] };
    case 'archived':
      return { archived: 'only' };
    case 'completed':
    case 'interrupted':
      return { status: [] };
    case undefined:
      return includeArchived ? { archived: 'included' } : {};
  }
}

const statusOf = ({ archived, status }: SessionRecord): CopilotSessionStatus => {
  if (archived) return 'archived';
  return status === 'failed' ? 'failed' : 'active';
};

const sessionObject = (record: SessionRecord) => ({
  sessionId: record.ref.id,
  title: record.title,
  isRenamed: record.renamed,
  status: statusOf(record),
  url: record.labels.url ?? '',
  domain: record.labels.domain,
  createdAt: new Date(record.createdAt).toISOString(),
  updatedAt: new Date(record.updatedAt).toISOString(),
  messageCount: record.messageCount,
  metadata: { dialect: record.dialect, initialQuery: record.firstInput },
});

/** Some clients read the fields of `data`, others those of `data.session`. */
const shown = (record: SessionRecord) => {
  const session = sessionObject(record);
  return { ...session, session };
};
