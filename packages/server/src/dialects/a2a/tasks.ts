/** Finds, reads and follows tasks. Only the caller's own: those of others do not exist, for an admin either. */
import { type ConnectionId, type Principal, SessionId, type TurnId } from '@parlance/protocol';
import { type IndexedTurn, requirePermission, type SessionRef, type TurnState } from '../../core/index.ts';
import type { Pieces, Subscriber } from '../../http/connection.ts';
import type { DialectContext } from '../kit/dialect.ts';
import { latestEvents, replay } from '../kit/replay.ts';
import type { SubscriptionHub } from '../kit/subscription-hub.ts';
import {
  hasEnded,
  isInterrupted,
  type Message,
  type StreamResponse,
  type Task,
  type TaskState,
  taskIdOf,
} from './contract.ts';
import { presentTask, START, type State, step, taskObject } from './outbound.ts';
import type { PushNotifications, Settings } from './push.ts';

/** The context of the endpoints. */
export type Context = DialectContext<Settings> & {
  readonly hub: SubscriptionHub<State>;
  readonly cards: { changedAt(card: string, now: number): number };
  /** null: there are none */
  readonly push: PushNotifications | null;
};

// Ids are derived from message ids, so that a repeated message is the same task.

export const taskIdFor = ({ owner, id }: SessionRef, messageId: string): TurnId =>
  derivedId('task', owner, id, messageId) as TurnId;

/** The session of a context, which may not exist; null if it cannot have this name. */
export function contextOf(
  { id: owner }: Principal,
  contextId: string | undefined,
  messageId: string,
): SessionRef | null {
  const parsed = SessionId.safeParse(contextId ?? derivedId('context', owner, messageId));
  return parsed.success ? { owner, id: parsed.data } : null;
}

/** A UUID of version 8. It includes the owner, because two users may send messages with the same id. */
function derivedId(...parts: readonly string[]): string {
  const bytes = new Bun.CryptoHasher('sha256').update(JSON.stringify(parts)).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

// Finding and reading

const STATES: Readonly<Record<TurnState, TaskState>> = {
  queued: 'TASK_STATE_SUBMITTED',
  working: 'TASK_STATE_WORKING',
  waiting: 'TASK_STATE_INPUT_REQUIRED',
  ended: 'TASK_STATE_COMPLETED',
  failed: 'TASK_STATE_FAILED',
  cancelled: 'TASK_STATE_CANCELED',
};

export const turnState = (state: string): TurnState | undefined =>
  (Object.keys(STATES) as TurnState[]).find((known) => STATES[known] === state);

const PAGE = 500;

export async function findTask(
  { engine }: Context,
  principal: Principal,
  id: string,
): Promise<IndexedTurn | null> {
  requirePermission(principal, 'chat:read');
  const turn = id as TurnId;
  const ref = await engine.lookup(principal, { kind: 'turn', id: turn }, 'own');
  return ref && engine.turn(ref, turn);
}

/** The task of a message that was sent to the session lately. */
export async function taskOfMessage(
  { engine }: Context,
  ref: SessionRef,
  messageId: string,
): Promise<TurnId | null> {
  const record = await engine.record(ref);
  if (!record) return null;
  for await (const { events } of latestEvents(engine, record, PAGE)) {
    const sent = events.findLast((event) => event.type === 'input.accepted' && event.key === messageId);
    if (sent?.type !== 'input.accepted') continue;
    const started = events.find((event) => event.type === 'turn.started' && event.input === sent.input);
    return sent.turn ?? (started?.type === 'turn.started' ? started.turn : null);
  }
  return null;
}

/** As it is now; null if it has been deleted. */
export const readTask = (ctx: Context, turn: IndexedTurn): Promise<Task | null> =>
  hasEnded(STATES[turn.state]) ? readLog(ctx, turn) : rereadTask(ctx, turn);

/** As `readTask`, for a task whose state is not known. */
export async function rereadTask(
  ctx: Context,
  { id, ref }: Pick<IndexedTurn, 'id' | 'ref'>,
): Promise<Task | null> {
  const { state, snapshot } = await ctx.hub.read(ref);
  const task = state.tasks.get(id);
  if (task) return presentTask(task, snapshot.open);
  const turn = await ctx.engine.turn(ref, id);
  return turn && readLog(ctx, turn);
}

async function readLog({ engine }: Context, { id, ref, first, last }: IndexedTurn): Promise<Task | null> {
  let state = START;
  for (let after = first - 1; after < last; ) {
    const events = await engine.events(ref, after, Math.min(PAGE, last - after));
    const end = events.at(-1);
    if (!end) return null;
    for (const replayed of replay(step, state, events)) state = replayed.state;
    after = end.seq;
  }
  const task = state.tasks.get(id);
  return task ? taskObject(task) : null;
}

// Following

/** Takes an encoded frame; returns false if it was rejected. */
type Sink = (text: string, frame: StreamResponse, pieces?: Pieces) => boolean;

type BufferedEvent = Parameters<Sink>;

/** Follows one task of a session: frames are held until they are read. */
export class TaskFeed implements Subscriber {
  readonly id = crypto.randomUUID() as string as ConnectionId;
  open = true;
  /** Resolves when the task has ended or waits for input, and the reader has been sent that state. */
  readonly settled: Promise<void>;
  readonly #settles = Promise.withResolvers<void>();
  readonly #held: BufferedEvent[] = [];
  #sink: Sink | null = null;
  /** the task before the client's own message to it was accepted */
  #opening: Task | null = null;

  private constructor(
    private readonly hub: Context['hub'],
    readonly ref: SessionRef,
    readonly taskId: TurnId,
  ) {
    this.settled = this.#settles.promise;
  }

  /**
   * Begins with the task, if it is unfinished. Passes the feed to `work` and returns it; closed if that fails. Otherwise the
   * caller must close it.
   */
  static async follow(
    { hub }: Context,
    ref: SessionRef,
    taskId: TurnId,
    work: (feed: TaskFeed) => Promise<TaskFeed> = async (feed) => feed,
  ): Promise<TaskFeed> {
    const feed = new TaskFeed(hub, ref, taskId);
    try {
      await hub.subscribe(ref, feed);
      return await work(feed);
    } catch (thrown) {
      feed.close();
      throw thrown;
    }
  }

  /** the task when it was subscribed to; null if it was not running */
  get task(): Task | null {
    const first = this.#held[0]?.[1];
    return first && 'task' in first ? first.task : null;
  }

  get isEmpty(): boolean {
    return this.#held.length === 0;
  }

  /** The client answers the task with these messages: the stream starts with the task after them. */
  answering(messages: readonly Message[]): void {
    const { task } = this;
    if (!task) return;
    this.#held.shift();
    this.#opening = { ...task, history: [...(task.history ?? []), ...messages] };
  }

  /** Sends the held frames, then later ones. */
  pipe(sink: Sink): void {
    this.#sink = sink;
    for (const held of this.#held.splice(0)) this.#pass(held);
  }

  send(text: string, frame: object, pieces?: Pieces): void {
    const response = frame as StreamResponse;
    if (!this.open || taskIdOf(response) !== this.taskId) return;
    if (this.#opening && 'statusUpdate' in response) {
      const { status } = response.statusUpdate;
      const opening = { task: { ...this.#opening, status } };
      this.#opening = null;
      this.#take([JSON.stringify(opening), opening]);
      if (!isInterrupted(status.state)) return;
    }
    this.#take([text, response, pieces]);
  }

  close(): void {
    this.open = false;
    this.hub.leave(this);
  }

  #take(held: BufferedEvent): void {
    if (this.#sink) this.#pass(held);
    else this.#held.push(held);
  }

  #pass(held: BufferedEvent): void {
    const [, response] = held;
    if (!this.#sink?.(...held)) {
      // Later frames must not be sent: the reader would miss one.
      this.close();
    } else if ('statusUpdate' in response && isInterrupted(response.statusUpdate.status.state)) {
      this.#settles.resolve();
    }
  }
}
