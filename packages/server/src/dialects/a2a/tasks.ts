/** Finds and reads tasks. Only the caller's own: those of others do not exist, for an admin either. */
import { type Principal, SessionId, type TurnId } from '@parlance/protocol';
import {
  type Engine,
  type IndexedTurn,
  requirePermission,
  type SessionRef,
  type TurnState,
} from '../../core/index.ts';
import { latestEvents } from '../kit/latest-events.ts';
import { replay } from '../kit/replay.ts';
import type { SubscriptionHub } from '../kit/subscription-hub.ts';
import { contextIdFor } from './ids.ts';
import { hasEnded, type Task, type TaskState } from './objects.ts';
import { presentTask, START, type State, step, taskObject } from './projection.ts';

const PAGE = 500;

/** Where in the log a task is. */
export type IndexedTask = Pick<IndexedTurn, 'id' | 'ref' | 'first' | 'last'> & { readonly state: TaskState };

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

export const taskOf = ({ id, ref, state, first, last }: IndexedTurn): IndexedTask => ({
  id,
  ref,
  first,
  last,
  state: STATES[state],
});

type TasksContext = {
  readonly engine: Pick<Engine, 'events' | 'eventsBackwards' | 'lookup' | 'record' | 'turn'>;
  readonly hub: Pick<SubscriptionHub<State>, 'read'>;
};

export class Tasks {
  constructor(private readonly ctx: TasksContext) {}

  /** The session of a context, which may not exist; null if it cannot have this name. */
  contextOf({ id }: Principal, contextId: string | undefined, messageId: string): SessionRef | null {
    if (contextId === undefined) return { owner: id, id: contextIdFor(id, messageId) };
    const parsed = SessionId.safeParse(contextId);
    return parsed.success ? { owner: id, id: parsed.data } : null;
  }

  async find(principal: Principal, id: string): Promise<IndexedTask | null> {
    const { engine } = this.ctx;
    requirePermission(principal, 'chat:read');
    const turn = id as TurnId;
    const ref = await engine.lookup(principal, { kind: 'turn', id: turn }, 'own');
    const found = ref && (await engine.turn(ref, turn));
    return found && taskOf(found);
  }

  /** The task of a message that was sent to the session lately. */
  async ofMessage(ref: SessionRef, messageId: string): Promise<Pick<IndexedTask, 'id' | 'ref'> | null> {
    const record = await this.ctx.engine.record(ref);
    if (!record) return null;
    for await (const { events } of latestEvents(this.ctx.engine, record, PAGE)) {
      const sent = events.findLast((event) => event.type === 'input.accepted' && event.key === messageId);
      if (sent?.type !== 'input.accepted') continue;
      const started = events.find((event) => event.type === 'turn.started' && event.input === sent.input);
      const id = sent.turn ?? (started?.type === 'turn.started' ? started.turn : undefined);
      return id === undefined ? null : { id, ref };
    }
    return null;
  }

  /** As it is now; null if it has been deleted. */
  read(task: IndexedTask): Promise<Task | null> {
    return hasEnded(task.state) ? this.#readLog(task) : this.reread(task);
  }

  /** As `read`, for a task whose state is not known. */
  async reread({ id, ref }: Pick<IndexedTask, 'id' | 'ref'>): Promise<Task | null> {
    const { state, snapshot } = await this.ctx.hub.read(ref);
    const task = state.tasks.get(id);
    if (task) return presentTask(task, snapshot.open);
    const turn = await this.ctx.engine.turn(ref, id);
    return turn && this.#readLog(turn);
  }

  async #readLog({ id, ref, first, last }: Omit<IndexedTask, 'state'>): Promise<Task | null> {
    let state = START;
    for (let after = first - 1; after < last; ) {
      const events = await this.ctx.engine.events(ref, after, Math.min(PAGE, last - after));
      const end = events.at(-1);
      if (!end) return null;
      for (const replayed of replay(step, state, events)) state = replayed.state;
      after = end.seq;
    }
    const task = state.tasks.get(id);
    return task ? taskObject(task) : null;
  }
}
