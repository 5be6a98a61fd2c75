/** The tasks of a session and their positions in the log. Kept in memory, and updated from the log. */
import type { DurableEvent } from '@parlance/protocol';
import { type Engine, type SessionRecord, type SessionRef, sessionKey } from '../../core/api/index.ts';
import { LruMap } from '../../lib/lru-map.ts';
import { KeyedQueue } from '../shared/keyed-queue.ts';
import { replay } from '../shared/replay.ts';
import type { StreamResponse, TaskState } from './objects.ts';
import { START, type State, step } from './projection.ts';

export type IndexedTask = {
  readonly id: string;
  readonly ref: SessionRef;
  /** the idempotency key of its message */
  readonly key: string | undefined;
  readonly state: TaskState;
  /** when it entered this state */
  readonly timestamp: string;
  /** number of the event that accepted its message, and of its last event so far */
  readonly from: number;
  readonly to: number;
};

type Indexed = {
  /** distinguishes a session from a deleted one with the same id */
  readonly createdAt: number;
  head: number;
  state: State;
  /** messages whose turn has not started */
  readonly inputs: Map<string, DurableEvent<'input.accepted'>>;
  readonly tasks: Map<string, IndexedTask>;
};

const PAGE = 500;
const MOST_SESSIONS = 2_000;

export class TaskIndex {
  readonly #sessions = new LruMap<Indexed>(MOST_SESSIONS);
  readonly #queue = new KeyedQueue();

  constructor(private readonly engine: Pick<Engine, 'events'>) {}

  /** In the order in which their messages were accepted. */
  of(record: SessionRecord): Promise<ReadonlyMap<string, IndexedTask>> {
    const key = sessionKey(record.ref);
    return this.#queue.run(key, async () => {
      const known = this.#sessions.get(key);
      const isSame = known && known.createdAt === record.createdAt && known.head <= record.head;
      const indexed = isSame ? known : emptyIndex(record);
      await this.#update(indexed, record);
      this.#sessions.set(key, indexed);
      return indexed.tasks;
    });
  }

  async #update(indexed: Indexed, { ref, head }: SessionRecord): Promise<void> {
    while (indexed.head < head) {
      const events = await this.engine.events(ref, indexed.head, PAGE);
      if (events.length === 0) return; // deleted in the meantime
      for (const { event, state, bodies } of replay(step, indexed.state, events)) {
        indexed.state = state;
        indexed.head = event.seq;
        if (event.type === 'input.accepted') indexed.inputs.set(event.input, event);
        for (const body of bodies) note(indexed, body, { event, ref });
        if (event.type === 'turn.started') indexed.inputs.delete(event.input);
      }
    }
  }
}

type Source = { readonly event: DurableEvent; readonly ref: SessionRef };

function note({ tasks, inputs }: Indexed, body: StreamResponse, { event, ref }: Source): void {
  const { seq } = event;
  if ('task' in body) {
    const { id, status } = body.task;
    const isBegun = event.type === 'input.accepted' || event.type === 'turn.started';
    const input = isBegun ? inputs.get(event.input) : undefined;
    const { state, timestamp } = status;
    tasks.set(id, { id, ref, key: input?.key, state, timestamp, from: input?.seq ?? seq, to: seq });
  } else if ('statusUpdate' in body) {
    const { taskId, status } = body.statusUpdate;
    const known = tasks.get(taskId);
    const { state, timestamp } = status;
    if (known) tasks.set(taskId, { ...known, state, timestamp, to: seq });
  }
}

const emptyIndex = ({ createdAt }: SessionRecord): Indexed => ({
  createdAt,
  head: 0,
  state: START,
  inputs: new Map(),
  tasks: new Map(),
});
