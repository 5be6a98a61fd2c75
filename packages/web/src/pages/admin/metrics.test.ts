import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connect } from '@parlance/sdk';
import { startTestServer, type TestServer } from '../../../../server/src/testing/server.ts';
import {
  bytes,
  type Figures,
  figuresOf,
  GAP_MS,
  gauge,
  highest,
  last,
  parseMetrics,
  pathOf,
  perSecond,
  rate,
  roof,
  seconds,
} from './metrics.tsx';

describe('metrics of a real server', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.stop());

  test('are all found', async () => {
    const parlance = connect({ url: server.http });
    await server.connect('/broadcast');
    const session = parlance.session('counted');
    await session.submit('count to 5');
    for await (const event of session.events()) if (event.type === 'turn.ended') break;
    const figures = figuresOf(await parlance.admin.metrics(), 7);
    expect(figures).toMatchObject({ at: 7, turns: 1, sockets: 1, turnsRunning: 0, sessionsWaiting: 0 });
    expect(figures.tokensOut).toBeGreaterThan(0);
    expect(figures.tokensIn).toBeGreaterThan(0);
    expect(figures.memory).toBeGreaterThan(2 ** 20);
  });
});

test('parses samples with labels and skips comments', () => {
  const text = '# HELP a b\na{x="1",y="q\\"\\\\n"} 2\na{x="2"} 3e-2 1700\n\nb 4\nnot a metric\n';
  expect([...parseMetrics(text)]).toEqual([
    [
      'a',
      [
        { labels: { x: '1', y: 'q"\\n' }, value: 2 },
        { labels: { x: '2' }, value: 0.03 },
      ],
    ],
    ['b', [{ labels: {}, value: 4 }]],
  ]);
});

const at = (time: number, turns: number): Figures => ({
  at: time,
  turns,
  tokensIn: 0,
  tokensOut: 0,
  delay: null,
  memory: 0,
  sockets: 0,
  turnsRunning: 0,
  sessionsWaiting: 0,
});

describe('a series', () => {
  const turns = ({ turns }: Figures) => turns;

  test('a counter becomes a rate per second', () => {
    expect(rate([at(0, 1), at(2_000, 5), at(4_000, 5)], turns)).toEqual([
      { at: 2_000, value: 2 },
      { at: 4_000, value: 0 },
    ]);
  });

  test('has a gap after a restart and while not polled', () => {
    expect(rate([at(0, 9), at(2_000, 1), at(4_000, 2)], turns).map(({ value }) => value)).toEqual([
      null,
      0.5,
    ]);
    const late = 2_000 + GAP_MS + 1;
    const points = rate([at(0, 1), at(2_000, 1), at(late, 50), at(late + 1_000, 51)], turns);
    expect(points.map(({ value }) => value)).toEqual([0, null, null, 1]);
    expect(gauge([at(0, 1), at(late, 2)], turns).map(({ value }) => value)).toEqual([1, null, 2]);
  });

  test('is drawn as segments between gaps', () => {
    const frame = { width: 100, height: 10, from: 0, to: 100, most: 10 };
    const points = [
      { at: 0, value: 0 },
      { at: 50, value: 5 },
      { at: 60, value: null },
      { at: 70, value: 10 },
      { at: 80, value: null },
      { at: 90, value: 99 },
      { at: 100, value: 0 },
    ];
    expect(pathOf(points, frame)).toBe('M0.0 10.0L50.0 5.0M70.0 0.0h0.1M90.0 0.0L100.0 10.0');
    expect(pathOf(points, { ...frame, from: 50 })).toStartWith('M0.0 5.0');
    expect([highest(points), last(points), last([])]).toEqual([99, 0, null]);
  });
});

test('the top of a chart is a round number', () => {
  expect([0, 0.3, 1, 1.1, 49, 50, 51, 700].map(roof)).toEqual([1, 0.5, 1, 2, 50, 50, 100, 1_000]);
});

test('formats numbers compactly', () => {
  expect([perSecond(0), perSecond(12.345), perSecond(1_234.5)]).toEqual(['0/s', '12.3/s', '1,235/s']);
  expect([bytes(150 * 2 ** 20), bytes(1.5 * 2 ** 30)]).toEqual(['150 MB', '1.5 GB']);
  expect([seconds(0.0012), seconds(2)]).toEqual(['1.2 ms', '2 s']);
});
