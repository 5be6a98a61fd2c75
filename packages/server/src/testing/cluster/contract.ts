/** Contract tests for every bus. `contract.test.ts` runs them for each implementation in this folder. */
import { describe, expect, test } from 'bun:test';
import type { EphemeralEvent, PrincipalId, SessionId } from '@parlance/protocol';
import type { Bus } from '../../core/engine/bus.ts';
import type { Log } from '../../core/ports/telemetry.ts';

/** Any view works, since a bus only passes it on. */
export type OpenBus = (log: Log) => Bus<string>;

const ADA = { owner: 'ada' as PrincipalId, id: 'one' as SessionId };
const ADA_TOO = { owner: 'ada' as PrincipalId, id: 'two' as SessionId };
const BOB = { owner: 'bob' as PrincipalId, id: 'one' as SessionId };

const delta = (text: string): EphemeralEvent =>
  ({ type: 'text.delta', turn: 't', block: 'b', text, session: 'one', id: text, at: 0 }) as EphemeralEvent;

function listening() {
  const received: string[] = [];
  const failures: string[] = [];
  const ignore = () => undefined;
  const log: Log = {
    debug: ignore,
    info: ignore,
    warn: ignore,
    error: (_data, message) => failures.push(message),
  };
  const sink = (name: string) => (event: { id: string }, view: string) => {
    received.push(`${name} ${event.id} ${view}`);
  };
  return { received, failures, log, sink };
}

export function busContract(name: string, open: OpenBus): void {
  describe(`the ${name} bus`, () => {
    test('notifies every subscriber on this node, in order, before publish returns', () => {
      const { received, log, sink } = listening();
      const channel = open(log).channel(ADA);
      channel.subscribe(sink('first'));
      channel.subscribe(sink('second'));
      channel.publish(delta('a'), 'view');
      channel.publish(delta('b'), 'later');
      expect(received).toEqual(['first a view', 'second a view', 'first b later', 'second b later']);
    });

    test('passes on the same event object', () => {
      const { log } = listening();
      const channel = open(log).channel(ADA);
      const event = delta('a');
      let received: unknown;
      channel.subscribe((published) => {
        received = published;
      });
      channel.publish(event, 'view');
      expect(received).toBe(event);
    });

    test('notifies only subscribers of the owner and of all sessions', () => {
      const { received, log, sink } = listening();
      const bus = open(log);
      bus.subscribeOwner(ADA.owner, sink('owner'));
      bus.subscribeAll(sink('all'));
      const [one, two, other] = [bus.channel(ADA), bus.channel(ADA_TOO), bus.channel(BOB)];
      one.subscribe(sink('session'));
      one.publish(delta('a'), '1');
      two.publish(delta('b'), '2');
      other.publish(delta('c'), '3');
      expect(received).toEqual(['session a 1', 'owner a 1', 'all a 1', 'owner b 2', 'all b 2', 'all c 3']);
    });

    test('tells the end of an append only to subscribers of the session that want it', () => {
      const { received, log, sink } = listening();
      const bus = open(log);
      const [one, two] = [bus.channel(ADA), bus.channel(ADA_TOO)];
      const committed = (events: readonly unknown[], view: string) =>
        received.push(`${events.length} ${view}`);
      const end = one.subscribe(sink('session'), committed);
      one.subscribe(sink('other'));
      one.publish(delta('a'), '1');
      one.commit([], '2');
      two.commit([], '3');
      end();
      one.commit([], '4');
      expect(received).toEqual(['session a 1', 'other a 1', '0 2']);
    });

    test('does not notify after unsubscribing', () => {
      const { received, log, sink } = listening();
      const bus = open(log);
      const channel = bus.channel(ADA);
      const ends = [
        channel.subscribe(sink('session')),
        bus.subscribeOwner(ADA.owner, sink('owner')),
        bus.subscribeAll(sink('all')),
      ];
      for (const end of ends) end();
      channel.publish(delta('a'), 'view');
      expect(received).toEqual([]);
    });

    test('reports whether the session itself has subscribers', () => {
      const { log, sink } = listening();
      const bus = open(log);
      const channel = bus.channel(ADA);
      bus.subscribeOwner(ADA.owner, sink('owner'));
      expect(channel.watched).toBe(false);
      const end = channel.subscribe(sink('session'));
      expect(channel.watched).toBe(true);
      end();
      expect(channel.watched).toBe(false);
    });

    test('logs a subscriber that throws and still notifies the others', () => {
      const { received, failures, log, sink } = listening();
      const channel = open(log).channel(ADA);
      channel.subscribe(() => {
        throw new Error('a bug');
      });
      channel.subscribe(sink('second'));
      channel.publish(delta('a'), 'view');
      expect(received).toEqual(['second a view']);
      expect(failures).toEqual(['subscriber failed']);
    });
  });
}
