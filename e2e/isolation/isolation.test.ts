/** What is one principal's cannot be seen, guessed or answered by another, on any route or with any message. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Endpoint } from '../../packages/server/src/dialects/shared/description.ts';
import type { TestClient } from '../../packages/server/src/testing/client.ts';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { heardOf } from './activity.ts';
import {
  creatingProbesOf,
  exampleIds,
  framesOf,
  type Probe,
  probesOf,
  ROUTES,
  type Spoken,
  startsTurn,
  WIRES,
} from './probes.ts';
import {
  asked,
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

const NOBODYS = nobodysIds();
const CREATING = Object.entries(ROUTES).flatMap(([name, route]) =>
  creatingProbesOf(route, NOBODYS).map((_, index) => [name, index, route] as const),
);
const MESSAGES = Object.entries(WIRES).flatMap(([dialect, wire]) =>
  Object.keys(wire.messages.in).map((type) => [dialect, type, wire] as const),
);

/** One for each message that makes a session: whoever has made one is answered differently the next time. */
const MAKERS = Array.from(
  { length: CREATING.length + MESSAGES.filter(([, type, wire]) => startsTurn(wire, type, NOBODYS)).length },
  (_, index) => `maker${index}`,
);
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

test('every route and every message has probes', () => {
  for (const [name, { path, body, examples }] of Object.entries(ROUTES))
    if (path.includes('{') || body) expect([name, typeof examples]).toEqual([name, 'function']);
  const requests = Object.values(ROUTES).flatMap((route) => [
    ...probesOf(route, NOBODYS),
    ...creatingProbesOf(route, NOBODYS),
  ]);
  const frames = MESSAGES.flatMap(([, type, wire]) => framesOf(wire, type, NOBODYS));
  // Fewer than these means that something is not tried any more.
  expect(requests.length).toBeGreaterThanOrEqual(200);
  expect(frames.length).toBeGreaterThanOrEqual(70);
});

describe.each(MODES)('in $mode mode, data of $owner is invisible to $other', ({ mode, owner, other }) => {
  let server: TestServer;
  let things: Things;
  let before: string;
  const people = new Map<string, Person>([['local', LOCAL]]);
  const person = (name: string) => people.get(name) ?? LOCAL;
  let makers: Person[];

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

  async function tried({ method }: Endpoint, probes: readonly Probe[], who: Person) {
    const answers: { status: number; text: string }[] = [];
    for (const { path, body } of probes)
      answers.push(await asked(server, who, method.toUpperCase(), path, body));
    return answers;
  }
  const shown = (answers: readonly { status: number; text: string }[], ids: Ids) =>
    answers.map(({ status, text }) => `${status} ${plain(text, ids)}`);

  test.each(Object.entries(ROUTES))('%s answers as if it were not there', async (_, route) => {
    const who = async () => (route.revokesToken && other !== 'local' ? loggedIn(other) : person(other));
    const theirs = await tried(route, probesOf(route, things.ids), await who());
    expect(theirs.map(({ text }) => text).join('\n')).not.toContain(things.word);
    if (route.foreign === 'forbidden' && !(other === 'local' && theirs.every(({ status }) => status === 401)))
      return expect(theirs.map(({ status }) => status)).toEqual(theirs.map(() => 403));
    const nobody = await tried(route, probesOf(route, NOBODYS), await who());
    if (!route.changing) expect(shown(theirs, things.ids)).toEqual(shown(nobody, NOBODYS));
    if (mode === 'required' && (route.security === 'caller' || route.security === 'token')) {
      const unknown = await tried(route, probesOf(route, things.ids), LOCAL);
      expect(unknown.map(({ status }) => status)).toEqual(unknown.map(() => 401));
    }
  });

  // There is only one `local`: what it makes is made under another name.
  if (other !== 'local')
    test.each(CREATING)(
      '%s, creating example %d, creates a session of the caller',
      async (_, index, route) => {
        const who = maker();
        const probe = (ids: Ids) => creatingProbesOf(route, ids).slice(index, index + 1);
        const theirs = await tried(route, probe(things.ids), who);
        expect(theirs.map(({ text }) => text).join('\n')).not.toContain(things.word);
        const nobody = await tried(route, probe(NOBODYS), who);
        expect(shown(theirs, things.ids)).toEqual(shown(nobody, NOBODYS));
      },
    );

  test.each(MESSAGES)('in %s, %s finds nothing', async (_, type, wire) => {
    const makes = startsTurn(wire, type, things.ids);
    if (makes && other === 'local') return;
    const who = makes ? maker() : person(other);
    const theirs = await said(wire, type, who, things.ids);
    expect(theirs).not.toContain(things.word);
    expect(theirs).not.toMatch(/subscription_succeeded.*<id>/);
    expect(theirs).toBe(await said(wire, type, who, NOBODYS));
  });

  /** All that a client receives in answer, ids and times apart. */
  async function said(wire: Spoken, type: string, who: Person, ids: Ids): Promise<string> {
    const client = await connected(server, who, wire.socket.connect(exampleIds(ids)));
    const greeting = await greeted(client, wire, ids);
    if (!greeting) return 'closed';
    for (const { frame, endedBy } of framesOf(wire, type, ids, greeting)) {
      client.send(frame);
      if (endedBy) await client.next((next) => next[wire.socket.nameField] === endedBy);
    }
    await fenced(client, wire);
    client.close();
    return plain(client.frames.map((frame) => JSON.stringify(frame)).join('\n'), ids);
  }

  test('no events are received', async () => {
    const listeners: [TestClient, Spoken][] = [];
    for (const wire of Object.values(WIRES)) {
      const client = await connected(server, person(other), wire.socket.connect(exampleIds(things.ids)));
      if (await greeted(client, wire, things.ids)) listeners.push([client, wire]);
    }
    const activity = await heardOf(server, person(other), () => things.speak());
    expect(activity).not.toContain(things.word);
    for (const [client, wire] of listeners) {
      await fenced(client, wire);
      expect(JSON.stringify(client.frames)).not.toContain(things.word);
    }
    expect(listeners.length).toBeGreaterThanOrEqual(4);
  });

  test('nothing has changed, and the owner still finds it', async () => {
    const lists = (kept: string) => kept.split('\n').slice(0, 3).join('\n');
    const after = await things.kept();
    expect(lists(after)).toBe(lists(before));
    expect(JSON.parse(approvalsOf(after))).toEqual(JSON.parse(approvalsOf(before)));
    await expectFound(person(owner));
  });

  /** That the probes can find something at all: whoever may see it does. */
  async function expectFound(who: Person): Promise<void> {
    for (const [name, route] of Object.entries(ROUTES)) {
      if (!name.startsWith('GET /v1/') || !name.includes('{id}')) continue;
      for (const { status, text } of await tried(route, probesOf(route, things.ids), who)) {
        expect([name, status]).toEqual([name, 200]);
        if (!/grants|workflow-logs/.test(name) && text !== STREAM) expect(text).toContain(things.word);
      }
    }
  }
});

const approvalsOf = (kept: string): string => kept.split('\n')[4]?.slice(4) ?? '';
