import { expect, test } from 'bun:test';
import { type ConnectionId, LOCAL, type Principal, PrincipalId, type SessionId } from '@parlance/protocol';
import type { FrameTap, Subscriber } from '../../http/connection.ts';
import { ConnectionRegistry } from './connection-registry.ts';

const ignore = () => undefined;
const principal = (id: string, role: Principal['role']): Principal => ({
  ...LOCAL,
  id: PrincipalId.parse(id),
  role,
});
const [ann, admin] = [principal('ann', 'user'), principal('ada', 'admin')];
const session = (owner: Principal, id: string) => ({ owner: owner.id, id: id as SessionId });

/** A socket with a function that passes frames through it. */
function socket(id: string) {
  let passing: FrameTap | null = null;
  const made: Subscriber = {
    id: id as ConnectionId,
    open: true,
    send: ignore,
    close: ignore,
    tap(pass) {
      passing = pass;
    },
  };
  return { made, pass: (text: string) => passing?.('in', text), tapped: () => passing !== null };
}

test('a socket that also carries sessions of other users is shown to admins only', () => {
  const connections = new ConnectionRegistry();
  const seen = { ann: [] as string[], admin: [] as string[] };
  const { made, pass } = socket('shared');
  connections.attach(session(ann, 'hers'), 'agentloop', made);
  connections.observeFrames(session(ann, 'hers'), ann, ({ text }) => seen.ann.push(text));
  connections.observeFrames(session(ann, 'hers'), admin, ({ text }) => seen.admin.push(text));
  pass('first');
  connections.attach(session(admin, 'his'), 'agentloop', made);
  pass('second');
  expect(seen).toEqual({ ann: ['first'], admin: ['first', 'second'] });
});

test('without observers, frames are not copied', () => {
  const connections = new ConnectionRegistry();
  const { made, tapped } = socket('one');
  connections.attach(session(ann, 'a'), 'agentloop', made);
  expect(tapped()).toBe(false);
  const stop = connections.observeFrames(session(ann, 'a'), ann, ignore);
  expect(tapped()).toBe(true);
  stop();
  expect(tapped()).toBe(false);
});

test('a token in a frame is not shown', () => {
  const connections = new ConnectionRegistry();
  const { made, pass } = socket('one');
  const seen: string[] = [];
  connections.attach(session(ann, 'a'), 'extension', made);
  connections.observeFrames(session(ann, 'a'), ann, ({ text }) => seen.push(text));
  pass('{"type":"client_registration","sessionToken": "ey.secret","clientType":"x"}');
  expect(seen).toEqual(['{"type":"client_registration","sessionToken": "…","clientType":"x"}']);
});

test('a subscriber to all sessions of an owner is attached to each of them', () => {
  const connections = new ConnectionRegistry();
  const [all, one] = [socket('all'), socket('one')];
  connections.attach(ann.id, 'broadcast', all.made);
  connections.attach(session(ann, 'a'), 'agentloop', one.made);
  expect(connections.of(session(ann, 'a'))).toEqual({ broadcast: 1, agentloop: 1 });
  expect(connections.of(session(ann, 'b'))).toEqual({ broadcast: 1 });
  expect(connections.of(session(admin, 'a'))).toEqual({});
  connections.leave(one.made);
  expect(connections.of(session(ann, 'a'))).toEqual({ broadcast: 1 });
});
