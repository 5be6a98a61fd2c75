import { describe, expect, test } from 'bun:test';
import type { SessionRef } from '../../core/ports/event-store.ts';
import { SYSTEM_CLOCK } from '../../lib/clock.ts';
import { refOf } from '../../testing/stores/contract/samples.ts';
import { NO_LOG } from '../../testing/stores/postgres.ts';
import { slowness, until } from '../../testing/until.ts';
import type { Row, Statements } from './database.ts';
import { leaseTimes, openHeartbeat } from './heartbeat.ts';
import { HeldLeases } from './held-leases.ts';

const ME = 'this node';

/** A heartbeat with a fake database and clock. */
function harness(leaseMs?: number) {
  const clock = { now: 1_000 };
  const reported: (string | readonly SessionRef[])[] = [];
  const answers: { beat: Row; timeline: string | Error; takesMs: number; fails: boolean } = {
    beat: { changes: '1', server: 'first', uptime: 3_600_000, lost: '', event_version: 3 },
    timeline: '00000001',
    takesMs: 0,
    fails: false,
  };
  const database: Statements = {
    async query(text) {
      if (!text.includes('INSERT INTO nodes')) {
        if (answers.timeline instanceof Error) throw answers.timeline;
        return [{ timeline: answers.timeline }];
      }
      clock.now += answers.takesMs;
      if (answers.fails) throw new Error('the database is away');
      return [answers.beat];
    },
  };
  const held = new HeldLeases(ME);
  const warnings: string[] = [];
  const heartbeat = openHeartbeat({
    node: { id: ME, release: '1.0.0', eventVersion: 3, home: null },
    database,
    times: leaseTimes(leaseMs),
    held,
    log: { ...NO_LOG, warn: (_about, message) => warnings.push(message) },
    clock: {
      ...SYSTEM_CLOCK,
      now: () => 1_000_000,
      ...(leaseMs === undefined && { elapsed: () => clock.now }),
    },
    onChanges: () => reported.push('changes'),
    onLost: (lost) => reported.push(lost),
    onFailover: () => reported.push('failover'),
    onNewEvents: async (version) => void reported.push(`events ${version}`),
  });
  return { clock, reported, answers, held, heartbeat, warnings };
}

describe('a heartbeat', () => {
  test('keeps the node healthy for 1.1 s after it was sent', async () => {
    const { heartbeat, clock, answers } = harness();
    expect(heartbeat.healthy).toBe(false);
    answers.takesMs = 400;
    await heartbeat.beat();
    expect([heartbeat.healthy, heartbeat.age]).toEqual([true, 400]);
    clock.now += 699;
    expect(heartbeat.healthy).toBe(true);
    clock.now += 1;
    expect(heartbeat.healthy).toBe(false);
    answers.takesMs = 0;
    await heartbeat.beat();
    expect(heartbeat.healthy).toBe(true);
    await heartbeat.stop();
  });

  test('that is late keeps the node from declaring others dead for one lease', async () => {
    const lateIn: Record<string, (staged: ReturnType<typeof harness>) => Promise<void>> = {
      'a slow answer': async ({ heartbeat, answers }) => {
        answers.takesMs = 501;
        await heartbeat.beat();
      },
      'no answer': async ({ heartbeat, answers }) => {
        answers.fails = true;
        await heartbeat.beat().catch(() => undefined);
      },
      'a pause of this process': async ({ heartbeat, clock }) => {
        clock.now += 901;
        await heartbeat.beat();
      },
    };
    for (const [reason, happens] of Object.entries(lateIn)) {
      const staged = harness();
      const { heartbeat, answers, clock } = staged;
      await heartbeat.beat();
      expect([reason, heartbeat.mayTakeOver]).toEqual([reason, true]);
      await happens(staged);
      Object.assign(answers, { takesMs: 0, fails: false });
      for (let waited = 0; waited < 1_500; waited += 300) {
        await heartbeat.beat();
        expect([reason, heartbeat.healthy, heartbeat.mayTakeOver]).toEqual([reason, true, false]);
        clock.now += 300;
      }
      await heartbeat.beat();
      expect([reason, heartbeat.mayTakeOver]).toEqual([reason, true]);
      await heartbeat.stop();
    }
  });

  test('to a server that has just started lets the node declare others dead only after one lease', async () => {
    const { heartbeat, clock, answers } = harness();
    answers.beat = { ...answers.beat, uptime: 1_000 };
    await heartbeat.beat();
    expect([heartbeat.healthy, heartbeat.mayTakeOver]).toEqual([true, false]);
    clock.now += 500;
    expect([heartbeat.healthy, heartbeat.mayTakeOver]).toEqual([true, true]);
    await heartbeat.stop();
  });

  test('reports changed users once, and a failover only if another server was promoted', async () => {
    const { heartbeat, reported, answers } = harness();
    await heartbeat.beat();
    await heartbeat.beat();
    expect(reported).toEqual([]);
    answers.beat = { ...answers.beat, changes: '2' };
    await heartbeat.beat();
    await heartbeat.beat();
    expect(reported.splice(0)).toEqual(['changes']);
    answers.beat = { ...answers.beat, server: 'restarted' };
    await heartbeat.beat();
    expect(reported).toEqual([]);
    answers.beat = { ...answers.beat, server: 'promoted' };
    answers.timeline = '00000002';
    await heartbeat.beat();
    expect(reported).toEqual(['failover']);
    await heartbeat.stop();
  });

  test('reports a failover later if the promoted server fails at first', async () => {
    const { heartbeat, reported, answers } = harness();
    await heartbeat.beat();
    answers.beat = { ...answers.beat, server: 'second' };
    answers.timeline = new Error('the connection was lost');
    await heartbeat.beat();
    expect(reported).not.toContain('failover');
    answers.timeline = '00000002';
    await heartbeat.beat();
    expect(reported).toContain('failover');
    await heartbeat.stop();
  });

  test('reports sessions that another node has taken, once', async () => {
    const { heartbeat, reported, held, answers } = harness();
    const [one, two] = [refOf('ada', 'one'), refOf('ada', 'two')];
    held.learn(one, 1, { node: ME, epoch: 5 });
    held.learn(two, 2, { node: ME, epoch: 6 });
    answers.beat = { ...answers.beat, lost: '1' };
    await heartbeat.beat();
    answers.beat = { ...answers.beat, lost: '' };
    await heartbeat.beat();
    expect(reported).toEqual([[two]]);
    expect([held.epochOf(one), held.epochOf(two)]).toEqual([5, undefined]);
    await heartbeat.stop();
  });

  test('reports once that its clock differs from the database clock', async () => {
    const { answers, heartbeat, warnings } = harness();
    for (const time of [995_000, 1_005_000]) {
      answers.beat = { ...answers.beat, time };
      await heartbeat.beat();
    }
    expect(warnings).toEqual([]);
    for (const time of [940_000, 940_100, 1_000_000, 1_090_000]) {
      answers.beat = { ...answers.beat, time };
      await heartbeat.beat();
    }
    expect(warnings).toEqual([
      'the clock of this node is 60 s ahead of the clock of the database: tokens expire at the wrong time, use NTP',
      'the clock of this node is 90 s behind the clock of the database: tokens expire at the wrong time, use NTP',
    ]);
  });

  test('reports the bus state of other nodes', async () => {
    const { heartbeat, answers } = harness();
    await heartbeat.beat();
    expect(heartbeat.busDown).toBe(false);
    heartbeat.setBusDown(true);
    expect(heartbeat.busDown).toBe(true);
    heartbeat.setBusDown(false);
    answers.beat = { ...answers.beat, bus_down: true };
    await heartbeat.beat();
    expect(heartbeat.busDown).toBe(true);
    await heartbeat.stop();
  });

  test('allows newer events when all living nodes can read them', async () => {
    const { heartbeat, reported, answers } = harness();
    answers.beat = { ...answers.beat, event_version: 1, oldest: 1 };
    await heartbeat.beat();
    expect([heartbeat.eventVersion, reported]).toEqual([1, []]);
    answers.beat = { ...answers.beat, oldest: 2 };
    await heartbeat.beat();
    expect(reported.splice(0)).toEqual(['events 2']);
    answers.beat = { ...answers.beat, event_version: 2, oldest: null };
    await heartbeat.beat();
    expect([heartbeat.eventVersion, reported]).toEqual([2, ['events 3']]);
    await heartbeat.stop();
  });

  test('does not make a node healthy that cannot read the events of the others', async () => {
    const { heartbeat, answers } = harness();
    answers.beat = { ...answers.beat, event_version: 4 };
    await heartbeat.beat();
    expect(heartbeat.healthy).toBe(false);
    await heartbeat.stop();
  });

  test('that fails fences the node and reports it once, until the next success', async () => {
    const { heartbeat, reported, answers } = harness(Math.round(150 * slowness()));
    await heartbeat.beat();
    answers.fails = true;
    heartbeat.start();
    await until(() => reported.length !== 0);
    await Bun.sleep(50);
    expect(reported).toEqual(['all']);
    expect(heartbeat.healthy).toBe(false);
    answers.fails = false;
    await until(() => heartbeat.healthy);
    expect(reported).toEqual(['all']);
    await heartbeat.stop();
    expect<boolean>(heartbeat.healthy).toBe(false);
  });
});
