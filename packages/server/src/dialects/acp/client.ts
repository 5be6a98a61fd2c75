/**
 * The client of one socket: the sessions that it creates, opens, lists and closes, the requests that it has not answered, and frames
 * that are held back.
 */
import { isAbsolute, join } from 'node:path';
import { type ConnectionId, type DurableEvent, Fault, type SessionId } from '@parlance/protocol';
import type { z } from 'zod';
import type { Caller, SessionRef } from '../../core/index.ts';
import type { FrameTap, Pieces, Socket, Subscriber } from '../../http/connection.ts';
import { namesOfChain } from '../../lib/model-chain.ts';
import type { DialectContext } from '../kit/dialect.ts';
import { replay } from '../kit/replay.ts';
import type { SubscriptionHub } from '../kit/subscription-hub.ts';
import type { Body, CallContent, ListSessions, Position } from './contract.ts';
import { questionMessage, type State, start, step, updateBody, withdrawal } from './outbound.ts';

export type Context = Pick<DialectContext, 'engine' | 'log' | 'newId' | 'about'>;

/** A permission or a form. */
export type ClientRequest = Extract<Body, { id: string }>;

const MODES = [
  { id: 'suggest', name: 'Ask before edits and commands' },
  { id: 'auto-edit', name: 'Ask before commands' },
  { id: 'full-auto', name: 'Run commands in the sandbox without asking' },
] as const;

type Options = {
  readonly currentValue: string;
  readonly options: readonly { readonly id: string; readonly name: string }[];
};

const select = (id: 'mode' | 'model' | 'agent', name: string, { currentValue, options }: Options) => ({
  type: 'select',
  id,
  name,
  category: id === 'agent' ? '_agent' : id,
  currentValue,
  options: options.map((option) => ({ value: option.id, name: option.name })),
});

const LISTED = 50;
/** The most pages of sessions that are read for one page of the response. */
const MAX_PAGES = 20;

/** Polling interval for a slow reader, in milliseconds. */
const READY_MS = 5;

export class Client implements Subscriber {
  /** open sessions with their folders, by id */
  readonly #sessions = new Map<string, { readonly ref: SessionRef; readonly folder: string }>();
  /** requests that are not answered */
  readonly #pending = new Map<string, ClientRequest>();
  /** requests that are sent after the response that opens their session, by session */
  readonly #held = new Map<string, ClientRequest[]>();
  /** whether it shows forms; otherwise questions are messages, and the next prompt answers them */
  hasForms = false;

  constructor(
    private readonly socket: Socket,
    private readonly ctx: Context,
    private readonly hub: SubscriptionHub<State>,
  ) {}

  get id(): ConnectionId {
    return this.socket.id;
  }

  get open(): boolean {
    return this.socket.open;
  }

  answers(): boolean {
    return this.hasForms;
  }

  /** Throws if the client has no valid token. */
  get caller(): Caller {
    const { principal, id } = this.socket;
    if (!principal)
      throw new Fault('unauthenticated', 'Authentication required: the token is missing or not valid.');
    return { principal, dialect: 'acp', via: id };
  }

  // Sessions

  async create(caller: Caller, cwd: string): Promise<SessionRef> {
    const ref = { owner: caller.principal.id, id: this.ctx.newId() as SessionId };
    await this.ctx.engine.send(ref, { type: 'session.create', cwd, labels: { cwd } }, caller);
    await this.resume(ref);
    return ref;
  }

  /** Throws `not_found`, also for sessions of other users. */
  async find(id: string): Promise<SessionRef> {
    const ref = await this.ctx.engine.find(this.caller.principal, id);
    if (!ref) throw new Fault('not_found', 'There is no such session.');
    return ref;
  }

  /** The response about an opened session. */
  async view(ref: SessionRef) {
    const { engine, about } = this.ctx;
    const { approvalMode, agent, model, seq } = await engine.snapshot(ref);
    const { agents } = engine.catalog;
    const own = agents.find(({ id }) => id === agent.id);
    const currentModeId = approvalMode ?? own?.approval ?? about.approval;
    const named = agents.flatMap((one) => (one.model === undefined ? [] : namesOfChain(one.model)));
    const currentModel =
      model ?? (own?.model === undefined ? undefined : namesOfChain(own.model)[0]) ?? about.model;
    const models = new Set([about.model, ...named, currentModel]);
    return {
      modes: { currentModeId, availableModes: MODES },
      configOptions: [
        select('mode', 'Approval mode', { currentValue: currentModeId, options: MODES }),
        select('model', 'Model', {
          currentValue: currentModel,
          options: [...models].map((id) => ({ id, name: id })),
        }),
        select('agent', 'Agent', { currentValue: agent.id, options: agents }),
      ],
      _meta: { 'parlance/seq': seq },
    };
  }

  /** Sends the past of the session, then live updates. Permission requests are held back until `release`. */
  async load(ref: SessionRef, position: Position = { after: 0, keys: [] }): Promise<void> {
    await this.#open(ref);
    await this.hub.subscribe(ref, this, { cursor: new Past(this.ctx, this, ref, position) });
  }

  /** Sends live updates from now on. Permission requests are held back as in `load`. */
  async resume(ref: SessionRef): Promise<void> {
    await this.#open(ref);
    await this.hub.subscribe(ref, this, { shown: (body) => 'id' in body });
  }

  async #open(ref: SessionRef): Promise<void> {
    const { created } = await this.ctx.engine.snapshot(ref);
    this.hub.unsubscribe(ref, this);
    this.#held.set(ref.id, []);
    for (const [request, { params }] of this.#pending)
      if (params.sessionId === ref.id) this.#pending.delete(request);
    this.#sessions.set(ref.id, { ref, folder: created?.cwd ?? this.ctx.engine.root });
  }

  /** Withdraws the requests of the session, and stops its updates. */
  endSession(id: string): void {
    const open = this.#sessions.get(id);
    if (!open) return;
    for (const [request, { params }] of this.#pending)
      if (params.sessionId === id) this.#withdraw(request, JSON.stringify(withdrawal(request)));
    this.#held.delete(id);
    this.#sessions.delete(id);
    this.hub.unsubscribe(open.ref, this);
  }

  async list({ principal }: Caller, { cwd, cursor }: z.output<typeof ListSessions>): Promise<object> {
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

  // Requests

  /** Sends the requests of the session that were held back. */
  release(session: string): void {
    const held = this.#held.get(session) ?? [];
    this.#held.delete(session);
    for (const body of held) this.#request(body);
  }

  /** The request that is pending here; null if there is none, or it was answered. */
  answered(id: string): { readonly ref: SessionRef; readonly request: ClientRequest } | null {
    const request = this.#pending.get(id);
    this.#pending.delete(id);
    const ref = request && this.#sessions.get(request.params.sessionId)?.ref;
    return ref ? { ref, request } : null;
  }

  #request(body: ClientRequest): void {
    const { sessionId } = body.params;
    const held = this.#held.get(sessionId);
    if (held) return void held.push(body);
    this.#pending.set(body.id, body);
    this.socket.sendFrame(this.#located(body));
  }

  #withdraw(request: string, text: string): void {
    for (const [session, held] of this.#held)
      this.#held.set(
        session,
        held.filter(({ id }) => id !== request),
      );
    if (this.#pending.delete(request)) this.socket.send(text);
  }

  // Frames

  send(text: string, frame?: object, pieces?: Pieces): void {
    const body = frame as Body | undefined;
    if (body?.method === 'session/request_permission') this.#request(body);
    else if (body?.method === 'elicitation/create') {
      if (this.hasForms) this.#request(body);
    } else if (body?.method === '$/cancel_request') this.#withdraw(body.params.requestId, text);
    else {
      const whole = body && this.#located(body);
      if (whole && whole !== body) this.socket.sendFrame(whole);
      else this.socket.send(text, frame, pieces);
    }
  }

  close(code: number, reason: string): void {
    this.socket.close(code, reason);
  }

  tap(observe: FrameTap | null): void {
    this.socket.tap?.(observe);
  }

  /** Resolves when the reader has caught up, or has disconnected. */
  async ready(): Promise<void> {
    while (this.socket.open && this.socket.behind) await Bun.sleep(READY_MS);
  }

  /** Editors expect absolute paths. */
  #located<Shown extends Body>(body: Shown): Shown {
    if (body.method === '$/cancel_request' || body.method === 'elicitation/create') return body;
    const { params } = body;
    const folder = this.#sessions.get(params.sessionId)?.folder;
    const call = 'toolCall' in params ? params.toolCall : params.update;
    if (folder === undefined || !('toolCallId' in call)) return body;
    const content: readonly CallContent[] = call.content ?? [];
    const hasDiff = content.some(({ type }) => type === 'diff');
    if (!hasDiff && !('locations' in call)) return body;
    const absolute = (path: string) => (isAbsolute(path) ? path : join(folder, path));
    const whole = {
      ...call,
      ...('locations' in call && {
        locations: call.locations?.map(({ path }) => ({ path: absolute(path) })),
      }),
      ...(hasDiff && {
        content: content.map((part) =>
          part.type === 'diff' ? { ...part, path: absolute(part.path) } : part,
        ),
      }),
    };
    return {
      ...body,
      params: { ...params, ...('toolCall' in params ? { toolCall: whole } : { update: whole }) },
    };
  }
}

const PAGE = 200;

/** The stored events of a session, for a subscriber that reads them before live ones. */
class Past {
  seq = 0;
  #state: State | null = null;
  /** inputs that the client has sent itself */
  readonly #own = new Set<string>();

  constructor(
    private readonly ctx: Context,
    private readonly client: Client,
    private readonly ref: SessionRef,
    private readonly position: Position,
  ) {}

  async catchUp(head: number): Promise<void> {
    const { ref, client } = this;
    while (this.seq < head && client.open) {
      const events = await this.ctx.engine.events(ref, this.seq, Math.min(PAGE, head - this.seq));
      if (events.length === 0) return;
      this.#state ??= { ...start(await this.ctx.engine.snapshot(ref)), block: null, titled: false };
      for (const { event, state, bodies } of replay(step, this.#state, events)) {
        this.#state = state;
        if (this.#isNew(event))
          for (const body of [...bodies, ...this.#questions(event)])
            if (body.method === 'session/update') client.send(JSON.stringify(body), body);
      }
      this.seq = events.at(-1)?.seq ?? head;
      await client.ready();
    }
  }

  /** A question of the past is shown as a message, also to a client with forms. */
  #questions(event: DurableEvent): Body[] {
    return event.type === 'question.asked'
      ? [updateBody(this.ref.id, questionMessage(event), event.seq)]
      : [];
  }

  #isNew(event: DurableEvent): boolean {
    const { after, keys } = this.position;
    if (event.type === 'input.accepted' && event.key !== undefined && keys.includes(event.key))
      this.#own.add(event.input);
    if (event.type === 'turn.started' && this.#own.has(event.input)) return false;
    return event.seq > after;
  }
}
