/** What is one principal's cannot be seen, guessed or answered by another, on any route or with any message. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { openChannels } from '../../packages/server/src/compose/channels.ts';
import { loadConfig } from '../../packages/server/src/config/config.ts';
import type { DialectContext } from '../../packages/server/src/dialects/shared/dialect.ts';
import { app } from '../../packages/server/src/main.ts';
import type { Operations } from '../../packages/server/src/telemetry/routes.ts';
import type { TestClient } from '../../packages/server/src/testing/client.ts';
import { QUIET } from '../../packages/server/src/testing/pusher.ts';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { COMMAND_TYPES, COMMANDS, MAKING, WIRES, type Wire } from './messages.ts';
import { ROUTES, type RouteTry } from './routes.ts';
import {
  asked,
  bearer,
  connected,
  type Ids,
  makeThings,
  nobodysIds,
  type Person,
  plain,
  STREAM,
  type Things,
} from './things.ts';
import { fenced, greeted } from './wires.ts';

function registered(): string[] {
  const around = { log: QUIET, requestsPerMinute: 1 } as unknown as DialectContext;
  const channels = openChannels(loadConfig([], {}, import.meta.dir), QUIET);
  const { routes } = app(around, channels, {} as Operations);
  const names = routes
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => `${method} ${path}`);
  return [...new Set(names)];
}

test('every route and every message is tried', () => {
  expect(Object.keys(ROUTES).sort()).toEqual(registered().sort());
  for (const [name, { types, tries }] of Object.entries(WIRES))
    expect([name, Object.keys(tries).sort()]).toEqual([name, [...types].sort()]);
  expect(Object.keys(COMMANDS).sort()).toEqual([...COMMAND_TYPES].sort());
});

/** One for each message that makes a session: whoever has made one is answered differently the next time. */
const MAKERS = ['eve', 'eva', 'evi', 'evo', 'evu', 'evy'];
const NAMES = ['ada', 'olga', 'bob', ...MAKERS];
const AUTH_USERS = NAMES.map(
  (name) => `${name}:${name}-password:${name === 'ada' ? 'admin' : 'developer'}`,
).join(';');
const LOCAL: Person = { name: 'local', token: null };

const MODES = [
  { mode: 'required', owner: 'olga', other: 'bob' },
  { mode: 'open', owner: 'olga', other: 'local' },
  { mode: 'open', owner: 'local', other: 'bob' },
];

describe.each(MODES)('in $mode mode, what is of $owner, for $other', ({ mode, owner, other }) => {
  let server: TestServer;
  let things: Things;
  let before: string;
  const people = new Map<string, Person>([['local', LOCAL]]);
  const person = (name: string) => people.get(name) ?? LOCAL;
  let makers: Person[];
  const nobodys = nobodysIds();

  beforeAll(async () => {
    server = await startTestServer({ PARLANCE_AUTH: mode, AUTH_USERS });
    for (const name of NAMES) people.set(name, await loggedIn(name));
    things = await makeThings(server, person(owner));
    makers = MAKERS.map(person);
    before = await things.kept();
    for (const who of [person(owner), person('ada')]) await expectFound(who);
  });
  afterAll(() => server.stop());

  const loggedIn = async (name: string): Promise<Person> => ({
    name,
    token: await server.login(name, `${name}-password`),
  });
  const maker = (): Person => makers.pop() ?? LOCAL;

  async function tried(name: string, { at, bodies }: RouteTry, who: Person, ids: Ids) {
    const [method = ''] = name.split(' ');
    const answers: { status: number; text: string }[] = [];
    for (const path of at(ids))
      for (const body of bodies?.(ids) ?? [undefined])
        answers.push(await asked(server, who, method, path, body));
    return answers;
  }

  test.each(Object.entries(ROUTES))('%s answers as if it were not there', async (name, route) => {
    const who = async () => (route.spends && other !== 'local' ? loggedIn(other) : person(other));
    const theirs = await tried(name, route, await who(), things.ids);
    expect(theirs.map(({ text }) => text).join('\n')).not.toContain(things.word);
    if (route.forbidden && !(other === 'local' && theirs.every(({ status }) => status === 401)))
      return expect(theirs.map(({ status }) => status)).toEqual(theirs.map(() => 403));
    const nobody = await tried(name, route, await who(), nobodys);
    const shown = (answers: typeof theirs, ids: Ids) =>
      answers.map(({ status, text }) => `${status} ${plain(text, ids)}`);
    if (!route.varies) expect(shown(theirs, things.ids)).toEqual(shown(nobody, nobodys));
    if (mode === 'required' && !route.open) {
      const unknown = await tried(name, route, LOCAL, things.ids);
      expect(unknown.map(({ status }) => status)).toEqual(unknown.map(() => 401));
    }
  });

  test.each(COMMAND_TYPES)('the command %s finds nothing', async (type) => {
    const who = MAKING.has(type) && other !== 'local' ? maker() : person(other);
    const send = async (ids: Ids) => {
      const answers: string[] = [];
      for (const command of COMMANDS[type as keyof typeof COMMANDS](ids)) {
        const { status, text } = await asked(
          server,
          who,
          'POST',
          `/v1/sessions/${ids.session}/commands`,
          command,
        );
        answers.push(`${status} ${plain(text, ids)}`);
      }
      return answers;
    };
    // Of `local` there is only one: what it makes is made under another name.
    if (MAKING.has(type) && other === 'local') return;
    expect(await send(things.ids)).toEqual(await send(nobodys));
  });

  for (const [dialect, wire] of Object.entries(WIRES))
    test.each([...wire.types])(`in ${dialect}, %s finds nothing`, async (type) => {
      const makes = wire.tries[type]?.turn !== undefined;
      if (makes && other === 'local') return;
      const who = makes ? maker() : person(other);
      const theirs = await said(wire, type, who, things.ids);
      expect(theirs).not.toContain(things.word);
      expect(theirs).not.toContain('subscription_succeeded');
      expect(theirs).toBe(await said(wire, type, who, nobodys));
    });

  /** All that a client hears in answer, ids and times apart. */
  async function said(wire: Wire, type: string, who: Person, ids: Ids): Promise<string> {
    const client = await connected(server, who, wire.path(ids));
    const greeting = await greeted(client, wire);
    if (!greeting) return 'closed';
    const { frames, turn } = wire.tries[type] ?? { frames: () => [] };
    for (const frame of frames(ids, greeting)) client.send(frame);
    if (turn) await client.next((frame) => frame.type === turn);
    await fenced(client, wire);
    client.close();
    return plain(client.frames.map((frame) => JSON.stringify(frame)).join('\n'), ids);
  }

  test('nothing is heard of what happens there', async () => {
    const listeners: [TestClient, Wire][] = [];
    for (const wire of Object.values(WIRES)) {
      const client = await connected(server, person(other), wire.path(things.ids));
      if (await greeted(client, wire)) listeners.push([client, wire]);
    }
    const activity = await heardOf(server, person(other), () => things.speak());
    expect(activity).not.toContain(things.word);
    for (const [client, wire] of listeners) {
      await fenced(client, wire);
      expect(JSON.stringify(client.frames)).not.toContain(things.word);
    }
    expect(listeners.length).toBeGreaterThanOrEqual(4);
  });

  test('it is all as it was, and its owner still finds it', async () => {
    const lists = (kept: string) => kept.split('\n').slice(0, 3).join('\n');
    const after = await things.kept();
    expect(lists(after)).toBe(lists(before));
    expect(JSON.parse(approvalsOf(after))).toEqual(JSON.parse(approvalsOf(before)));
    await expectFound(person(owner));
  });

  /** That the tries can find something at all: whoever may see it does. */
  async function expectFound(who: Person): Promise<void> {
    for (const [name, route] of Object.entries(ROUTES)) {
      if (!name.startsWith('GET /v1/') || !name.includes(':id')) continue;
      for (const { status, text } of await tried(name, route, who, things.ids)) {
        expect([name, status]).toEqual([name, 200]);
        if (!name.includes('grants') && !route.wordless && text !== STREAM)
          expect(text).toContain(things.word);
      }
    }
  }
});

const approvalsOf = (kept: string): string => kept.split('\n')[4]?.slice(4) ?? '';

/** What the stream of everything that happens tells while `happening`, up to something of one's own after it. */
async function heardOf(server: TestServer, who: Person, happening: () => Promise<void>): Promise<string> {
  const hangUp = new AbortController();
  const stream = await fetch(`${server.http}/v1/activity`, { headers: bearer(who), signal: hangUp.signal });
  await happening();
  const own = crypto.randomUUID();
  await asked(server, who, 'POST', `/v1/sessions/${own}/commands`, { type: 'session.create' });
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of stream.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes(own)) break;
  }
  hangUp.abort();
  return text;
}
