/**
 * Group commit: writes waiting appends in one statement. At most two groups are in flight; further appends
 * form the next group, so that groups grow while the database is slow. Appends to one session are written in
 * call order.
 */
import { Fault } from '@parlance/protocol';
import type { Driver } from '../../core/ports/lease.ts';
import type { Append, Appended } from './append.ts';

const GROUPS_IN_FLIGHT = 2;
/** Larger groups gain nothing, and their sessions would wait for each other. */
const MAX_GROUP_SIZE = 128;
const MAX_GROUP_CHARACTERS = 4 * 1024 * 1024;

export type QueueLimits = { readonly writes: number; readonly characters: number };
export const QUEUE_LIMITS: QueueLimits = { writes: 1_000, characters: 16 * 1024 * 1024 };

export type GroupAppendOptions = {
  /** Writes the group and returns results in the order of the appends. */
  readonly write: (group: readonly Append[]) => Promise<Appended[]>;
  /** called with the number of appends that each group has written */
  readonly onCommit: (appends: number) => void;
  readonly limits?: QueueLimits;
};

export interface GroupAppend {
  /**
   * Resolves when the append is durable. Rejects with the reason for its refusal (others of the group are
   * still written), with the failure of the group, or with `overloaded` if the queue is full.
   */
  add(append: Append): Promise<Driver | null>;
  /**
   * Resolves when the groups in flight, or the one of the session, are decided. Null if there are none. Does
   * not wait for work started by `runExclusive`, which may itself read.
   */
  inFlight(key?: string): Promise<void> | null;
  /** Runs `work` after all earlier appends to the session; later ones wait for it. */
  runExclusive<Result>(key: string, work: () => Promise<Result>): Promise<Result>;
  /** Resolves when all earlier requests are decided. */
  flush(): Promise<void>;
}

type Waiting = {
  readonly append: Append;
  /** resolves when the append is decided */
  readonly decided: Promise<unknown>;
  resolve(driver: Driver | null): void;
  reject(reason: unknown): void;
};

export function groupAppend({ write, onCommit, limits = QUEUE_LIMITS }: GroupAppendOptions): GroupAppend {
  let waiting: Waiting[] = [];
  let characters = 0;
  let scheduled = false;
  let groups = 0;
  /** by session: resolves when its append or `runExclusive` work in flight is decided */
  const busy = new Map<string, Promise<void>>();
  /** sessions with an append in a group in flight */
  const inFlightBySession = new Map<string, Promise<void>>();

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      start();
    });
  }

  function start(): void {
    while (groups < GROUPS_IN_FLIGHT) {
      const group = nextGroup();
      if (group.length === 0) return;
      groups++;
      const done = send(group).finally(() => {
        groups--;
        for (const { append } of group) {
          busy.delete(append.key);
          inFlightBySession.delete(append.key);
        }
        start();
      });
      for (const { append } of group) {
        busy.set(append.key, done);
        inFlightBySession.set(append.key, done);
      }
    }
  }

  /** The oldest append of each session that is not busy. */
  function nextGroup(): Waiting[] {
    const group: Waiting[] = [];
    const rest: Waiting[] = [];
    const seen = new Set<string>();
    let size = 0;
    for (const one of waiting) {
      const { key, characters: own } = one.append;
      const fits =
        group.length < MAX_GROUP_SIZE && (group.length === 0 || size + own <= MAX_GROUP_CHARACTERS);
      if (!fits || seen.has(key) || busy.has(key)) rest.push(one);
      else {
        group.push(one);
        size += own;
      }
      seen.add(key);
    }
    waiting = rest;
    characters -= size;
    return group;
  }

  async function send(group: readonly Waiting[]): Promise<void> {
    try {
      const answers = await write(group.map(({ append }) => append));
      let written = 0;
      for (const [index, { resolve, reject }] of group.entries()) {
        const answer = answers[index];
        if (answer?.written) {
          written++;
          resolve(answer.driver);
        } else reject(answer?.reason ?? new Error('the database returned no result for an append'));
      }
      onCommit(written);
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  return {
    add(append) {
      const { promise, resolve, reject } = Promise.withResolvers<Driver | null>();
      const isFull =
        waiting.length >= limits.writes ||
        (waiting.length > 0 && characters + append.characters > limits.characters);
      if (isFull) throw new Fault('overloaded', 'The server cannot keep up with storing events.');
      waiting.push({ append, resolve, reject, decided: promise.catch(() => undefined) });
      characters += append.characters;
      schedule();
      return promise;
    },
    inFlight(key) {
      if (key !== undefined) return inFlightBySession.get(key) ?? null;
      return inFlightBySession.size === 0
        ? null
        : Promise.all(inFlightBySession.values()).then(() => undefined);
    },
    async runExclusive(key, work) {
      const before = () =>
        waiting.findLast(({ append }) => append.key === key)?.decided ?? busy.get(key) ?? null;
      for (let first = before(); first; first = before()) await first;
      const { promise, resolve } = Promise.withResolvers<void>();
      busy.set(key, promise);
      try {
        return await work();
      } finally {
        busy.delete(key);
        resolve();
        schedule();
      }
    },
    async flush() {
      while (waiting.length > 0 || busy.size > 0) {
        start();
        await Promise.all(busy.values());
      }
    },
  };
}
