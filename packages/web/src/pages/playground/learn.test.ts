import { describe, expect, test } from 'bun:test';
import type { Dialect, DialectList } from '@parlance/sdk';
import { listedDialects } from '../../../../server/src/testing/listed-dialects.ts';
import { socketDialect } from '../../../../server/src/testing/socket-dialect.ts';
import { addressOf, shownAddress, socketUrl } from './address.ts';
import { inSession, readDraft, validityOf, writeDraft } from './draft.ts';
import { learn } from './learn.ts';

const list: DialectList = await listedDialects();

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
