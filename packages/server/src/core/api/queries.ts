/** Read-only operations. */
import {
  type ContextUse,
  type DurableEvent,
  type HistoryItem,
  type JsonObject,
  type Principal,
  type PrincipalId,
  requirePermission,
  type TurnTerms,
} from '@parlance/protocol';
import { EMPTY, evolveContext, isTainted } from '../domain/context.ts';
import { historyOf, promptItems } from '../domain/history.ts';
import { promptTokens } from '../domain/prompt-tokens.ts';
import { grantsAtCheckpoint } from '../domain/standing-grants.ts';
import type {
  LookupKey,
  SessionFilter,
  SessionPage,
  SessionQuery,
  SessionRecord,
  SessionRef,
  TagCount,
} from '../ports/event-store.ts';
import type { NodeId } from '../ports/lease.ts';
import { promptItemsOf, type ToolSpec } from '../ports/provider.ts';
import { currentUse } from '../runtime/context-use.ts';
import { eventsBackwards, storedEvents } from '../runtime/event-pages.ts';
import { checkLinks, type LinkedInput } from '../runtime/links.ts';
import { requestFor, toolSpec } from '../runtime/prompt.ts';
import { summarise } from '../runtime/questions.ts';
import { type SessionSnapshot, snapshotOf } from '../runtime/snapshot.ts';
import { possibleCall } from '../runtime/tool-input.ts';
import { type EngineInternals, eachReadable } from './engine-internals.ts';

export type GrantPage = {
  readonly standing: readonly { readonly record: SessionRecord; readonly grants: readonly string[] }[];
  readonly next: string | null;
};

export type ApprovalPage = { readonly waiting: readonly SessionSnapshot[]; readonly next: string | null };

export type Queries = ReturnType<typeof queries>;

/** The owner whose sessions the principal may list; undefined for all owners. */
const ownerFor = (principal: Principal): PrincipalId | undefined =>
  principal.role === 'admin' ? undefined : principal.id;

export function queries({ parts, deps, resolver, sessions }: EngineInternals) {
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
      const filter = { awaitingApproval: true, archived: 'included', ephemeral: 'included' } as const;
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
      { agent, items, terms }: { agent?: string; items: readonly HistoryItem[]; terms: TurnTerms },
    ): number {
      const { catalog } = deps;
      const answering = catalog.agent(agent ?? catalog.first(catalog.defaultDomain).id);
      const request = requestFor(answering, { terms, owner, deps });
      return promptTokens({ ...request, items: promptItemsOf(promptItems(items)) });
    },

    toolSpecs: (): (ToolSpec & { requiresApproval: boolean })[] =>
      [...parts.tools.values()]
        .filter((tool) => !tool.special)
        .map((tool) => ({ ...toolSpec(tool), requiresApproval: tool.asks ?? false })),

    checkCall(name: string, input: JsonObject): void {
      possibleCall(parts.tools, name, input);
    },

    checkLinks: (ref: SessionRef, input: LinkedInput): Promise<void> =>
      sessions.use(ref, async (session) => checkLinks(input, session, deps)),

    summarise: (title: string, content: string, signal: AbortSignal): Promise<string> =>
      summarise(deps, { title, content }, signal),
  };
}
