import { expect, test } from 'bun:test';
import { DESCRIPTIONS } from '../../packages/server/src/describe/descriptions.ts';
import { isolationWalk } from './isolation-suite.ts';
import { unusedIds } from './private-data.ts';
import { creatingProbesOf, framesOf, probesOf, routesOf, socketDialectsOf } from './probes.ts';

test('every route and every message has probes', () => {
  const [routes, sockets, ids] = [routesOf(DESCRIPTIONS), socketDialectsOf(DESCRIPTIONS), unusedIds()];
  for (const [name, { path, body, examples }] of Object.entries(routes))
    if (path.includes('{') || body) expect([name, typeof examples]).toEqual([name, 'function']);
  const requests = Object.values(routes).flatMap((route) => [
    ...probesOf(route, ids),
    ...creatingProbesOf(route, ids),
  ]);
  const frames = Object.values(sockets).flatMap((dialect) =>
    Object.keys(dialect.messages.in).flatMap((type) => framesOf(dialect, type, ids)),
  );
  // A lower number means that something is no longer tested.
  expect(requests.length).toBeGreaterThanOrEqual(200);
  expect(frames.length).toBeGreaterThanOrEqual(70);
});

isolationWalk({ descriptions: DESCRIPTIONS });
