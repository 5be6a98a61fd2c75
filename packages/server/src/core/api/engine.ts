/** The only door to the core: dialects, the console and scripts all come through here. */

import type { Principal } from '@parlance/protocol';
import {
  type ApprovalId,
  Command,
  type CommandInput,
  type ContextUse,
  type DurableEvent,
  Fault,
  type JsonObject,
  type PrincipalId,
} from '@parlance/protocol';
import { decide, mayEndTurn } from '../domain/decide.ts';
import { nextAction } from '../domain/next-action.ts';
import { authorise, requirePermission } from '../domain/rights.ts';
import { waitingCall } from '../domain/session-state.ts';
import { restedGrants } from '../domain/standing-grants.ts';
import { interruption } from '../domain/turn-events.ts';
import type { Bus } from '../ports/bus.ts';
import type {
  EventStore,
  LookupKey,
  SessionFilter,
  SessionPage,
  SessionQuery,
  SessionRecord,
  SessionRef,
} from '../ports/event-store.ts';
import type { Leases } from '../ports/lease.ts';
import { type Meter, NO_METER } from '../ports/meter.ts';
import type { ToolSpec } from '../ports/provider.ts';
import { NO_TRACER, type Tracer } from '../ports/tracer.ts';
import { AdmissionControl, type EngineLimits, NO_LIMITS } from '../runtime/admission-control.ts';
import { withinLimits } from '../runtime/answer-limits.ts';
import { ClientToolBroker } from '../runtime/client-tool-broker.ts';
import { compactNow } from '../runtime/compaction.ts';
import { currentUse, readContext, withContextUse } from '../runtime/context-use.ts';
import type { LiveSession } from '../runtime/live-session.ts';
import { streamedSoFar } from '../runtime/open-block.ts';
import { toolSpec } from '../runtime/prompt.ts';
import { explain, summarise } from '../runtime/questions.ts';
import { RunQueue } from '../runtime/run-queue.ts';
import { SessionCache } from '../runtime/session-cache.ts';
import { SessionMetrics } from '../runtime/session-metrics.ts';
import { type ObservedSession, type SessionSnapshot, type Sink, snapshotOf } from '../runtime/snapshot.ts';
import { possibleCall } from '../runtime/tool-input.ts';
import { drive } from '../runtime/turn.ts';
import type { TurnDeps } from '../runtime/turn-deps.ts';
import { type Caller, checkConfiguration, decisionContext, replacedBy } from './decision-context.ts';
import { SessionResolver } from './session-resolver.ts';

export type Receipt = {
  /** the session's last event when the command was done: watching after it misses nothing and repeats nothing */
  readonly seq: number;
  readonly events: readonly DurableEvent[];
};

export type GrantPage = {
  readonly standing: readonly { readonly record: SessionRecord; readonly grants: readonly string[] }[];
  readonly next: string | null;
};

export type ApprovalPage = { readonly waiting: readonly SessionSnapshot[]; readonly next: string | null };

export type Watch = ObservedSession & { stop(): void };

export type EngineParts = Omit<TurnDeps, 'clients' | 'meter' | 'tracer'> & {
  readonly store: EventStore;
  readonly bus: Bus<ObservedSession>;
  readonly leases: Leases;
  readonly clients?: ClientToolBroker;
  readonly turnsAtOnce: number;
  /** commands run in a sandbox: a session may have them run unasked */
  readonly allowsFullAuto?: boolean;
  readonly limits?: EngineLimits;
  readonly meter?: Meter;
  readonly tracer?: Tracer;
  /** sessions that nobody uses stay in memory up to this many */
  readonly keptInMemory?: number;
  /** how long a session rests that could not go on for the nth time in a row; 1 s, 2 s, … where it is not given */
  readonly restMs?: (failures: number) => number;
};

/** One that nobody uses is read again in a millisecond, and may be large. */
const KEPT_IN_MEMORY = 200;

/** Whose sessions a list has: absent for everyone's. */
const ownerFor = (principal: Principal): PrincipalId | undefined =>
  principal.role === 'admin' ? undefined : principal.id;

export class Engine {
  readonly clients: ClientToolBroker;
  readonly #parts: EngineParts;
  readonly #deps: TurnDeps;
  readonly #resolver: SessionResolver;
  readonly #queue: RunQueue;
  readonly #limits: EngineLimits;
  readonly #admission: AdmissionControl;
  readonly #sessions: SessionCache;

  constructor(parts: EngineParts) {
    this.clients = parts.clients ?? new ClientToolBroker();
    this.#parts = parts;
    this.#limits = parts.limits ?? NO_LIMITS;
    const { meter = NO_METER, tracer = NO_TRACER } = parts;
    const { providerFor } = parts;
    this.#deps = {
      ...parts,
      provider: withinLimits(parts.provider, this.#limits),
      ...(providerFor ? { providerFor: (model) => withinLimits(providerFor(model), this.#limits) } : {}),
      clients: this.clients,
      meter,
      tracer,
    };
    this.#resolver = new SessionResolver(parts.store);
    const firstAgent = parts.catalog.first(parts.catalog.defaultDomain);
    const awaitingApproval = { awaitingApproval: true, archived: 'included' } as const;
    const { onCommitted } = new SessionMetrics(this.#deps, () => parts.store.count(awaitingApproval));
    this.#sessions = new SessionCache(
      { ...parts, onCommitted },
      firstAgent,
      parts.keptInMemory ?? KEPT_IN_MEMORY,
    );
    this.#queue = new RunQueue(
      (session, stopping) => this.#drive(session, stopping),
      (session) => nextAction(session.state).kind !== 'idle',
      parts.turnsAtOnce,
      parts.restMs,
      this.#limits.turnsWaiting,
    );
    this.#admission = new AdmissionControl(parts.store, this.#queue, this.#limits, meter);
    meter.gauge('turns_running', () => this.#queue.running);
    meter.gauge('queue_depth', () => this.#queue.depths);
    meter.gauge('sessions_in_memory', () => this.#sessions.size);
  }

  get catalog() {
    return this.#parts.catalog;
  }

  get maxSteps(): number {
    return this.#parts.maxSteps;
  }

  get root(): string {
    return this.#parts.root;
  }

  /** Claims and goes on with every turn that was running when its process ended; returns how many there are. Pending approvals go on waiting. */
  async recover(): Promise<number> {
    const unfinished = await this.unfinished();
    await this.#each(unfinished, async ({ ref }) => {
      await this.#sessions.use(ref, async (session) => {
        if (!this.draining && (await this.#parts.leases.claim(ref))) this.#queue.wake(session);
      });
    });
    return unfinished.length;
  }

  /** Sessions in which a turn is running: before `recover`, those that the end of the process interrupted. */
  async unfinished(): Promise<SessionRecord[]> {
    return Array.fromAsync(this.#resolver.all({ status: ['running'] }));
  }

  /** The principal's session of that name, whether it exists yet or not; an admin's may be someone else's. */
  async resolve(principal: Principal, name: string): Promise<SessionRef> {
    return this.#resolver.resolve(principal, name);
  }

  /** As `resolve`, for sessions that exist: null for what is not there or not the principal's. */
  async find(principal: Principal, name: string): Promise<SessionRef | null> {
    return this.#resolver.find(principal, name);
  }

  /** Whether there is a session of that name, but only someone else's. Never so for an admin. */
  async foreign(principal: Principal, name: string): Promise<boolean> {
    return this.#resolver.foreign(principal, name);
  }

  /** Whoever's session it is that had this name first, for wires where a name means the same to everyone. */
  async firstHolder(name: string): Promise<SessionRef | null> {
    return this.#resolver.firstHolder(name);
  }

  get draining(): boolean {
    return this.#queue.draining;
  }

  /**
   * Carries out a command. What it changed is durable when the promise resolves; a `Fault` means that nothing was
   * changed. An input is accepted then, not answered.
   */
  async send(ref: SessionRef, input: CommandInput, caller: Caller): Promise<Receipt> {
    const parsed = Command.safeParse(input);
    if (!parsed.success) {
      const issue = parsed.error.issues[0];
      throw new Fault('invalid', `${issue?.path.join('.') || 'command'}: ${issue?.message}`);
    }
    const command = parsed.data;
    authorise(ref, command, caller.principal);
    // What is decided is kept for the next start; what would begin is for another server.
    if (this.draining && command.type === 'input.submit')
      throw new Fault('shutting_down', 'The server is shutting down.');
    if (command.type === 'input.submit' && command.call)
      this.checkCall(command.call.tool, command.call.input);
    if (command.type === 'session.configure') checkConfiguration(command, this.#parts);
    return this.#sessions.use(ref, async (session) => {
      const leave = await this.#admission.admit(session, command);
      try {
        const events = await this.#carryOut(session, command, caller);
        this.#queue.wake(session);
        return { seq: session.state.seq, events };
      } catch (thrown) {
        this.#admission.failed(thrown);
        throw thrown;
      } finally {
        leave();
      }
    });
  }

  async #carryOut(session: LiveSession, command: Command, caller: Caller): Promise<DurableEvent[]> {
    if (command.type === 'approval.explain') return explain(session, this.#deps, command.approval);
    if (command.type === 'context.compact') return this.#compact(session);
    const replaced = await replacedBy(session, command);
    const approvalKnown = await this.#knowsApproval(session, command);
    const mostQueued = this.#limits.inputsQueued;
    const around = { ...this.#parts, mostQueued, replaced, approvalKnown };
    if (mayEndTurn(command)) await readContext(session, this.#deps);
    return session.transact((state) => {
      const decided = decide(state, command, decisionContext(session, command, caller, around));
      return withContextUse(decided, session, this.#deps);
    });
  }

  /** Whether the approval that the command answers was ever requested in the session. */
  async #knowsApproval(session: LiveSession, command: Command): Promise<boolean> {
    if (command.type !== 'approval.answer' || !command.approval) return false;
    if (waitingCall(session.state)?.approval === command.approval) return true;
    return this.#resolver.hasApproval(session.ref, command.approval);
  }

  /**
   * Calls `sink` with every event after number `after` and then with everything that happens, ephemeral events included:
   * no gap, no repeat. `'now'` begins with what happens next. `begin` is called when the past has been told, before
   * anything else can happen.
   */
  async watch(
    ref: SessionRef,
    after: number | 'now',
    sink: Sink,
    begin?: (watch: Watch) => void,
  ): Promise<Watch> {
    return this.#sessions.use(ref, async (session) => {
      // A watcher that has read what was stored just now is ahead of the session, for a moment.
      if (after !== 'now' && after > session.state.seq) await session.refresh();
      for (let seen = after; seen !== 'now' && seen < session.state.seq; ) {
        for await (const event of session.events(seen)) {
          if (event.seq > session.state.seq) break; // stored just now: it will be told as it happens
          sink(event, session.observed);
          seen = event.seq;
        }
      }
      const watch: Watch = { ...session.observed, stop: session.channel.subscribe(sink) };
      begin?.(watch);
      return watch;
    });
  }

  /** Calls `sink` with everything that happens from now on in any session of the owner. */
  watchOwner(owner: PrincipalId, sink: Sink): () => void {
    return this.#parts.bus.subscribeOwner(owner, sink);
  }

  /** As `watchOwner`, of the principal's sessions; an admin's are everyone's. */
  watchAll(principal: Principal, sink: Sink): () => void {
    requirePermission(principal, 'chat:read');
    const { bus } = this.#parts;
    return principal.role === 'admin' ? bus.subscribeAll(sink) : bus.subscribeOwner(principal.id, sink);
  }

  async snapshot(ref: SessionRef): Promise<SessionSnapshot> {
    return this.#sessions.use(ref, async (session) => snapshotOf(session));
  }

  /** Resolves when the session has nothing to do, or waits for a person. */
  async rested(ref: SessionRef): Promise<void> {
    await this.#sessions.use(ref, async (session) => {
      // Between two events that were made at once a session may seem to rest: it is looked at again after them.
      while (nextAction(session.state).kind !== 'idle') {
        const { promise, resolve } = Promise.withResolvers<void>();
        const sink: Sink = () => {
          if (nextAction(session.state).kind === 'idle') resolve();
        };
        await promise.finally(session.channel.subscribe(sink));
      }
    });
  }

  async record(ref: SessionRef): Promise<SessionRecord | null> {
    return this.#parts.store.load(ref);
  }

  /** Removes the session for good, whatever is under way in it. Throws `not_found` where there is none. */
  async erase(ref: SessionRef, caller: Caller): Promise<void> {
    authorise(ref, { type: 'session.clear' }, caller.principal);
    const erased = await this.#sessions.use(ref, async (session) => {
      // Asked for at once: nothing comes between the end of the turn, which everyone is told, and that of the session.
      const stopped = session.transact(({ turn }) =>
        turn ? interruption(turn, 'cancelled', streamedSoFar(session.open, this.#parts.now)) : [],
      );
      const [, gone] = await Promise.all([stopped, session.erase(caller.principal.id)]);
      return gone;
    });
    if (!erased) throw new Fault('not_found', 'There is no such session.');
  }

  /** One page of events. */
  async events(ref: SessionRef, after: number, limit: number): Promise<DurableEvent[]> {
    return this.#parts.store.read(ref, after, limit);
  }

  /** The principal's sessions, the one that changed last first; an admin's list has everyone's. */
  async list(principal: Principal, page: Omit<SessionQuery, 'owner'>): Promise<SessionPage> {
    requirePermission(principal, 'chat:read');
    return this.#parts.store.list({ ...page, owner: ownerFor(principal) });
  }

  /** What "always" has allowed in the sessions of one page of `list`, but for those that cannot be read. */
  async grants(principal: Principal, page: Omit<SessionQuery, 'owner'>): Promise<GrantPage> {
    const { sessions, next } = await this.list(principal, page);
    const standing: GrantPage['standing'][number][] = [];
    await this.#each(sessions, async (record) => {
      const grants = restedGrants(record) ?? (await this.snapshot(record.ref)).grants;
      if (grants.length > 0) standing.push({ record, grants });
    });
    return { standing, next };
  }

  /** How many such sessions `list` has on all its pages. */
  async count(principal: Principal, filter: Omit<SessionFilter, 'owner'>): Promise<number> {
    requirePermission(principal, 'chat:read');
    return this.#parts.store.count({ ...filter, owner: ownerFor(principal) });
  }

  /** One page of the sessions with an approval that this principal may answer, but for those that cannot be read. */
  async approvals(principal: Principal, page: { limit: number; cursor?: string }): Promise<ApprovalPage> {
    const filter = { awaitingApproval: true, archived: 'included' } as const;
    const { sessions, next } = await this.list(principal, { ...page, ...filter });
    const waiting: SessionSnapshot[] = [];
    await this.#each(sessions, async ({ ref }) => waiting.push(await this.snapshot(ref)));
    return { waiting, next };
  }

  /**
   * The session in which the approval was requested or the turn was started, be it open or over. Null for what is
   * unknown or not the principal's; an admin finds everyone's.
   */
  async lookup(principal: Principal, key: LookupKey): Promise<SessionRef | null> {
    const record = await this.#parts.store.lookup(key, { owner: ownerFor(principal) });
    return record?.ref ?? null;
  }

  /** Answers an approval by its id alone, whatever session it is in. */
  async answer(
    approval: ApprovalId,
    answer: Omit<Extract<CommandInput, { type: 'approval.answer' }>, 'type' | 'approval'>,
    caller: Caller,
  ): Promise<Receipt> {
    const ref = await this.lookup(caller.principal, { kind: 'approval', id: approval });
    if (!ref) throw new Fault('not_found', 'There is no such approval.');
    return this.send(ref, { ...answer, type: 'approval.answer', approval }, caller);
  }

  async contextUse(ref: SessionRef): Promise<ContextUse> {
    return this.#sessions.use(ref, (session) => currentUse(session, this.#deps));
  }

  toolSpecs(): (ToolSpec & { requiresApproval: boolean })[] {
    return [...this.#parts.tools.values()]
      .filter((tool) => !tool.special)
      .map((tool) => ({
        ...toolSpec(tool),
        requiresApproval: tool.asks ?? false,
      }));
  }

  /** Throws `tool_invalid` where the tool does not exist or its input does not fit. */
  checkCall(name: string, input: JsonObject): void {
    possibleCall(this.#parts.tools, name, input);
  }

  /** A summary of a document; nothing of it is kept. */
  async summarise(title: string, content: string, signal: AbortSignal): Promise<string> {
    return summarise(this.#deps, title, content, signal);
  }

  /** No new turns; resolves when the running moves are done, or after `graceMs`. What is left resumes at the next start. */
  async drain(graceMs: number): Promise<boolean> {
    return this.#queue.drain(graceMs);
  }

  /** One after another. A session that cannot be read is logged and left alone: the others must not wait for it. */
  async #each(
    records: AsyncIterable<SessionRecord> | Iterable<SessionRecord>,
    visit: (record: SessionRecord) => Promise<unknown>,
  ): Promise<void> {
    for await (const record of records) {
      try {
        await visit(record);
      } catch (thrown) {
        this.#parts.log.error({ err: thrown, session: record.ref.id }, 'a session cannot be read');
      }
    }
  }

  async #compact(session: LiveSession): Promise<DurableEvent[]> {
    if (session.state.turn) throw new Fault('busy', 'A turn is running; compact when it has ended.');
    return compactNow(session, this.#deps, { signal: AbortSignal.timeout(120_000) });
  }

  /** Drives the session while this node holds its lease. False if another node holds it: it is tried again later. */
  async #drive(session: LiveSession, stopping: () => boolean): Promise<boolean> {
    const { leases } = this.#parts;
    try {
      const lease = await leases.claim(session.ref);
      if (!lease) return false;
      const lost = () => !leases.good(lease);
      session.mayDrive = () => !lost();
      try {
        await drive(session, this.#deps, () => stopping() || lost());
        return !lost();
      } finally {
        await leases.release(lease);
      }
    } catch (thrown) {
      this.#parts.log.error({ err: thrown, session: session.ref.id }, 'a session cannot go on');
      return false;
    }
  }
}
