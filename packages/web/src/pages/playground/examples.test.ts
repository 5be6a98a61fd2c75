/** What the playground makes of the server's examples is still what the server takes. */
import { describe, expect, test } from 'bun:test';
import type { DialectList } from '@parlance/sdk';
import { DESCRIPTIONS } from '../../../../server/src/describe/descriptions.ts';
import { listedDialects } from '../../../../server/src/testing/listed-dialects.ts';
import { examplesOf, firstFrame, frameOf } from './examples.ts';
import { filled, filledPath } from './fill.ts';

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
