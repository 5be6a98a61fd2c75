/** Read-only operations. */
import { randomBytes as secureRandomBytes } from 'node:crypto';
import {
  type ContextUse,
  type DurableEvent,
  Fault,
  type HistoryItem,
  type JsonObject,
  type LimitUse,
  type Principal,
  type PrincipalId,
  requirePermission,
  type TurnId,
  type TurnOptions,
} from '@parlance/protocol';
import { messageText } from '../../lib/message-text.ts';
import type {
  IndexedTurn,
  LookupKey,
  SearchHit,
  SearchTerm,
  SessionFilter,
  SessionPage,
  SessionQuery,
  SessionRecord,
  SessionRef,
  Share,
  TagCount,
  TurnPage,
  TurnQuery,
  UsageFilter,
  UsageLabels,
  UsageRow,
} from '../ports/event-store.ts';
import type { NodeId } from '../ports/lease.ts';
import type { Skill } from '../ports/project.ts';
import { promptItemsOf, type ToolSpec } from '../ports/provider.ts';
import type { FolderContents, Tool } from '../ports/tool.ts';
import { grantsAtCheckpoint, maySee } from '../session/approvals.ts';
import { EMPTY, evolveContext, isTainted } from '../session/context.ts';
import { type ExcerptPart, excerpt } from '../session/excerpt.ts';
import { historyOf, promptItems } from '../session/history.ts';
import { parseSearch } from '../session/search.ts';
import { dayOf, entryOf } from '../session/spending.ts';
import { promptTokens } from '../session/tokens.ts';
import { possibleCall } from './call-plan.ts';
import { summaryOfItems } from './compaction.ts';
import { type EngineInternals, eachReadable } from './engine-internals.ts';
import { eventsBackwards, storedEvents } from './event-pages.ts';
import { checkLinks, type LinkedInput } from './links.ts';
import { currentUse, offeredTo, providerOf, requestFor, toolSpec } from './model-step.ts';
import { type Completion, summarise } from './questions.ts';
import { type FilesPlace, type SessionFiles, sessionFiles } from './session-files.ts';
import { type SessionSnapshot, snapshotOf } from './snapshot.ts';

export type GrantPage = {
  readonly standing: readonly { readonly record: SessionRecord; readonly grants: readonly string[] }[];
  readonly next: string | null;
};

export type UsageRequest = {
  readonly filter: UsageFilter;
  readonly by: readonly (keyof UsageLabels)[];
  readonly limit: number;
};

export type UsageAnswer = {
  readonly from: string;
  readonly to: string;
  readonly rows: readonly UsageRow[];
};

export type ApprovalPage = { readonly waiting: readonly SessionSnapshot[]; readonly next: string | null };

export type Queries = ReturnType<typeof queries>;

/** The owner whose sessions the principal may list; undefined for all owners. */
const ownerFor = (principal: Principal): PrincipalId | undefined =>
  principal.role === 'admin' ? undefined : principal.id;

export function queries(internals: EngineInternals) {
  const { parts, deps, resolver, sessions } = internals;
  const { store, log } = parts;

  const snapshot = (ref: SessionRef): Promise<SessionSnapshot> =>
    sessions.use(ref, async (session) => {
      await session.fresh();
      return snapshotOf(session);
    });

  async function list(principal: Principal, page: Omit<SessionQuery, 'owner'>): Promise<SessionPage> {
    requirePermission(principal, 'chat:read');
    return store.list({ ...page, owner: ownerFor(principal) });
  }

  /** A model call outside of any session. Throws `budget_exhausted`. */
  async function counted(
    { principal: { id: owner, apiKey }, agent }: { readonly principal: Principal; readonly agent: string },
    call: () => Promise<Completion>,
  ): Promise<Completion> {
    await deps.spending.check({ owner, agent, apiKey, session: null, turn: null });
    const completion = await call();
    const labels = { owner, agent, apiKey, model: completion.model, task: 'summary' };
    await deps.spending.record(entryOf({ ...completion, at: parts.now() }, labels));
    return completion;
  }

  return {
    snapshot,
    list,

    resolve: (principal: Principal, name: string): Promise<SessionRef> => resolver.resolve(principal, name),

    find: (principal: Principal, name: string): Promise<SessionRef | null> => resolver.find(principal, name),

    foreign: (principal: Principal, name: string): Promise<boolean> => resolver.foreign(principal, name),

    firstHolder: (name: string): Promise<SessionRef | null> => resolver.firstHolder(name),

    record: (ref: SessionRef): Promise<SessionRecord | null> => store.load(ref),

    driver: async (ref: SessionRef): Promise<NodeId | null> =>
      (await parts.leases.driverOf(ref))?.node ?? null,

    events: (ref: SessionRef, after: number, limit: number): Promise<DurableEvent[]> =>
      store.read(ref, after, limit),

    allEvents: (ref: SessionRef): AsyncIterable<DurableEvent> => storedEvents(store, ref, 0),

    eventsBackwards: (ref: SessionRef, head: number, page?: number): AsyncGenerator<DurableEvent[], void> =>
      eventsBackwards(store, ref, head, page),

    async conversation(
      ref: SessionRef,
      upTo: number,
    ): Promise<{ readonly items: HistoryItem[]; readonly untrusted: boolean }> {
      let context = EMPTY;
      for await (const event of storedEvents(store, ref, 0)) {
        if (event.seq > upTo) break;
        if (event.type !== 'context.compacted') context = evolveContext(context, event);
      }
      return { items: historyOf(context.entries.map(({ item }) => item)), untrusted: isTainted(context) };
    },

    async grants(principal: Principal, page: Omit<SessionQuery, 'owner'>): Promise<GrantPage> {
      const { sessions: records, next } = await list(principal, { ...page, ephemeral: 'included' });
      const standing: GrantPage['standing'][number][] = [];
      await eachReadable(records, log, async (record) => {
        const grants = grantsAtCheckpoint(record) ?? (await snapshot(record.ref)).grants;
        if (grants.length > 0) standing.push({ record, grants });
      });
      return { standing, next };
    },

    async count(principal: Principal, filter: Omit<SessionFilter, 'owner'>): Promise<number> {
      requirePermission(principal, 'chat:read');
      return store.count({ ...filter, owner: ownerFor(principal) });
    },

    async tags(principal: Principal): Promise<TagCount[]> {
      requirePermission(principal, 'chat:read');
      return store.tags(principal.id);
    },

    async approvals(principal: Principal, page: { limit: number; cursor?: string }): Promise<ApprovalPage> {
      const filter = { awaitsUser: true, archived: 'included', ephemeral: 'included' } as const;
      const { sessions: records, next } = await list(principal, { ...page, ...filter });
      const waiting: SessionSnapshot[] = [];
      await eachReadable(records, log, async ({ ref }) => waiting.push(await snapshot(ref)));
      return { waiting, next };
    },

    async lookup(
      principal: Principal,
      key: LookupKey,
      among: 'all' | 'own' = 'all',
    ): Promise<SessionRef | null> {
      const owner = among === 'own' ? principal.id : ownerFor(principal);
      const record = await store.lookup(key, { owner });
      return record?.ref ?? null;
    },

    contextUse: (ref: SessionRef): Promise<ContextUse> =>
      sessions.use(ref, async (session) => {
        await session.fresh();
        return currentUse(session, deps);
      }),

    promptTokens(
      { id: owner }: Principal,
      { agent, items, terms }: { agent?: string; items: readonly HistoryItem[]; terms: TurnOptions },
    ): number {
      const { catalog } = deps;
      const answering = catalog.agent(agent ?? catalog.first(catalog.defaultDomain).id);
      const request = requestFor(answering, { terms, owner, deps });
      return promptTokens({ ...request, items: itemsOfHistory(items) });
    },

    toolSpecs: (): (ToolSpec & { requiresApproval: boolean })[] =>
      [...parts.tools.values()]
        .filter((tool) => !tool.optIn && !tool.onlyDirect)
        .map((tool) => ({ ...toolSpec(tool), requiresApproval: tool.asks ?? false })),

    customTools(principal: Principal, agent: string | undefined): (ToolSpec & NonNullable<Tool['custom']>)[] {
      const { catalog } = deps;
      const tools = offeredTo(deps, agent ?? catalog.first(catalog.defaultDomain).id, {});
      return [...tools.values()].flatMap((tool) =>
        tool.custom && tool.available?.(principal.id) !== false
          ? [{ ...toolSpec(tool), ...tool.custom }]
          : [],
      );
    },

    async folders(path: string | null): Promise<FolderContents> {
      if (!deps.folders) return { path: null, parent: null, folders: [], cut: false };
      return deps.folders.list(path);
    },

    async skills({ id: owner }: Principal, ref: SessionRef | null): Promise<readonly Skill[]> {
      const { project, root } = deps;
      if (!project) return [];
      const cwd = ref && (await sessions.use(ref, async ({ state }) => state.created?.cwd));
      const place = { owner: ref?.owner ?? owner, root: cwd ?? root };
      return (await project.load(place, await project.look(place))).skills;
    },

    files: (principal: Principal, place: FilesPlace): Promise<SessionFiles> =>
      sessionFiles(internals, principal, place),

    checkCall(name: string, input: JsonObject): void {
      possibleCall(parts.tools, name, input);
    },

    checkLinks: (ref: SessionRef, input: LinkedInput): Promise<void> =>
      sessions.use(ref, async (session) => checkLinks(input, session, deps)),

    async summarise(
      principal: Principal,
      document: { readonly title: string; readonly content: string },
      signal: AbortSignal,
    ): Promise<string> {
      const agent = deps.catalog.first(deps.catalog.defaultDomain).id;
      const { text } = await counted({ principal, agent }, () => summarise(deps, document, signal));
      return text;
    },

    async usage(principal: Principal, { filter, by, limit }: UsageRequest): Promise<UsageAnswer> {
      const now = parts.now();
      const { from = `${dayOf(now).slice(0, 7)}-01`, to = dayOf(now) } = filter;
      const owner = principal.role === 'admin' ? filter.owner : principal.id;
      // Somebody else's usage looks as if there was none.
      const isOwn = filter.owner === undefined || filter.owner === owner;
      const rows = isOwn ? await parts.usage?.report({ ...filter, owner, from, to }, by, limit) : [];
      return { from, to, rows: rows ?? [] };
    },

    limits: ({ id: owner, apiKey }: Principal): Promise<LimitUse[]> =>
      deps.spending.usesOf({ owner, agent: null, apiKey, session: null, turn: null }),

    async summariseConversation(
      principal: Principal,
      { agent, items }: { agent?: string | undefined; items: readonly HistoryItem[] },
      signal: AbortSignal,
    ): Promise<Completion> {
      requirePermission(principal, 'chat:send');
      const { catalog } = deps;
      const answering = catalog.agent(agent ?? catalog.first(catalog.defaultDomain).id);
      const provider = providerOf(deps, answering, null);
      const model = { ...deps, provider, others: provider.fallbacks };
      return counted({ principal, agent: answering.id }, () =>
        summaryOfItems(model, itemsOfHistory(items), { signal }),
      );
    },
  };
}

const itemsOfHistory = (items: readonly HistoryItem[]) =>
  promptItemsOf(promptItems(items).map(({ item }) => item));

// Full-text search over the messages of the caller's own sessions.

export type FoundMessage = SearchHit & {
  readonly at: number;
  readonly from: 'user' | 'agent' | 'history';
  readonly excerpt: readonly ExcerptPart[];
};

export type FoundPage = {
  readonly messages: readonly FoundMessage[];
  readonly next: string | null;
  /** false if some messages are not indexed yet; a later search may find more */
  readonly complete: boolean;
};

export type SearchRequest = { readonly text: string; readonly limit: number; readonly cursor?: string };

/** Maximum number of events to index before a search or a list of turns, if the index is behind. */
const MAX_INDEXED = 5_000;

const FROM = { 'input.accepted': 'user', 'text.ended': 'agent', 'history.imported': 'history' } as const;

export function searching({ parts: { store, search } }: EngineInternals) {
  /** Null if the session has been erased. */
  async function shown(hit: SearchHit, terms: readonly SearchTerm[]): Promise<FoundMessage | null> {
    const [event] = await store.read(hit.ref, hit.seq - 1, 1);
    const text = event && messageText(event);
    if (!event || !text) return null;
    const from = FROM[event.type as keyof typeof FROM];
    return { ...hit, at: event.at, from, excerpt: excerpt(text, terms) };
  }

  return {
    async search(principal: Principal, { text, ...page }: SearchRequest): Promise<FoundPage> {
      requirePermission(principal, 'chat:read');
      const terms = parseSearch(text);
      if (!search || terms.length === 0) return { messages: [], next: null, complete: true };
      const complete = await search.update(MAX_INDEXED, principal.id);
      const { hits, next } = await search.find({ ...page, terms, owner: principal.id });
      const messages = await Promise.all(hits.map((hit) => shown(hit, terms)));
      return { messages: messages.filter((message) => message !== null), next, complete };
    },
  };
}

// Read-only links to a session as of the time of sharing.

const MAX_SHARES = 20;
const TOKEN_BYTES = 32;
const TOKEN = /^[\w-]{43}$/;

export type SharedSession = {
  readonly share: Share;
  readonly record: SessionRecord;
  readonly events: AsyncIterable<DurableEvent>;
};

export function sharing({ parts }: EngineInternals) {
  const { store, shares, isOwner, now, newId, randomBytes = secureRandomBytes } = parts;
  const notFound = () => new Fault('not_found', 'There is no such link.');

  /** Admins can see and revoke links of other users; only owners create them. */
  function sharesOf(ref: SessionRef, principal: Principal) {
    requirePermission(principal, 'chat:send');
    if (!maySee(ref, principal) || !shares) throw new Fault('not_found', 'There is no such session.');
    return shares;
  }

  async function* eventsUntil(ref: SessionRef, last: number): AsyncGenerator<DurableEvent, void> {
    for await (const event of storedEvents(store, ref, 0)) {
      if (event.seq > last) return;
      yield event;
    }
  }

  return {
    async share(ref: SessionRef, principal: Principal): Promise<{ share: Share; token: string }> {
      const kept = sharesOf(ref, principal);
      if (ref.owner !== principal.id) throw new Fault('not_found', 'There is no such session.');
      const seq = await store.head(ref);
      if (seq === 0) throw new Fault('not_found', 'There is no such session.');
      if ((await store.load(ref))?.archived)
        throw new Fault('invalid', 'The session is archived. Restore it before sharing it.');
      const token = Buffer.from(randomBytes(TOKEN_BYTES)).toString('base64url');
      const share = { id: newId(), ref, hash: hashOf(token), seq, createdAt: now() };
      const added = await kept.add(share, MAX_SHARES);
      if (added === 'no_session') throw new Fault('not_found', 'There is no such session.');
      if (added === 'too_many')
        throw new Fault('invalid', `A session may have at most ${MAX_SHARES} links. Revoke one first.`);
      return { share, token };
    },

    shares: async (ref: SessionRef, principal: Principal): Promise<Share[]> =>
      sharesOf(ref, principal).list(ref),

    async unshare(ref: SessionRef, principal: Principal, id: string): Promise<void> {
      if (!(await sharesOf(ref, principal).remove(ref, id))) throw notFound();
    },

    async shared(token: string): Promise<SharedSession> {
      const share = TOKEN.test(token) ? await shares?.find(hashOf(token)) : null;
      const record = share && (await store.load(share.ref));
      if (!share || !record || record.archived) throw notFound();
      if (isOwner && !(await isOwner(share.ref.owner, share.createdAt))) throw notFound();
      return { share, record, events: eventsUntil(share.ref, share.seq) };
    },
  };
}

const hashOf = (token: string): string => new Bun.CryptoHasher('sha256').update(token).digest('hex');

// The turns of the caller's own sessions.

export type CountedTurns = TurnPage & {
  /** on all pages */
  readonly total: number;
};

export function turnQueries({ parts: { search, turns: index } }: EngineInternals) {
  /** Each event is indexed once: that is a little work, unless the index is new. */
  async function update(owner: PrincipalId): Promise<void> {
    while (search && !(await search.update(MAX_INDEXED, owner)));
  }

  return {
    async turns(principal: Principal, query: Omit<TurnQuery, 'owner'>): Promise<CountedTurns> {
      requirePermission(principal, 'chat:read');
      if (!index) return { turns: [], next: null, total: 0 };
      const { limit, cursor, ...filter } = { ...query, owner: principal.id };
      await update(principal.id);
      const page = await index.list({ ...filter, limit, cursor });
      return { ...page, total: await index.count(filter) };
    },

    async turn(ref: SessionRef, id: TurnId): Promise<IndexedTurn | null> {
      if (!index) return null;
      await update(ref.owner);
      return index.find(ref, id);
    },
  };
}
