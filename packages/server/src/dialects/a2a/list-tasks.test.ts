import { describe, expect, test } from 'bun:test';
import type { SessionRecord } from '../../core/api/index.ts';
import type { Context } from './context.ts';
import { taskPage } from './list-tasks.ts';
import type { Task } from './objects.ts';
import { ListParams } from './schemas.ts';
import type { IndexedTask } from './task-index.ts';

const SESSIONS = 300;
const PAGE = 7;

/** Sessions with three tasks each, far apart in time, some as old as those of other sessions. */
const ALL = Array.from({ length: SESSIONS }, (_, number) => {
  const times = [number * 10, number * 5, (number * 37) % 1_000].map((time) => Math.min(time, number * 10));
  const tasks = times.map((time, index): IndexedTask => {
    const state = index === 2 ? 'TASK_STATE_FAILED' : 'TASK_STATE_COMPLETED';
    const ref = { owner: 'ada', id: `s${number}` } as never;
    const timestamp = new Date(time).toISOString();
    return { id: `${number}-${index}`, ref, key: undefined, state, timestamp, from: 1, to: 2 };
  });
  return { record: { updatedAt: number * 10 } as SessionRecord, tasks };
}).reverse();

function listed() {
  let read = 0;
  const tasks = {
    async *sessions() {
      for (const { record } of ALL) yield record;
    },
    async of(record: SessionRecord) {
      read++;
      return ALL.find((session) => session.record === record)?.tasks ?? [];
    },
    read: async ({ id }: IndexedTask) => ({ id }) as Task,
    count: async () => 3 * SESSIONS,
  };
  const page = (params: object) =>
    taskPage(
      { tasks: tasks as unknown as Context['tasks'] },
      {} as never,
      ListParams.parse({ pageSize: PAGE, ...params }),
    );
  return { page, read: () => read };
}

const expected = ALL.flatMap(({ tasks }) => tasks)
  .sort((one, other) =>
    one.timestamp === other.timestamp
      ? other.id < one.id
        ? -1
        : 1
      : other.timestamp < one.timestamp
        ? -1
        : 1,
  )
  .map(({ id }) => id);

describe('a list of tasks', () => {
  test('has every task once, in order, page by page', async () => {
    const { page } = listed();
    const found: string[] = [];
    for (let pageToken = ''; ; ) {
      const { tasks, nextPageToken, totalSize } = await page({ pageToken });
      expect(totalSize).toBe(3 * SESSIONS);
      found.push(...tasks.map(({ id }) => id));
      pageToken = nextPageToken;
      if (pageToken === '') break;
    }
    expect(found).toEqual(expected);
  });

  test('reads only as many sessions as its first page needs', async () => {
    const { page, read } = listed();
    expect((await page({})).tasks).toHaveLength(PAGE);
    expect(read()).toBeLessThan(3 * PAGE);
  });

  test('counts the tasks in a state, and reads sessions up to the requested time', async () => {
    const { page, read } = listed();
    expect(await page({ status: 'TASK_STATE_FAILED' })).toMatchObject({ totalSize: SESSIONS });
    const before = read();
    const statusTimestampAfter = new Date(SESSIONS * 10 - 100).toISOString();
    expect(await page({ statusTimestampAfter })).toMatchObject({ totalSize: 9, tasks: { length: PAGE } });
    expect(read() - before).toBe(9);
  });
});
