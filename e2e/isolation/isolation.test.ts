import { expect, test } from 'bun:test';
import { DESCRIPTIONS } from '../../packages/server/src/describe/descriptions.ts';
import { creatingProbesOf, framesOf, probesOf, routesOf, wiresOf } from './probes.ts';
import { unusedIds } from './things.ts';
import { isolationWalk } from './walk.ts';

test('every route and every message has probes', () => {
  const [routes, wires, ids] = [routesOf(DESCRIPTIONS), wiresOf(DESCRIPTIONS), unusedIds()];
  for (const [name, { path, body, examples }] of Object.entries(routes))
    if (path.includes('{') || body) expect([name, typeof examples]).toEqual([name, 'function']);
  const requests = Object.values(routes).flatMap((route) => [
    ...probesOf(route, ids),
    ...creatingProbesOf(route, ids),
  ]);
  const frames = Object.values(wires).flatMap((wire) =>
    Object.keys(wire.messages.in).flatMap((type) => framesOf(wire, type, ids)),
  );
  // A lower number means that something is no longer tested.
  expect(requests.length).toBeGreaterThanOrEqual(200);
  expect(frames.length).toBeGreaterThanOrEqual(70);
});

isolationWalk({ descriptions: DESCRIPTIONS });
