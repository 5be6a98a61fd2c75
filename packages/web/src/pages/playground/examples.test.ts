/** What the playground makes of the server's examples is still what the server takes. */

import { describe, expect, test } from 'bun:test';
import type { Dialect, DialectList } from '@parlance/sdk';
import { DESCRIPTIONS } from '../../../../server/src/describe/descriptions.ts';
import { listedDialects } from '../../../../server/src/testing/listed-dialects.ts';
import { socketDialect } from '../../../../server/src/testing/socket-dialect.ts';
import { inSession, readDraft, validityOf, writeDraft } from './composer.tsx';
import { addressOf, shownAddress, socketUrl } from './connection.ts';
import { examplesOf, filled, filledPath, firstFrame, frameOf, learn } from './examples.ts';

const list: DialectList = await listedDialects();
const { ids } = list;
const fresh = '0b0e7f9e-63a4-4d0b-8f0e-0d4c9a0f1a99';
const KNOWN = {
  session: '0b0e7f9e-63a4-4d0b-8f0e-0d4c9a0f1a11',
  owner: 'grace',
  approval: 'approval-7',
  execution: 'exec_7',
  call: 'call-7',
  turn: 'turn-7',
  task: '0b0e7f9e-63a4-4d0b-8f0e-0d4c9a0f1a77',
};
const filling = { ids, known: KNOWN, fresh };

/** The schema that the server checks a message with. */
function schemaOf(dialect: string, name: string) {
  const described = DESCRIPTIONS.find((one) => one.name === dialect);
  const endpoint = described?.endpoints.find(
    ({ method, path }) => `${method.toUpperCase()} ${path}` === name || path === described.commands?.path,
  );
  return described?.messages?.in[name]?.schema ?? endpoint?.body;
}

describe.each(list.dialects.map((dialect) => [dialect.name, dialect] as const))('%s', (name, dialect) => {
  test('has an example of every message, each with a title of its own', () => {
    for (const { examples } of dialect.messages) expect(examples.length).toBeGreaterThan(0);
    const titles = examplesOf(dialect).map((example) => `${example.name} ${example.title}`);
    expect(new Set(titles).size).toBe(titles.length);
  });

  test('examples with the ids of a connection pass the schema', () => {
    for (const { name: message, title, frame } of examplesOf(dialect)) {
      const made = frameOf(dialect, frame, filling) as { body?: unknown };
      const sent = dialect.transport === 'requests' ? made.body : made;
      if (sent !== undefined)
        expect([title, schemaOf(name, message)?.safeParse(sent).success]).toEqual([title, true]);
    }
  });

  test('no example names an id that the connection has another for', () => {
    const text = JSON.stringify(examplesOf(dialect).map(({ frame }) => frameOf(dialect, frame, filling)));
    for (const id of Object.keys(KNOWN)) expect(text).not.toContain(ids[id] as string);
  });

  test('there is a first frame', () => {
    expect(Object.keys(firstFrame(dialect, filling))).not.toEqual([]);
  });
});

test('without a session, fields that name one are left out, and longer texts get a new one', () => {
  const empty = { ids, known: {}, fresh: 'new' };
  const { session = '' } = ids;
  expect(filled({ type: 'chat', session_id: session, deep: [{ sessionId: session }] }, empty)).toEqual({
    type: 'chat',
    deep: [{}],
  } as never);
  expect(filled({ channel: `private-session-${session}` }, empty)).toEqual({
    channel: 'private-session-new',
  });
  expect(filledPath(`/api/session/${session}/messages`, empty)).toBe('/api/session/new/messages');
});

test('ids in a path are encoded', () => {
  const { session = '' } = ids;
  expect(filledPath(`/a/${session}`, { ids, known: { session: 'a/b c' }, fresh })).toBe('/a/a%2Fb%20c');
});

function named(name: string): Dialect {
  const found = list.dialects.find((dialect) => dialect.name === name);
  if (!found) throw new Error(`there is no dialect ${name}`);
  return found;
}

describe('a connection learns', () => {
  const taught = (dialect: string, frame: unknown) => learn({}, named(dialect), JSON.stringify(frame));

  test('values that the next frame has to cite, in every dialect that needs them', () => {
    expect(taught('extension', { type: 'tool_execution_request', executionId: 'e1' })).toEqual({
      execution: 'e1',
    });
    const finished = { responseId: 'resp_a.b.turn-1', sessionId: 'a.b' };
    expect(taught('agentloop', { type: 'agent_finished', payload: finished })).toEqual({
      session: 'a.b',
      turn: 'turn-1',
    });
    const waiting = { type: 'tool_approval_required', payload: { requestId: 'a1' } };
    expect(taught('conversations', waiting)).toEqual({ approval: 'a1' });
    const started = { type: 'conversation_started', payload: { conversationId: 'c1' } };
    expect(taught('conversations', started)).toEqual({ session: 'c1' });
    const data = JSON.stringify({ socket_id: '1.2', activity_timeout: 120 });
    expect(taught('pusher', { event: 'pusher:connection_established', data })).toEqual({ socket: '1.2' });
    expect(taught('copilot', { status: 200, body: { data: { taskId: 't1' } } })).toEqual({ task: 't1' });
    expect(taught('native', { type: 'call.requested', call: 'c7' })).toEqual({ call: 'c7' });
  });

  test('nothing from other frames, and keeps what it knows', () => {
    const known = { execution: 'e1' };
    for (const text of ['', 'null', '[]', '{"type":"tool_execution_request"}', '{"type":"pong"}'])
      expect(learn(known, named('extension'), text)).toBe(known);
  });
});

describe('an address', () => {
  const call = { session: 'a b', token: 'se&cret' };

  test('is one where the server speaks the dialect', () => {
    for (const name of ['extension', 'broadcast', 'agentloop', 'conversations']) {
      const { pathname, searchParams } = new URL(
        socketUrl('https://here', { ...call, dialect: named(name) }),
      );
      expect(socketDialect(pathname, true)).toBe(name);
      expect(Object.fromEntries(searchParams)).toEqual({ session: 'a b', token: 'se&cret' });
    }
  });

  test('of pusher names the application, and of native the session', () => {
    const pusher = { ...call, dialect: named('pusher') };
    expect(addressOf(pusher)).toBe('/app/app-key?protocol=7');
    expect(addressOf({ ...pusher, params: { key: 'app/key' } })).toBe('/app/app%2Fkey?protocol=7');
    expect(addressOf({ ...call, dialect: named('native') })).toBe('/v1/sessions/a%20b/events');
    expect(addressOf({ dialect: named('broadcast'), session: '', token: null })).toBe('/broadcast');
  });

  test('is shown without the token', () => {
    expect(shownAddress({ ...call, dialect: named('conversations') })).toBe(
      '/conversations?session=a+b&token=…',
    );
  });
});

test('a draft is checked: valid JSON with its type, or the error', () => {
  expect(validityOf('{"type":"ping"}')).toEqual({ valid: true, type: 'ping' });
  expect(validityOf('{"event":"pusher:ping"}')).toEqual({ valid: true, type: 'pusher:ping' });
  expect(validityOf('{}')).toEqual({ valid: true, type: 'untyped' });
  expect(validityOf('[]')).toEqual({ valid: true, type: 'untyped' });
  expect(validityOf('{"type":')).toMatchObject({ valid: false });
});

describe('a stored draft', () => {
  test('is restored for its side and dialect, in the current session', () => {
    const text = '{"type":"chat","session_id":"old","message":"an old story"}';
    writeDraft('left', { dialect: 'broadcast', text, session: 'old' });
    expect(readDraft('left', 'broadcast', 'new')).toBe(text.replace('"old"', '"new"'));
    expect(readDraft('left', 'broadcast', '')).toBe(text);
    expect(readDraft('left', 'agentloop', 'new')).toBeNull();
    expect(readDraft('right', 'broadcast', 'new')).toBeNull();
  });

  test('gets another session only if it named one', () => {
    expect(inSession('{"a":"x"}', '', 'y')).toBe('{"a":"x"}');
    expect(inSession('{"a":"x$&"}', 'x$&', 'y$&')).toBe('{"a":"y$&"}');
    expect(inSession('["private-session-x", "xx"]', 'x', 'y')).toBe('["private-session-y", "xx"]');
    expect(inSession('["/api/session/x/messages", "resp_x.1", "a x"]', 'x', 'y')).toBe(
      '["/api/session/y/messages", "resp_y.1", "a x"]',
    );
  });
});
