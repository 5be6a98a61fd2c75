/** The core as one object, the only entry point for dialects, the console and scripts. */

import {
  type ApprovalId,
  asFault,
  type CommandInput,
  type ContextUse,
  type DurableEvent,
  type HistoryItem,
  type JsonObject,
  type LimitUse,
  type Principal,
  type PrincipalId,
  type QuestionId,
  type TurnId,
  type TurnOptions,
} from '@parlance/protocol';
import type { Transport } from '../../cluster/transport.ts';
import type { ClockTimer } from '../../lib/clock.ts';
import type {
  IndexedTurn,
  LookupKey,
  SessionFilter,
  SessionPage,
  SessionQuery,
  SessionRecord,
  SessionRef,
  Share,
  TagCount,
  TurnQuery,
} from '../ports/event-store.ts';
import type { Lease, NodeId } from '../ports/lease.ts';
import type { Skill } from '../ports/project.ts';
import type { ToolSpec } from '../ports/provider.ts';
import type { FolderContents, Tool } from '../ports/tool.ts';
import type { AgentCatalog } from '../session/agent-catalog.ts';
import { dayOf } from '../session/spending.ts';

import type { ClientToolBroker } from './client-tools.ts';
import { commands, type Receipt } from './commands.ts';
import type { Caller } from './decision-context.ts';
import { assemble, type EngineInternals, type EngineParts, released } from './engine-internals.ts';

import type { LinkedInput } from './links.ts';
import {
  type ApprovalPage,
  type CountedTurns,
  type FoundPage,
  type GrantPage,
  queries,
  type SearchRequest,
  type SharedSession,
  searching,
  sharing,
  turnQueries,
  type UsageAnswer,
  type UsageRequest,
} from './queries.ts';
import type { Completion } from './questions.ts';
import type { PreviewedRewind, RewindQuestion } from './rewind.ts';
import type { Session, TurnLabeller } from './session.ts';
import type { FilesPlace, SessionFiles } from './session-files.ts';
import type { SessionSnapshot, Sink } from './snapshot.ts';
import { subscriptions, type Watch, type WatchOptions } from './subscriptions.ts';

export interface Engine {
  // Commands.

  /**
   * Executes a command. Its events are stored when the promise resolves; a `Fault` means that nothing has
   * changed. An input is accepted by then, but not answered yet.
   *
   * @example
   * const { seq } = await engine.send(ref, { type: 'input.submit', parts }, { principal, dialect });
   * await engine.watch(ref, sink, { after: seq });
   */
  send(ref: SessionRef, input: CommandInput, caller: Caller): Promise<Receipt>;
  /** Answers an approval by its id, in whichever session it was requested. */
  answer(
    approval: ApprovalId,
    answer: Omit<Extract<CommandInput, { type: 'approval.answer' }>, 'type' | 'approval'>,
    caller: Caller,
  ): Promise<Receipt>;
  /** Answers a question by its id, in whichever session it was asked. */
  answerQuestion(
    question: QuestionId,
    answer: Omit<Extract<CommandInput, { type: 'question.answer' }>, 'type' | 'question'>,
    caller: Caller,
  ): Promise<Receipt>;
  /** What a rewind to a message, or the undo of a rewind, would do now. Throws `busy` while a turn runs. */
  previewRewind(ref: SessionRef, question: RewindQuestion, principal: Principal): Promise<PreviewedRewind>;
  /** The skills that agents are offered in the folder of the session, or in the server's. */
  skills(principal: Principal, ref: SessionRef | null): Promise<readonly Skill[]>;
  /** Folders in which sessions may work: those in `path`, or if null the topmost ones. Throws `invalid` for a path where they may not. */
  folders(path: string | null): Promise<FolderContents>;
  /**
   * The files of the session's working folder, or of one in which a session could begin. Throws `forbidden` if its agent cannot read
   * files.
   */
  files(principal: Principal, place: FilesPlace): Promise<SessionFiles>;
  /** Deletes the session permanently and stops a running turn. Throws `not_found` if it does not exist. */
  erase(ref: SessionRef, caller: Caller): Promise<void>;

  // Subscriptions.

  /**
   * Calls `sink` with all events after number `after` and then with each new event, including ephemeral
   * ones, without gaps or repeats. After the events of each append, `committed` is called with the status of the session.
   */
  watch(ref: SessionRef, sink: Sink, options?: WatchOptions): Promise<Watch>;
  /**
   * Asks `labeller` when a turn of the watched session is about to end, for labels to store in the same append. Not asked if another
   * node drives the session, or if the turn fails. Returns a function that ends this.
   */
  labelTurns(ref: SessionRef, labeller: TurnLabeller): () => void;
  /** Calls `sink` with each new event of any session of the owner, or of all owners if null. */
  watchOwner(owner: PrincipalId | null, sink: Sink): () => void;
  /** Like `watchOwner`, for the principal's sessions; for an admin, all sessions. */
  watchAll(principal: Principal, sink: Sink): () => void;
  /** Resolves when the session is idle or waits for a user or a client. */
  whenIdle(ref: SessionRef): Promise<void>;

  // One session.

  /**
   * The principal's session with that name, whether it exists or not. For an admin, it may belong to
   * another user.
   */
  resolve(principal: Principal, name: string): Promise<SessionRef>;
  /** Like `resolve`, but null if the session does not exist or belongs to another user. */
  find(principal: Principal, name: string): Promise<SessionRef | null>;
  /** Whether only another user has a session with that name. Never true for an admin. */
  foreign(principal: Principal, name: string): Promise<boolean>;
  /** The oldest session with that name, of any owner, for protocols with global names. */
  firstHolder(name: string): Promise<SessionRef | null>;
  /**
   * Finds the session of an approval, of a turn (queued, started or ended), or of a current or former
   * label. Null if there is none or it belongs to another user; admins find all sessions unless `among` is
   * `own`.
   */
  lookup(principal: Principal, key: LookupKey, among?: 'all' | 'own'): Promise<SessionRef | null>;
  /** What lists show of the session; null if it does not exist. */
  record(ref: SessionRef): Promise<SessionRecord | null>;
  /** The current state. A session that does not exist is empty. */
  snapshot(ref: SessionRef): Promise<SessionSnapshot>;
  /** The node that drives the session, or null if it has no work. */
  driver(ref: SessionRef): Promise<NodeId | null>;
  /** One page of events: at most `limit` after number `after`. */
  events(ref: SessionRef, after: number, limit: number): Promise<DurableEvent[]>;
  /** All events, read page by page. */
  allEvents(ref: SessionRef): AsyncIterable<DurableEvent>;
  /**
   * The events up to number `head`, the last page first; within a page, the oldest event first. The cost depends on how
   * far the reader goes back, not on the length of the session.
   */
  eventsBackwards(ref: SessionRef, head: number, page?: number): AsyncGenerator<DurableEvent[], void>;
  /**
   * The conversation up to event number `upTo`, including compacted turns, as history for another session, and whether it
   * contains untrusted content.
   */
  conversation(
    ref: SessionRef,
    upTo: number,
  ): Promise<{ readonly items: HistoryItem[]; readonly untrusted: boolean }>;
  /** How much of the model's context the session uses. */
  contextUse(ref: SessionRef): Promise<ContextUse>;
  /** Throws `invalid` if the input has a link that its model does not support. */
  checkLinks(ref: SessionRef, input: LinkedInput): Promise<void>;

  // Lists.

  /** The principal's sessions, most recently changed first. Admins see all sessions. */
  list(principal: Principal, page: Omit<SessionQuery, 'owner'>): Promise<SessionPage>;
  /** The number of matching sessions on all pages of `list`. */
  count(principal: Principal, filter: Omit<SessionFilter, 'owner'>): Promise<number>;
  /** The tags of the principal's own sessions. */
  tags(principal: Principal): Promise<TagCount[]>;
  /** The standing grants of the sessions on one page of `list`. Skips unreadable sessions. */
  grants(principal: Principal, page: Omit<SessionQuery, 'owner'>): Promise<GrantPage>;
  /** One page of sessions with an approval or a question that the principal may answer. Skips unreadable sessions. */
  approvals(principal: Principal, page: { limit: number; cursor?: string }): Promise<ApprovalPage>;
  /**
   * Searches the messages of the principal's own sessions, latest first. Matches words and "quoted phrases"; the last
   * word may be a prefix.
   */
  search(principal: Principal, request: SearchRequest): Promise<FoundPage>;
  /** One page of the principal's own turns, the one that changed last first. */
  turns(principal: Principal, query: Omit<TurnQuery, 'owner'>): Promise<CountedTurns>;
  /** Null if there is no such turn in the session. */
  turn(ref: SessionRef, id: TurnId): Promise<IndexedTurn | null>;

  // Usage of models.

  /** Sums of the principal's own model calls; for an admin, of all. This month by default. */
  usage(principal: Principal, request: UsageRequest): Promise<UsageAnswer>;
  /** The limits on money and tokens of the user and the API key, and how much of each is used. */
  limits(principal: Principal): Promise<LimitUse[]>;

  // Links to a session as of the time of sharing.

  /** Resolves with the token of the link, which is not stored and cannot be recovered. */
  share(ref: SessionRef, principal: Principal): Promise<{ share: Share; token: string }>;
  /** The links of the session. */
  shares(ref: SessionRef, principal: Principal): Promise<Share[]>;
  /** Revokes the link. Throws `not_found` if the session has no such link. */
  unshare(ref: SessionRef, principal: Principal, id: string): Promise<void>;
  /**
   * The shared session of a token. Throws `not_found` if the token is unknown or revoked, the session was
   * erased or archived, or its owner was removed.
   */
  shared(token: string): Promise<SharedSession>;

  // Agents, tools and models.

  readonly catalog: AgentCatalog;
  readonly clients: ClientToolBroker;
  readonly maxSteps: EngineParts['maxSteps'];
  /** working folder of sessions without one of their own */
  readonly root: EngineParts['root'];
  /** The tools that agents can be given. */
  toolSpecs(): (ToolSpec & { requiresApproval: boolean })[];
  /** The operator's tools that the agent has now, or the default agent. Throws `not_found` if it does not exist. */
  customTools(principal: Principal, agent: string | undefined): (ToolSpec & NonNullable<Tool['custom']>)[];
  /** Throws `tool_invalid` if the tool does not exist or the input is invalid. */
  checkCall(name: string, input: JsonObject): void;
  /**
   * Our token estimate of a prompt with this conversation. Throws `not_found` if the agent does not exist.
   */
  promptTokens(
    principal: Principal,
    prompt: { agent?: string; items: readonly HistoryItem[]; terms: TurnOptions },
  ): number;
  /** Summarises a document. Stores nothing. */
  summarise(
    principal: Principal,
    document: { title: string; content: string },
    signal: AbortSignal,
  ): Promise<string>;
  /**
   * Summarises a conversation for a model that continues it. Stores nothing. Throws `not_found` if the agent does not
   * exist.
   */
  summariseConversation(
    principal: Principal,
    conversation: { agent?: string | undefined; items: readonly HistoryItem[] },
    signal: AbortSignal,
  ): Promise<Completion>;

  // Start and stop.

  /**
   * Sessions with a running turn that no other node drives: before `recover`, those that a process exit
   * interrupted.
   */
  unfinished(): Promise<SessionRecord[]>;
  /**
   * Resumes every turn that was running when its process ended, and returns their number. Pending approvals
   * stay pending. From now on, unused ephemeral sessions are erased, and with several nodes, sessions of
   * dead nodes are taken over.
   */
  recover(): Promise<number>;
  /**
   * Starts no more actions. Resolves with true when the running ones are done, or with false after
   * `graceMs`; unfinished turns resume on another node or at the next start.
   */
  drain(graceMs: number): Promise<boolean>;
  /** whether `drain` has been called */
  readonly draining: boolean;
  /** number of turns running on this node */
  readonly running: number;
  /** transport to the other nodes; null on a single node */
  readonly transport: Transport | null;
}

export function createEngine(parts: EngineParts): Engine {
  const internals = assemble(parts, (ref, command, caller) => commanding.send(ref, command, caller));
  const { catalog, maxSteps, root } = parts;
  const reading = queries(internals);
  const commanding = commands(internals, reading);
  return {
    ...reading,
    ...commanding,
    ...subscriptions(internals),
    ...searching(internals),
    ...sharing(internals),
    ...turnQueries(internals),
    ...lifecycle(internals),
    catalog,
    maxSteps,
    root,
    clients: internals.deps.clients,
    transport: parts.cluster?.transport ?? null,
    get running() {
      return internals.queue.running;
    },
    get draining() {
      return internals.queue.draining;
    },
  };
}

// Starts and stops the engine, and takes over sessions from other nodes.

/** Maximum delay before a session that could not be read is tried again, in milliseconds. */
const MAX_RETRY_MS = 60_000;
const RETRY_MS = 1_000;
const DAY_MS = 86_400_000;
/** How long usage is kept. */
const USAGE_DAYS = 400;

export function lifecycle(internals: EngineInternals) {
  const { parts, deps, resolver, sessions, queue, ephemeral, indexer, network } = internals;
  const { leases, log, cluster } = parts;
  let sweeping: ClockTimer | null = null;
  let pruning: ClockTimer | null = null;
  let sweep: Promise<unknown> | null = null;
  let fenced = false;

  const unfinished = async (): Promise<SessionRecord[]> => {
    const running = await Array.fromAsync(resolver.all({ status: ['running'] }));
    if (!cluster) return running;
    const living = await cluster.livingNodes();
    const drivers = await Promise.all(running.map(({ ref }) => leases.driverOf(ref)));
    return running.filter((_, index) => {
      const node = drivers[index]?.node;
      return node === undefined || node === leases.node || !living.has(node);
    });
  };

  /**
   * Logs a session that cannot be read and retries it later. Keeps its lease: other nodes could not read it
   * either.
   */
  const resume = async (lease: Lease, failures = 0): Promise<void> => {
    try {
      await sessions.use(lease.ref, async (session) => {
        await session.takeOver(lease);
        queue.wake(session);
      });
    } catch (thrown) {
      log.error({ err: thrown, session: lease.ref.id }, 'session unreadable');
      const again = () => {
        // While this node fences itself, its lease is not good, but it may still hold it.
        const mayHold = leases.good(lease) || !leases.healthy;
        if (mayHold && !queue.draining) void resume(lease, failures + 1);
      };
      const isOutage = asFault(thrown).code === 'storage_unavailable';
      const delayMs = isOutage ? RETRY_MS : Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** failures);
      deps.clock.setTimeout(again, delayMs).unref();
    }
  };

  /** Resumes sessions without a driver and returns their number. */
  const takeOver = async (limit: number): Promise<number> => {
    const taken = queue.draining ? [] : await leases.takeOver(limit);
    if (taken.length > 0) deps.meter.add('takeovers', undefined, taken.length);
    for (const lease of taken) {
      const resumed = resume(lease);
      // A session that hangs must not block the other sessions of a dead node.
      if (!cluster) await resumed;
    }
    return taken.length;
  };

  const sweepOnce = async (): Promise<void> => {
    if (!leases.healthy) return;
    if (fenced) queue.retry();
    fenced = false;
    const room = queue.room;
    if (room === 0) return;
    const resumed = await takeOver(room);
    if (resumed > 0) log.info({ resumed }, 'sessions taken over');
  };

  const notTakenOver = (err: unknown): number => {
    log.warn({ err }, 'failed to take over sessions');
    return 0;
  };

  const sweepNow = (): void => {
    sweep ??= sweepOnce()
      .catch(notTakenOver)
      .finally(() => {
        sweep = null;
      });
  };

  const loseLeaseIfGone = (session: Session): void => {
    if (session.role.isDriver || !session.role.holdsLease) return;
    session.loseLease().catch((err) => log.warn({ err, session: session.ref.id }, 'failed to read session'));
  };

  const endLosses = leases.onLost((lost: readonly SessionRef[] | 'all') => {
    fenced ||= lost === 'all';
    if (lost === 'all') for (const session of sessions.all()) session.fence();
    else
      for (const ref of lost) {
        const session = sessions.loaded(ref);
        if (session) loseLeaseIfGone(session);
      }
  });

  const compare = async (session: Session): Promise<void> => {
    try {
      await session.compareAll();
      // The database may still, or again, say that this node drives it.
      queue.wake(session);
    } catch (err) {
      log.warn({ err, session: session.ref.id }, 'failed to read session');
      if (!queue.draining) deps.clock.setTimeout(() => void compare(session), RETRY_MS).unref();
    }
  };

  const endFailovers = cluster?.onFailover?.(() => {
    log.warn({}, 'database failed over: comparing sessions with it');
    for (const session of sessions.all()) void compare(session);
  });

  const pruneUsage = (): void => {
    const { usage, usageDays = USAGE_DAYS } = parts;
    usage
      ?.prune(dayOf(parts.now() - usageDays * DAY_MS))
      .catch((err) => log.warn({ err }, 'failed to prune usage'));
  };

  return {
    unfinished,

    async recover(): Promise<number> {
      if (cluster) {
        sweeping ??= deps.clock.setInterval(sweepNow, cluster.sweepMs);
        network?.onReleased(sweepNow);
      }
      const taking = takeOver(cluster ? queue.room : Number.POSITIVE_INFINITY);
      // With several nodes, the next sweep retries sessions that could not be read.
      const resumed = await (cluster ? taking.catch(notTakenOver) : taking);
      if (!queue.draining) await ephemeral.start();
      indexer?.start();
      if (parts.usage && !queue.draining) {
        pruneUsage();
        pruning ??= deps.clock.setInterval(pruneUsage, DAY_MS);
        pruning.unref();
      }
      return resumed;
    },

    async drain(graceMs: number): Promise<boolean> {
      deps.clock.clear(sweeping);
      deps.clock.clear(pruning);
      await Promise.all([sweep, ephemeral.stop(), indexer?.stop()]);
      const finished = await queue.drain(graceMs);
      endLosses();
      endFailovers?.();
      await Promise.all([...sessions.all()].map((session) => released(session, log, true)));
      network?.released();
      return finished;
    },
  };
}
