/** In: sessions that a client creates, opens, lists and closes. */
import { type DurableEvent, Fault, type Principal, type SessionId } from '@parlance/protocol';
import type { z } from 'zod';
import type { SessionRef } from '../../core/index.ts';
import type { DialectContext } from '../kit/dialect.ts';
import { replay } from '../kit/replay.ts';
import type { SubscriptionHub } from '../kit/subscription-hub.ts';
import type { Client } from './client.ts';
import { type ListSessions, Position } from './contract.ts';
import { type State, start, step } from './outbound.ts';

export type Context = Pick<DialectContext, 'engine' | 'log' | 'newId' | 'about'>;

export const MODES = [
  { id: 'suggest', name: 'Ask before edits and commands' },
  { id: 'auto-edit', name: 'Ask before commands' },
  { id: 'full-auto', name: 'Run commands in the sandbox without asking' },
] as const;

const PAGE = 200;
const LISTED = 50;
/** The most pages of sessions that are read for one page of the response. */
const MAX_PAGES = 20;

export type Caller = { readonly principal: Principal; readonly client: Client };

export class Sessions {
  constructor(
    private readonly ctx: Context,
    private readonly hub: SubscriptionHub<State>,
  ) {}

  async create(cwd: string, { principal, client }: Caller): Promise<SessionRef> {
    const ref = { owner: principal.id, id: this.ctx.newId() as SessionId };
    const caller = { principal, dialect: 'acp', via: client.id };
    await this.ctx.engine.send(ref, { type: 'session.create', cwd, labels: { cwd } }, caller);
    await this.resume(ref, client);
    return ref;
  }

  /** Throws `not_found`, also for sessions of other users. */
  async find(id: string, { principal }: Caller): Promise<SessionRef> {
    const ref = await this.ctx.engine.find(principal, id);
    if (!ref) throw new Fault('not_found', 'There is no such session.');
    return ref;
  }

  /** The response about an opened session. */
  async view(ref: SessionRef): Promise<object> {
    const { approvalMode, agent, seq } = await this.ctx.engine.snapshot(ref);
    const own = this.ctx.engine.catalog.agents.find(({ id }) => id === agent.id)?.approval;
    const currentModeId = approvalMode ?? own ?? this.ctx.about.approval;
    return { modes: { currentModeId, availableModes: MODES }, _meta: { 'parlance/seq': seq } };
  }

  /**
   * Sends the past of the session, then live updates. Permission requests are held back until `client.release`.
   */
  async load(ref: SessionRef, client: Client, position: z.output<typeof Position> = ALL): Promise<void> {
    await this.#open(ref, client);
    const past = new Past(this.ctx, { ref, client, position });
    await this.hub.subscribe(ref, client, { cursor: past });
  }

  /** Sends live updates from now on. Permission requests are held back as in `load`. */
  async resume(ref: SessionRef, client: Client): Promise<void> {
    await this.#open(ref, client);
    await this.hub.subscribe(ref, client, { shown: (body) => 'id' in body });
  }

  close(id: string, client: Client): void {
    const open = client.sessions.get(id);
    if (!open) return;
    client.withdrawAll(id);
    this.hub.unsubscribe(open.ref, client);
  }

  async list({ cwd, cursor }: z.output<typeof ListSessions>, { principal }: Caller): Promise<object> {
    const { engine } = this.ctx;
    const sessions: object[] = [];
    let next = cursor ?? undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const found = await engine.list(principal, { limit: LISTED - sessions.length, cursor: next });
      for (const { ref, labels, title, updatedAt } of found.sessions) {
        const folder = labels.cwd ?? engine.root;
        if (ref.owner !== principal.id || (cwd && cwd !== folder)) continue;
        sessions.push({
          sessionId: ref.id,
          cwd: folder,
          title: title || null,
          updatedAt: new Date(updatedAt).toISOString(),
        });
      }
      next = found.next ?? undefined;
      if (next === undefined || sessions.length === LISTED) break;
    }
    return { sessions, ...(next !== undefined && { nextCursor: next }) };
  }

  async #open(ref: SessionRef, client: Client): Promise<void> {
    const { created } = await this.ctx.engine.snapshot(ref);
    this.hub.unsubscribe(ref, client);
    client.hold(ref.id);
    client.sessions.set(ref.id, { ref, folder: created?.cwd ?? this.ctx.engine.root });
  }
}

const ALL: z.output<typeof Position> = { after: 0, keys: [] };

type PastParts = {
  readonly ref: SessionRef;
  readonly client: Client;
  readonly position: z.output<typeof Position>;
};

/** The stored events of a session, for a subscriber that reads them before live ones. */
class Past {
  seq = 0;
  #state: State | null = null;

  constructor(
    private readonly ctx: Context,
    private readonly parts: PastParts,
  ) {}

  async catchUp(head: number): Promise<void> {
    const { ref, client } = this.parts;
    while (this.seq < head && client.open) {
      const events = await this.ctx.engine.events(ref, this.seq, Math.min(PAGE, head - this.seq));
      if (events.length === 0) return;
      this.#state ??= { ...start(await this.ctx.engine.snapshot(ref)), block: null, titled: false };
      for (const { event, state, bodies } of replay(step, this.#state, events)) {
        this.#state = state;
        if (this.#isNew(event))
          for (const body of bodies)
            if (body.method === 'session/update') client.send(JSON.stringify(body), body);
      }
      this.seq = events.at(-1)?.seq ?? head;
      await client.ready();
    }
  }

  #isNew(event: DurableEvent): boolean {
    const { after, keys } = this.parts.position;
    if (event.type === 'input.accepted' && event.key !== undefined && keys.includes(event.key))
      this.#own.add(event.input);
    if (event.type === 'turn.started' && this.#own.has(event.input)) return false;
    return event.seq > after;
  }

  readonly #own = new Set<string>();
}

export const positionOf = (given: unknown): z.output<typeof Position> | null => {
  const parsed = Position.safeParse(given);
  return parsed.success ? parsed.data : null;
};
