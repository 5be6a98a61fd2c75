/** The session endpoints of `copilot`: history, list and changes. */
import { Fault, type Principal } from '@parlance/protocol';
import { Hono, type Context as RequestContext } from 'hono';
import {
  requirePermission,
  type SessionFilter,
  type SessionRecord,
  type SessionRef,
} from '../../core/index.ts';
import { activeTask } from './active-task.ts';
import type { Context } from './context.ts';
import { checked, checkedBody, principalOf } from './envelope.ts';
import { errorAnswer } from './faults.ts';
import { latestMessages } from './history.ts';
import { rootDomain, siteLabels } from './root-domain.ts';
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
} from './schemas.ts';

type SessionContext = Pick<
  Context,
  'authenticator' | 'engine' | 'hub' | 'log' | 'newId' | 'now' | 'readBody'
>;

const LIST_PAGE = 200;
const MAX_COUNTED = 2_000;

export function sessionRoutes(app: Hono, ctx: SessionContext): void {
  const { engine, authenticator } = ctx;
  const api = new Hono();
  api.onError(errorAnswer(ctx));

  api.get('/latest', async (c) => {
    const principal = await caller(c);
    const { status } = checked(StatusQuery, c.req.query());
    const record = await newest(principal, filterOf(status));
    if (!record) throw new Fault('not_found', 'There is no session yet.');
    return c.json(sessionObject(record));
  });

  api.get('/', async (c) => {
    const principal = await caller(c);
    const { status, includeArchived, limit, offset } = checked(ListQuery, c.req.query());
    const filter = filterOf(status, includeArchived);
    const { sessions, total, hasMore } = await listed(principal, filter, { limit, offset });
    const pagination = { total, limit, offset, hasMore };
    return c.json({ success: true, data: { sessions: sessions.map(sessionObject), pagination } });
  });

  api.post('/', async (c) => {
    const principal = await caller(c);
    const { sessionId } = await checkedBody(ArchiveBody, ctx.readBody(c.req.raw, 'identified'));
    const ref = await existing(principal, sessionId);
    await engine.send(ref, { type: 'session.archive' }, { principal, dialect: 'copilot' });
    const message = 'The session is archived.';
    return c.json({ success: true, data: { sessionId, status: 'archived', message } });
  });

  api.post('/init', async (c) => {
    const principal = await caller(c);
    const { sessionId, url, title } = await checkedBody(InitBody, ctx.readBody(c.req.raw, 'identified'));
    await own(principal, sessionId);
    const ref = await engine.resolve(principal, sessionId);
    const by = { principal, dialect: 'copilot' };
    const { events } = await engine.send(ref, { type: 'session.create' }, by);
    const created = events.length > 0;
    // A temporary title: the first query replaces it.
    if (created && title) await engine.send(ref, { type: 'session.rename', title, automatic: true }, by);
    const { labels } = await engine.snapshot(ref);
    const site = url ? siteLabels(url) : null;
    if (site && site.url !== labels.url) await engine.send(ref, { type: 'session.label', labels: site }, by);
    return c.json({ success: true, data: { sessionId, created } });
  });

  api.get('/by-domain/:domain', async (c) => {
    const principal = await caller(c);
    const { domain } = checked(DomainPath, c.req.param());
    const { status } = checked(StatusQuery, c.req.query());
    const label = { name: 'domain', value: rootDomain(`http://${domain}`) };
    const record = await newest(principal, { ...filterOf(status), label });
    return c.json({ success: true, data: record ? shown(record) : { session: null } });
  });

  api.get('/:sessionId', async (c) => {
    const principal = await caller(c);
    const { sessionId } = checked(SessionPath, c.req.param());
    return c.json({ success: true, data: shown(await recordOf(await existing(principal, sessionId))) });
  });

  api.patch('/:sessionId', async (c) => {
    const principal = await caller(c);
    const { sessionId } = checked(SessionPath, c.req.param());
    const { title } = await checkedBody(RenameBody, ctx.readBody(c.req.raw, 'identified'));
    const ref = await existing(principal, sessionId);
    await engine.send(ref, { type: 'session.rename', title }, { principal, dialect: 'copilot' });
    const record = await recordOf(ref);
    // Clients expect a number only in this response.
    const session = { ...sessionObject(record), updatedAt: record.updatedAt };
    return c.json({ success: true, data: { ...session, session }, session });
  });

  api.get('/:sessionId/messages', async (c) => {
    const principal = await caller(c);
    const { sessionId } = checked(SessionPath, c.req.param());
    const wanted = checked(MessagesQuery, c.req.query());
    const ref = await found(principal, sessionId);
    // Not a 404: clients would keep retrying.
    if (!ref) return c.json({ sessionId, messages: [], total: 0, sessionExists: false });
    const now = await engine.snapshot(ref);
    const messages = await latestMessages(engine, now, wanted);
    return c.json({ sessionId, messages, total: now.messageCount, sessionExists: true });
  });

  api.get('/:sessionId/task/active', async (c) => {
    const principal = await caller(c);
    const { sessionId } = checked(SessionPath, c.req.param());
    checked(ActiveTaskQuery, c.req.query());
    const ref = await found(principal, sessionId);
    return c.json({ success: true, data: ref ? await activeTask(ctx.hub, ref) : null });
  });

  async function caller(c: RequestContext): Promise<Principal> {
    const principal = await principalOf(authenticator, c.req.raw);
    requirePermission(principal, 'chat:read');
    return principal;
  }

  async function own(principal: Principal, sessionId: string): Promise<void> {
    if (await engine.foreign(principal, sessionId))
      throw new Fault('forbidden', 'The session belongs to another user.');
  }

  async function found(principal: Principal, sessionId: string): Promise<SessionRef | null> {
    await own(principal, sessionId);
    return engine.find(principal, sessionId);
  }

  async function existing(principal: Principal, sessionId: string): Promise<SessionRef> {
    const ref = await found(principal, sessionId);
    if (!ref) throw new Fault('not_found', 'There is no such session.');
    return ref;
  }

  async function recordOf(ref: SessionRef): Promise<SessionRecord> {
    const record = await engine.record(ref);
    if (!record) throw new Fault('not_found', 'There is no such session.');
    return record;
  }

  /**
   * Sessions with an id that is valid here: clients reject a list with any other id. Of a long list, `total`
   * also counts the others.
   */
  async function listed(
    principal: Principal,
    filter: SessionFilter,
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ): Promise<{ sessions: SessionRecord[]; total: number; hasMore: boolean }> {
    const sessions: SessionRecord[] = [];
    let count = 0;
    let read = 0;
    let cursor: string | undefined;
    do {
      const page = await engine.list(principal, { ...filter, limit: LIST_PAGE, cursor });
      for (const record of page.sessions) {
        if (!Uuid.safeParse(record.ref.id).success) continue;
        if (count >= offset && sessions.length < limit) sessions.push(record);
        count++;
      }
      read += page.sessions.length;
      cursor = page.next ?? undefined;
    } while (cursor !== undefined && (count <= offset + limit || read < MAX_COUNTED));
    const total = cursor === undefined ? count : await engine.count(principal, filter);
    return { sessions, total, hasMore: count > offset + sessions.length };
  }

  /** The last changed session with an id that is valid here: other dialects allow other ids. */
  async function newest(principal: Principal, filter: SessionFilter): Promise<SessionRecord | null> {
    let cursor: string | undefined;
    do {
      const page = await engine.list(principal, { ...filter, limit: 20, cursor });
      const record = page.sessions.find(({ ref }) => Uuid.safeParse(ref.id).success);
      if (record) return record;
      cursor = page.next ?? undefined;
    } while (cursor !== undefined);
    return null;
  }

  app.route('/api/session', api);
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
