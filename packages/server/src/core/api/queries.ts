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
import { storedEvents } from '../runtime/event-pages.ts';
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

  /** The principal's sessions, most recently changed first. Admins see all sessions. */
  async function list(principal: Principal, page: Omit<SessionQuery, 'owner'>): Promise<SessionPage> {
    requirePermission(principal, 'chat:read');
    return store.list({ ...page, owner: ownerFor(principal) });
  }

  return {
    snapshot,
    list,

    /**
     * The principal's session with that name, whether it exists or not. For an admin, it may belong to
     * another user.
     */
    resolve: (principal: Principal, name: string): Promise<SessionRef> => resolver.resolve(principal, name),

    /** Like `resolve`, but null if the session does not exist or belongs to another user. */
    find: (principal: Principal, name: string): Promise<SessionRef | null> => resolver.find(principal, name),

    /** Whether only another user has a session with that name. Never true for an admin. */
    foreign: (principal: Principal, name: string): Promise<boolean> => resolver.foreign(principal, name),

    /** The oldest session with that name, of any owner, for protocols with global names. */
    firstHolder: (name: string): Promise<SessionRef | null> => resolver.firstHolder(name),

    record: (ref: SessionRef): Promise<SessionRecord | null> => store.load(ref),

    /** The node that drives the session, or null if it has no work. */
    driver: async (ref: SessionRef): Promise<NodeId | null> =>
      (await parts.leases.driverOf(ref))?.node ?? null,

    /** One page of events. */
    events: (ref: SessionRef, after: number, limit: number): Promise<DurableEvent[]> =>
      store.read(ref, after, limit),

    /** All events, read page by page. */
    allEvents: (ref: SessionRef): AsyncIterable<DurableEvent> => storedEvents(store, ref, 0),

    /**
     * The conversation up to event number `upTo`, including compacted turns, as history for another session, and whether it
     * contains untrusted content.
     */
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

    /** The standing grants of the sessions on one page of `list`. Skips unreadable sessions. */
    async grants(principal: Principal, page: Omit<SessionQuery, 'owner'>): Promise<GrantPage> {
      const { sessions: records, next } = await list(principal, { ...page, ephemeral: 'included' });
      const standing: GrantPage['standing'][number][] = [];
      await eachReadable(records, log, async (record) => {
        const grants = grantsAtCheckpoint(record) ?? (await snapshot(record.ref)).grants;
        if (grants.length > 0) standing.push({ record, grants });
      });
      return { standing, next };
    },

    /** The number of matching sessions on all pages of `list`. */
    async count(principal: Principal, filter: Omit<SessionFilter, 'owner'>): Promise<number> {
      requirePermission(principal, 'chat:read');
      return store.count({ ...filter, owner: ownerFor(principal) });
    },

    /** The tags of the principal's own sessions. */
    async tags(principal: Principal): Promise<TagCount[]> {
      requirePermission(principal, 'chat:read');
      return store.tags(principal.id);
    },

    /** One page of sessions with an approval that the principal may answer. Skips unreadable sessions. */
    async approvals(principal: Principal, page: { limit: number; cursor?: string }): Promise<ApprovalPage> {
      const filter = { awaitingApproval: true, archived: 'included', ephemeral: 'included' } as const;
      const { sessions: records, next } = await list(principal, { ...page, ...filter });
      const waiting: SessionSnapshot[] = [];
      await eachReadable(records, log, async ({ ref }) => waiting.push(await snapshot(ref)));
      return { waiting, next };
    },

    /**
     * Finds the session of an approval, of a turn (queued, started or ended), or of a current or former
     * label. Null if there is none or it belongs to another user; admins find all sessions unless `among` is
     * `own`.
     */
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

    /**
     * Our token estimate of a prompt with this conversation. Throws `not_found` if the agent does not exist.
     */
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

    /** Throws `tool_invalid` if the tool does not exist or the input is invalid. */
    checkCall(name: string, input: JsonObject): void {
      possibleCall(parts.tools, name, input);
    },

    /** Throws `invalid` if the input has a link that its model does not support. */
    checkLinks: (ref: SessionRef, input: LinkedInput): Promise<void> =>
      sessions.use(ref, async (session) => checkLinks(input, session, deps)),

    /** Summarises a document. Stores nothing. */
    summarise: (title: string, content: string, signal: AbortSignal): Promise<string> =>
      summarise(deps, { title, content }, signal),
  };
}
