/** One session: what can be asked of it, and what happens in it. */
import type {
  ApprovalAnswer,
  ApprovalId,
  Command,
  CommandInput,
  DurableEvent,
  Part,
  SessionId,
} from '@parlance/protocol';
import { type FramesEvent, sessionFrames } from './activity.ts';
import type { DurableEventPage, Receipt, SessionDetails, SessionStreamEvent } from './answers.ts';
import { type EventsOptions, sessionEvents } from './event-stream.ts';
import { newKey } from './key.ts';
import { type LiveView, liveView } from './live-view.ts';
import type { StreamContext, WatchOptions } from './reconnecting-stream.ts';
import type { SessionView } from './view.ts';

export type CallOptions = { readonly signal?: AbortSignal };

export type SendOptions = CallOptions & {
  /** an input that is sent twice with one key is taken once; made where it is left out */
  readonly key?: string;
};

type Of<Type extends CommandInput['type']> = Omit<Extract<CommandInput, { type: Type }>, 'type'>;

export type SubmitOptions = SendOptions & Omit<Of<'input.submit'>, 'parts'>;

export type AnswerOptions = CallOptions & Omit<Of<'approval.answer'>, 'answer' | 'approval'>;

/** `key` is that of the event `input.accepted`, by which a page knows its own message again. */
export type InputReceipt = Receipt & { readonly key: string };

/** Whether it is safe to send a command again when its answer was lost, because twice is the same as once. */
const REPEATABLE: Readonly<Record<Command['type'], boolean>> = {
  'session.create': true,
  'input.submit': true, // by its key
  'session.rename': true,
  'session.configure': true,
  'session.archive': true,
  'session.label': true,
  'turn.cancel': false, // the second would cancel the next turn
  'approval.answer': false, // someone else's answer could not be told from our own
  'approval.explain': false,
  'call.answer': false,
  'grant.revoke': false,
  'context.compact': false,
  'session.clear': false,
};

/** They answer when the model has. */
const PATIENT: ReadonlySet<string> = new Set(['approval.explain', 'context.compact']);

export class SessionHandle {
  constructor(
    readonly id: SessionId,
    private readonly context: StreamContext,
  ) {}

  /** The session and what goes on in it. */
  async get({ signal }: CallOptions = {}): Promise<SessionDetails> {
    return this.context.wire.json({ path: this.#path(), signal });
  }

  /** Any command of the protocol. Durable when it resolves. */
  async send(command: CommandInput, { key, signal }: SendOptions = {}): Promise<Receipt> {
    const keyed = key ?? (command.type === 'input.submit' ? newKey() : undefined);
    return this.context.wire.json({
      method: 'POST',
      path: this.#path('/commands'),
      headers: keyed === undefined ? {} : { 'idempotency-key': keyed },
      body: command,
      signal,
      repeatable: REPEATABLE[command.type],
      patient: PATIENT.has(command.type),
    });
  }

  /** Begins the session; nothing where it is there already. */
  async create({ signal, ...fields }: CallOptions & Of<'session.create'> = {}): Promise<Receipt> {
    return this.send({ type: 'session.create', ...fields }, { signal });
  }

  /**
   * Says something; a session that is not there begins with it. Accepted and durable when it resolves; the answer comes
   * as events. After a lost answer it is sent again with the same key, and taken once.
   */
  async submit(input: string | Part[], options: SubmitOptions = {}): Promise<InputReceipt> {
    const { key = newKey(), signal, ...fields } = options;
    const parts: Part[] = typeof input === 'string' ? [{ type: 'text', text: input }] : input;
    return { ...(await this.send({ type: 'input.submit', parts, ...fields }, { key, signal })), key };
  }

  /**
   * What has happened after `after`, a snapshot, then what happens. It connects again by itself, and ends when
   * `signal` is aborted, when the loop is left, or with a `ParlanceError` where the server says no.
   */
  events(options: EventsOptions = {}): AsyncGenerator<SessionStreamEvent, void> {
    return sessionEvents(this.context, this.id, options);
  }

  /** What passes on the sockets that are attached to the session, in whatever dialect: to debug a client with. */
  frames(options: WatchOptions = {}): AsyncGenerator<FramesEvent, void> {
    return sessionFrames(this.context, this.id, options);
  }

  /** The session as a chat shows it, kept up to date until it is closed. `start` is a view to go on from. */
  live(start?: SessionView): LiveView {
    return liveView((options) => this.events(options), this.context.clock, start);
  }

  /** One page of events. */
  async historyPage({
    after,
    limit,
    signal,
  }: CallOptions & { after?: number; limit?: number } = {}): Promise<DurableEventPage> {
    return this.context.wire.json({ path: this.#path('/events'), query: { after, limit }, signal });
  }

  /** All events up to the present one, read page by page. */
  async *history({
    after = 0,
    signal,
  }: CallOptions & { after?: number } = {}): AsyncGenerator<DurableEvent, void> {
    for (let from: number | null = after; from !== null; ) {
      const page: DurableEventPage = await this.historyPage({ after: from, limit: 1_000, signal });
      yield* page.events;
      from = page.next;
    }
  }

  /** The whole session as a file, as the server writes it; the body is yours to read or to stream to disk. */
  async export({ signal }: CallOptions = {}): Promise<Response> {
    return this.context.wire.response({ path: this.#path('/export'), signal });
  }

  async cancel(options?: CallOptions): Promise<Receipt> {
    return this.send({ type: 'turn.cancel' }, options);
  }

  /** Answers the call that waits. Cite its `hash` to answer for exactly what was shown. */
  async answer(
    approval: ApprovalId,
    answer: ApprovalAnswer,
    { signal, ...fields }: AnswerOptions = {},
  ): Promise<Receipt> {
    return this.send({ type: 'approval.answer', approval, answer, ...fields }, { signal });
  }

  /** Has the model explain what waits; the explanation is an event. */
  async explain(approval?: ApprovalId, options?: CallOptions): Promise<Receipt> {
    return this.send({ type: 'approval.explain', approval }, options);
  }

  /** Makes the context smaller. Resolves when the model has summarised it. */
  async compact(options?: CallOptions): Promise<Receipt> {
    return this.send({ type: 'context.compact' }, options);
  }

  /** Empties the context; the events stay. */
  async clear(options?: CallOptions): Promise<Receipt> {
    return this.send({ type: 'session.clear' }, options);
  }

  async rename(title: string, options?: CallOptions): Promise<Receipt> {
    return this.send({ type: 'session.rename', title }, options);
  }

  /** The model, the approval mode and the agent of this session; null: as the server has it. */
  async configure({ signal, ...fields }: CallOptions & Of<'session.configure'>): Promise<Receipt> {
    return this.send({ type: 'session.configure', ...fields }, { signal });
  }

  async archive(options?: CallOptions): Promise<Receipt> {
    return this.send({ type: 'session.archive' }, options);
  }

  async label(labels: Record<string, string>, options?: CallOptions): Promise<Receipt> {
    return this.send({ type: 'session.label', labels }, options);
  }

  /** The session and all its events are gone when it resolves. */
  async erase({ signal }: CallOptions = {}): Promise<void> {
    await this.context.wire.response({ method: 'DELETE', path: this.#path(), signal });
  }

  /** What "always" has allowed. */
  async grants({ signal }: CallOptions = {}): Promise<readonly string[]> {
    const { grants } = await this.context.wire.json<{ grants: string[] }>({
      path: this.#path('/grants'),
      signal,
    });
    return grants;
  }

  /** Takes back what "always" has allowed. */
  async revoke(grant: string, { signal }: CallOptions = {}): Promise<void> {
    const path = this.#path(`/grants/${encodeURIComponent(grant)}`);
    await this.context.wire.json({ method: 'DELETE', path, signal });
  }

  #path(rest = ''): string {
    return `/v1/sessions/${encodeURIComponent(this.id)}${rest}`;
  }
}
