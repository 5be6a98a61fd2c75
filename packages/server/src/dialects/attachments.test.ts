import { expect, test } from 'bun:test';
import { type ConnectionId, LOCAL, type Principal, PrincipalId, type SessionId } from '@parlance/protocol';
import type { Passing, Socket } from '../core/engine.ts';
import { Attachments } from './attachments.ts';

const ignore = () => undefined;
const principal = (id: string, role: Principal['role']): Principal => ({
  ...LOCAL,
  id: PrincipalId.parse(id),
  role,
});
const [ann, admin] = [principal('ann', 'user'), principal('ada', 'admin')];
const session = (owner: Principal, id: string) => ({ owner: owner.id, id: id as SessionId });

/** A socket on which frames can be made to pass. */
function socket(id: string) {
  let passing: Passing | null = null;
  const made: Socket = {
    id: id as ConnectionId,
    principal: null,
    session: null,
    open: true,
    speaks: ignore,
    send: ignore,
    sendText: ignore,
    close: ignore,
    tap(pass) {
      passing = pass;
    },
  };
  return { made, pass: (text: string) => passing?.('in', text), tapped: () => passing !== null };
}

test('a socket that carries sessions of someone else, too, is shown to admins alone', () => {
  const attachments = new Attachments();
  const seen = { ann: [] as string[], admin: [] as string[] };
  const { made, pass } = socket('shared');
  attachments.attach(session(ann, 'hers'), 'agentloop', made);
  attachments.look(session(ann, 'hers'), ann, ({ text }) => seen.ann.push(text));
  attachments.look(session(ann, 'hers'), admin, ({ text }) => seen.admin.push(text));
  pass('first');
  attachments.attach(session(admin, 'his'), 'agentloop', made);
  pass('second');
  expect(seen).toEqual({ ann: ['first'], admin: ['first', 'second'] });
});

test('frames pass unseen, and nothing is tapped, when nobody looks any more', () => {
  const attachments = new Attachments();
  const { made, tapped } = socket('one');
  attachments.attach(session(ann, 'a'), 'agentloop', made);
  expect(tapped()).toBe(false);
  const stop = attachments.look(session(ann, 'a'), ann, ignore);
  expect(tapped()).toBe(true);
  stop();
  expect(tapped()).toBe(false);
});

test('a token in a frame is not shown', () => {
  const attachments = new Attachments();
  const { made, pass } = socket('one');
  const seen: string[] = [];
  attachments.attach(session(ann, 'a'), 'extension', made);
  attachments.look(session(ann, 'a'), ann, ({ text }) => seen.push(text));
  pass('{"type":"client_registration","sessionToken": "ey.secret","clientType":"x"}');
  expect(seen).toEqual(['{"type":"client_registration","sessionToken": "…","clientType":"x"}']);
});

test('who hears all sessions of an owner is attached to each of them', () => {
  const attachments = new Attachments();
  const [all, one] = [socket('all'), socket('one')];
  attachments.attach(ann.id, 'broadcast', all.made);
  attachments.attach(session(ann, 'a'), 'agentloop', one.made);
  expect(attachments.of(session(ann, 'a'))).toEqual({ broadcast: 1, agentloop: 1 });
  expect(attachments.of(session(ann, 'b'))).toEqual({ broadcast: 1 });
  expect(attachments.of(session(admin, 'a'))).toEqual({});
  attachments.leave(one.made);
  expect(attachments.of(session(ann, 'a'))).toEqual({ broadcast: 1 });
});
