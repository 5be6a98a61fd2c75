import { expect, test } from 'bun:test';
import { LOCAL, type SessionId } from '@parlance/protocol';
import type { Engine, SessionRef } from '../../core/api/index.ts';
import type { Socket } from '../../http/connection.ts';
import type { Push } from '../pusher/push.ts';
import type { SubscriptionHub } from '../shared/subscription-hub.ts';
import { watchChannels } from './channel-watch.ts';

const REF: SessionRef = { owner: LOCAL.id, id: 'talk' as SessionId };
const ignore = () => undefined;
const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A watch whose channels join when the test says so. */
function watched() {
  const joining: (PromiseWithResolvers<void> & { readonly socket: Socket })[] = [];
  const left: Socket[] = [];
  const hub = {
    join(_: SessionRef, socket: Socket) {
      const pending = { ...Promise.withResolvers<void>(), socket };
      joining.push(pending);
      return pending.promise;
    },
    leave: (socket: Socket) => left.push(socket),
  } as unknown as SubscriptionHub<unknown>;
  const engine = { firstHolder: async () => REF } as unknown as Engine;
  const push = { watch: () => ignore, publish: ignore } as unknown as Push;
  return { watch: watchChannels({ engine, push, log }, hub), joining, left };
}

test('whoever follows a session is told that it is followed when it is, and not when another has asked for it', async () => {
  const { watch, joining } = watched();
  const told: string[] = [];
  const follow = (name: string) => watch.follow(REF).then(() => told.push(name));
  const both = [follow('first'), follow('second')];
  await turn();
  const third = follow('third');
  await turn();
  expect([joining.length, told]).toEqual([1, []]);
  joining[0]?.resolve();
  await Promise.all([...both, third]);
  expect(told.sort()).toEqual(['first', 'second', 'third']);
});

test('a channel that could not join is tried again', async () => {
  const { watch, joining, left } = watched();
  const failed = watch.follow(REF);
  await turn();
  joining[0]?.reject(new Error('the session cannot be read'));
  await expect(failed).rejects.toThrow('cannot be read');
  expect(left).toHaveLength(1);
  const again = watch.follow(REF);
  await turn();
  joining[1]?.resolve();
  await again;
  expect(joining).toHaveLength(2);
});
