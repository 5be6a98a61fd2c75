/** Finds and reads the caller's own tasks. Tasks of other users do not exist, even for an admin. */
import { type Principal, SessionId, type TurnId } from '@parlance/protocol';
import { type Engine, requirePermission, type SessionRecord, type SessionRef } from '../../core/api/index.ts';
import { replay } from '../shared/replay.ts';
import type { SubscriptionHub } from '../shared/subscription-hub.ts';
import { contextIdFor } from './ids.ts';
import { hasEnded, type Task } from './objects.ts';
import { presentTask, START, type State, step } from './projection.ts';
import { taskObject } from './task.ts';
import { type IndexedTask, TaskIndex } from './task-index.ts';

const PAGE = 500;
const SESSIONS = 100;

type TasksContext = {
  readonly engine: Pick<Engine, 'countTurns' | 'events' | 'list' | 'lookup' | 'record'>;
  readonly hub: Pick<SubscriptionHub<State>, 'read'>;
};

export type SessionChoice = {
  readonly contextId?: string | undefined;
  readonly status?: SessionRecord['status'][] | undefined;
};

export class Tasks {
  readonly #index: TaskIndex;

  constructor(private readonly ctx: TasksContext) {
    this.#index = new TaskIndex(ctx.engine);
  }

  /** The session of a context, which may not exist; null if the id is invalid. */
  contextOf({ id }: Principal, contextId: string | undefined, messageId: string): SessionRef | null {
    if (contextId === undefined) return { owner: id, id: contextIdFor(id, messageId) };
    const parsed = SessionId.safeParse(contextId);
    return parsed.success ? { owner: id, id: parsed.data } : null;
  }

  async find(principal: Principal, id: string): Promise<IndexedTask | null> {
    const { engine } = this.ctx;
    requirePermission(principal, 'chat:read');
    const ref = await engine.lookup(principal, { kind: 'turn', id: id as TurnId }, 'own');
    const record = ref && (await engine.record(ref));
    return record ? ((await this.#index.of(record)).get(id) ?? null) : null;
  }

  /** The task of a message that was already sent to the session. */
  async ofMessage(ref: SessionRef, messageId: string): Promise<IndexedTask | null> {
    const record = await this.ctx.engine.record(ref);
    const tasks = record ? [...(await this.#index.of(record)).values()] : [];
    return tasks.find(({ key }) => key === messageId) ?? null;
  }

  /** The current task; null if it was deleted. */
  read(task: IndexedTask): Promise<Task | null> {
    return hasEnded(task.state) ? this.#readLog(task) : this.#readPresent(task);
  }

  /** Like `read`, for a task whose state is unknown. */
  async reread({ id, ref }: Pick<IndexedTask, 'id' | 'ref'>): Promise<Task | null> {
    const record = await this.ctx.engine.record(ref);
    const indexed = record && (await this.#index.of(record)).get(id);
    return indexed ? this.read(indexed) : null;
  }

  /** The principal's sessions, or one of them, last changed first: no task is newer than its session. */
  async *sessions(principal: Principal, { contextId, status }: SessionChoice): AsyncGenerator<SessionRecord> {
    const { engine } = this.ctx;
    requirePermission(principal, 'chat:read');
    if (contextId !== undefined) {
      const ref = this.contextOf(principal, contextId, '');
      const record = ref && (await engine.record(ref));
      if (record) yield record;
      return;
    }
    // An admin's list would include the sessions of all users.
    const owner: Principal = { ...principal, role: 'user' };
    let cursor: string | undefined;
    do {
      const page = await engine.list(owner, { limit: SESSIONS, cursor, status });
      yield* page.sessions;
      cursor = page.next ?? undefined;
    } while (cursor !== undefined);
  }

  /** The tasks of a session, in the order in which their messages were accepted. */
  async of(record: SessionRecord): Promise<IndexedTask[]> {
    return [...(await this.#index.of(record)).values()];
  }

  /** How many tasks the principal has. */
  count(principal: Principal): Promise<number> {
    return this.ctx.engine.countTurns(principal);
  }

  async #readPresent({ id, ref }: IndexedTask): Promise<Task | null> {
    const { state, snapshot } = await this.ctx.hub.read(ref);
    const task = state.tasks.get(id);
    // If there is none, the task has ended since it was looked up.
    return task ? presentTask(task, snapshot.open) : this.reread({ id, ref });
  }

  async #readLog({ id, ref, from, to }: IndexedTask): Promise<Task | null> {
    let state = START;
    for (let after = from - 1; after < to; ) {
      const events = await this.ctx.engine.events(ref, after, Math.min(PAGE, to - after));
      const last = events.at(-1);
      if (!last) return null;
      for (const replayed of replay(step, state, events)) state = replayed.state;
      after = last.seq;
    }
    const task = state.tasks.get(id);
    return task ? taskObject(task) : null;
  }
}
