/** Data of one principal cannot be read, guessed or answered by another, on any route or with any message. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Described } from '../../packages/server/src/describe/descriptions.ts';
import { type Endpoint, messageName } from '../../packages/server/src/dialects/shared/description.ts';
import type { Dialect } from '../../packages/server/src/dialects/shared/dialect.ts';
import type { TestClient } from '../../packages/server/src/testing/client.ts';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { streamedTo } from './activity.ts';
import {
  creatingProbesOf,
  exampleIds,
  framesOf,
  type Probe,
  probesOf,
  routesOf,
  type SocketDialect,
  startsTurn,
  wiresOf,
} from './probes.ts';
import {
  asked,
  connected,
  type Ids,
  makeThings,
  type Person,
  plain,
  STREAM,
  type Things,
  unusedIds,
} from './things.ts';
import { fenced, greeted } from './wires.ts';

export type Walk = {
  /** the served dialects; default: the index */
  readonly dialects?: readonly Dialect[];
  /** the tested descriptions */
  readonly descriptions: readonly Described[];
};

const UNUSED = unusedIds();
const LOCAL: Person = { name: 'local', token: null };

const MODES = [
  { mode: 'required', owner: 'olga', other: 'bob' },
  { mode: 'open', owner: 'olga', other: 'local' },
  { mode: 'open', owner: 'local', other: 'bob' },
];

/** Defines the tests for every route and every message, in each mode. */
export function isolationWalk({ dialects, descriptions }: Walk): void {
  const routes = routesOf(descriptions);
  const wires = wiresOf(descriptions);
  const creating = Object.entries(routes).flatMap(([name, route]) =>
    creatingProbesOf(route, UNUSED).map((_, index) => [name, index, route] as const),
  );
  const messages = Object.entries(wires).flatMap(([dialect, wire]) =>
    Object.keys(wire.messages.in).map((type) => [dialect, type, wire] as const),
  );
  /**
   * One principal for each message that creates a session, because a second session would get another answer.
   */
  const makerNames = Array.from(
    { length: creating.length + messages.filter(([, type, wire]) => startsTurn(wire, type, UNUSED)).length },
    (_, index) => `maker${index}`,
  );
  const names = ['ada', 'olga', 'bob', ...makerNames];
  const AUTH_USERS = names
    .map((name) => `${name}:${name}-password:${name === 'ada' ? 'admin' : 'developer'}`)
    .join(';');

  describe.each(MODES)('in $mode mode, data of $owner is invisible to $other', ({ mode, owner, other }) => {
    let server: TestServer;
    let things: Things;
    let before: string;
    const people = new Map<string, Person>([['local', LOCAL]]);
    const person = (name: string) => people.get(name) ?? LOCAL;
    let makers: Person[];

    beforeAll(async () => {
      server = await startTestServer({ PARLANCE_AUTH: mode, AUTH_USERS }, { dialects });
      for (const name of names) people.set(name, await loggedIn(name));
      things = await makeThings(server, person(owner));
      makers = makerNames.map(person);
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
        answers.push(await asked(server, who, { method: method.toUpperCase(), path, body }));
      return answers;
    }
    const shown = (answers: readonly { status: number; text: string }[], ids: Ids) =>
      answers.map(({ status, text }) => `${status} ${plain(text, ids)}`);

    test.each(Object.entries(routes))('%s answers as if it did not exist', async (_, route) => {
      const who = async () => (route.revokesToken && other !== 'local' ? loggedIn(other) : person(other));
      const theirs = await tried(route, probesOf(route, things.ids), await who());
      expect(theirs.map(({ text }) => text).join('\n')).not.toContain(things.word);
      if (
        route.foreign === 'forbidden' &&
        !(other === 'local' && theirs.every(({ status }) => status === 401))
      )
        return expect(theirs.map(({ status }) => status)).toEqual(theirs.map(() => 403));
      const absent = await tried(route, probesOf(route, UNUSED), await who());
      if (!route.changing) expect(shown(theirs, things.ids)).toEqual(shown(absent, UNUSED));
      if (mode === 'required' && (route.security === 'caller' || route.security === 'token')) {
        const unknown = await tried(route, probesOf(route, things.ids), LOCAL);
        expect(unknown.map(({ status }) => status)).toEqual(unknown.map(() => 401));
      }
    });

    // There is only one `local`, so another principal creates these.
    if (other !== 'local')
      test.each(creating)(
        '%s, creating example %d, creates a session of the caller',
        async (_, index, route) => {
          const who = maker();
          const probe = (ids: Ids) => creatingProbesOf(route, ids).slice(index, index + 1);
          const theirs = await tried(route, probe(things.ids), who);
          expect(theirs.map(({ text }) => text).join('\n')).not.toContain(things.word);
          const absent = await tried(route, probe(UNUSED), who);
          expect(shown(theirs, things.ids)).toEqual(shown(absent, UNUSED));
        },
      );

    test.each(messages)('in %s, %s finds nothing', async (_, type, wire) => {
      const makes = startsTurn(wire, type, things.ids);
      if (makes && other === 'local') return;
      const who = makes ? maker() : person(other);
      const theirs = await said([type, wire], who, things.ids);
      expect(theirs).not.toContain(things.word);
      expect(theirs).not.toMatch(/subscription_succeeded.*<id>/);
      expect(theirs).toBe(await said([type, wire], who, UNUSED));
    });

    if (mode === 'required')
      test.each(Object.entries(wires))('in %s, nothing is executed without a token', async (_, wire) => {
        const sessions = await everySession();
        const client = await connected(server, LOCAL, wire.socket.connect(exampleIds(things.ids)));
        for (const type of Object.keys(wire.messages.in))
          for (const { frame } of framesOf(wire, type, things.ids)) client.send(frame);
        await fenced(client, wire);
        client.close();
        expect(JSON.stringify(client.frames)).not.toContain(things.word);
        expect(await everySession()).toEqual(sessions);
      });

    /** The sessions of all users, listed by an admin. */
    async function everySession(): Promise<string[]> {
      const { text } = await asked(server, person('ada'), {
        path: '/v1/sessions?limit=500&archived=included',
      });
      const { sessions } = JSON.parse(text) as { sessions: { owner: string; id: string }[] };
      return sessions.map(({ owner, id }) => `${owner} ${id}`).sort();
    }

    /** Everything that a client receives in response, without ids and times. */
    async function said(
      [type, wire]: readonly [string, SocketDialect],
      who: Person,
      ids: Ids,
    ): Promise<string> {
      const client = await connected(server, who, wire.socket.connect(exampleIds(ids)));
      const greeting = await greeted(client, wire, ids);
      if (!greeting) return 'closed';
      for (const { frame, endedBy } of framesOf(wire, type, { ...ids, socket: greeting })) {
        client.send(frame);
        if (endedBy) await client.next((next) => messageName(wire.socket, next) === endedBy);
      }
      await fenced(client, wire);
      client.close();
      return plain(client.frames.map((frame) => JSON.stringify(frame)).join('\n'), ids);
    }

    test('no events are received', async () => {
      const listeners: [TestClient, SocketDialect][] = [];
      for (const wire of Object.values(wires)) {
        const client = await connected(server, person(other), wire.socket.connect(exampleIds(things.ids)));
        if (await greeted(client, wire, things.ids)) listeners.push([client, wire]);
      }
      const activity = await streamedTo(server, person(other), () => things.speak());
      expect(activity).not.toContain(things.word);
      for (const [client, wire] of listeners) {
        await fenced(client, wire);
        expect(JSON.stringify(client.frames)).not.toContain(things.word);
      }
      expect(listeners.length).toBeGreaterThanOrEqual(Math.min(4, Object.keys(wires).length));
    });

    test('nothing has changed, and the owner still finds it', async () => {
      const lists = (kept: string) => kept.split('\n').slice(0, 3).join('\n');
      const after = await things.kept();
      expect(lists(after)).toBe(lists(before));
      expect(JSON.parse(approvalsOf(after))).toEqual(JSON.parse(approvalsOf(before)));
      await expectFound(person(owner));
    });

    /** Checks the probes: principals with access find the data. */
    async function expectFound(who: Person): Promise<void> {
      for (const [name, route] of Object.entries(routes)) {
        if (route.method !== 'get' || route.security !== 'caller' || !name.includes('{id}')) continue;
        for (const { status, text } of await tried(route, probesOf(route, things.ids), who)) {
          // The session is idle, so a stream may have nothing to show.
          if (status === 204 && route.answers[204]) continue;
          expect([name, status]).toEqual([name, 200]);
          if (!/grants|workflow-logs|shares/.test(name) && text !== STREAM)
            expect(text).toContain(things.word);
        }
      }
    }
  });
}

const approvalsOf = (kept: string): string => kept.split('\n')[4]?.slice(4) ?? '';
