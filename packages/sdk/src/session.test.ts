import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../../server/src/testing/server.ts';
import { connect, type Parlance } from './connect.ts';
import { Reader } from './testing/reader.ts';
import { EMPTY, foldAll, type SessionView } from './view.ts';

let server: TestServer;
let parlance: Parlance;
beforeAll(async () => {
  server = await startTestServer();
  parlance = connect({ url: server.http });
});
afterAll(() => server.stop());

const watch = (session: string, by = parlance) =>
  new Reader((options) => by.session(session).events(options));

/** Submits the text and resolves with the events when the turn is over. */
async function turn(session: string, text: string): Promise<SessionView> {
  await parlance.session(session).submit(text);
  const reader = watch(session);
  await reader.event('turn.ended');
  await reader.stop();
  return foldAll(EMPTY, reader.events);
}

/** A session with a pending approval. */
async function waiting(session: string, by = parlance) {
  await by.session(session).submit(`run touch ${session}.txt`);
  const reader = watch(session, by);
  const { approval, hash } = await reader.event('approval.requested');
  return { reader, approval, hash };
}

describe('a session', () => {
  test('starts with an input, and its view has both messages', async () => {
    const view = await turn('chat', 'Hello');
    expect(view).toMatchObject({ title: 'Hello', status: 'idle', created: { dialect: 'native' } });
    expect(view.entries).toMatchObject([{ kind: 'turn', state: { status: 'ended' } }]);
    expect(await parlance.session('chat').get()).toMatchObject({
      id: 'chat',
      head: view.seq,
      now: { turn: null },
    });
  });

  test('without a name gets a unique one', async () => {
    const [one, two] = [parlance.session(), parlance.session()];
    expect(one.id).not.toBe(two.id);
    await one.create({ title: 'Mine', labels: { project: 'x' } });
    expect(await one.get()).toMatchObject({ id: one.id, title: 'Mine' });
  });

  test('can have any name that the server accepts', async () => {
    const name = 'a/b?c#d %41 ünïcode 🙂';
    await parlance.session(name).create();
    expect((await parlance.session(name).get()).id as string).toBe(name);
    const reader = watch(name);
    expect((await reader.event('session.created')).session as string).toBe(name);
    await reader.stop();
  });

  test('accepts parts and reports invalid ones', async () => {
    const image = { type: 'image', mime: 'image/png', data: 'AAAA' } as const;
    const { facts } = await parlance.session('parts').submit([{ type: 'text', text: 'Look' }, image]);
    expect(facts.find(({ type }) => type === 'input.accepted')).toMatchObject({ parts: [{}, image] });
    const broken = parlance.session('parts').submit([{ ...image, data: '!' }]);
    expect(await broken.catch((error) => error)).toMatchObject({ code: 'invalid', status: 400 });
    const empty = parlance.session('parts').submit('  ');
    expect(await empty.catch((error) => error)).toMatchObject({
      code: 'empty',
      message: 'The message is empty.',
    });
  });

  test('is renamed, labelled, cleared and archived, and the view follows', async () => {
    await turn('keeping', 'Hello');
    const session = parlance.session('keeping');
    await session.clear();
    await session.rename('Kept');
    await session.label({ colour: 'blue' });
    await session.archive();
    const view = foldAll(EMPTY, (await session.historyPage({ limit: 1_000 })).events);
    expect(view).toMatchObject({ title: 'Kept', labels: { colour: 'blue' }, archived: true });
    expect(view.entries.at(-1)).toMatchObject({ kind: 'cleared', by: 'local' });
  });

  test('is read page by page', async () => {
    const session = parlance.session('chat');
    const page = await session.historyPage({ after: 1, limit: 2 });
    expect(page).toMatchObject({ events: [{ seq: 2 }, { seq: 3 }], next: 3, reset: false });
    const seqs: number[] = [];
    for await (const { seq } of session.history({ after: 2 })) seqs.push(seq);
    expect(seqs).toEqual(Array.from({ length: page.head - 2 }, (_, index) => index + 3));
  });

  test('is cancelled, or reports that nothing is running', async () => {
    const { reader } = await waiting('cancelled');
    await parlance.session('cancelled').cancel();
    await reader.event('turn.cancelled');
    const view = foldAll(EMPTY, reader.events);
    expect(view).toMatchObject({ status: 'idle', pending: null });
    expect(JSON.stringify(view.entries)).toContain('"status":"lapsed"');
    const again = await parlance
      .session('cancelled')
      .cancel()
      .catch((error) => error);
    expect(again).toMatchObject({ code: 'no_turn', status: 409 });
    await reader.stop();
  });

  test('is compacted on demand, once', async () => {
    const session = parlance.session('chat');
    await session.compact();
    const view = foldAll(EMPTY, (await session.historyPage()).events);
    expect(view.entries.map(({ kind }) => kind)).toEqual(['turn', 'compaction']);
    expect(await session.compact().catch((error) => error)).toMatchObject({ code: 'nothing_to_compact' });
  });

  test('has the plan of its agent', async () => {
    const steps = [
      { step: 'Look', status: 'in_progress' } as const,
      { step: 'Leap', status: 'pending' } as const,
    ];
    await parlance.session('plan').submit([], { call: { tool: 'update_plan', input: { steps } } });
    const reader = watch('plan');
    await reader.event('turn.ended');
    expect(foldAll(EMPTY, reader.events).plan?.steps).toEqual(steps);
    await reader.stop();
  });
});

describe('sessions', () => {
  test('are listed page by page, most recently changed first', async () => {
    await turn('latest', 'Hello');
    const page = await parlance.sessions.list({ limit: 1 });
    expect(page.sessions).toMatchObject([{ id: 'latest', status: 'idle' }]);
    const next = await parlance.sessions.list({ limit: 1, cursor: page.next ?? '' });
    expect(next.sessions[0]?.id as string).not.toBe('latest');
    const all: string[] = [];
    for await (const { id } of parlance.sessions.all()) all.push(id);
    expect(new Set(all).size).toBe(all.length);
    expect(all).toContain('chat');
  });
});

describe('an approval', () => {
  test('is answered from the list, bound to what was shown', async () => {
    const { reader, approval, hash } = await waiting('once');
    const listed = (await parlance.approvals.list()).find(({ session }) => (session as string) === 'once');
    expect(listed).toMatchObject({ id: approval, hash, tool: 'shell', ask: { kind: 'command' } });
    const other = parlance.approvals.answer(approval, { answer: 'once', hash: 'of something else' });
    expect(await other.catch((error) => error)).toMatchObject({ code: 'invalid' });
    expect(await parlance.approvals.answer(approval, { answer: 'once', hash })).toMatchObject({
      answer: 'once',
    });
    await reader.event('turn.ended');
    const late = parlance.approvals.answer(approval, { answer: 'deny' });
    expect(await late.catch((error) => error)).toMatchObject({ code: 'no_approval', status: 409 });
    await reader.stop();
  });

  test('answered in another dialect shows by whom and how', async () => {
    const { reader } = await waiting('elsewhere');
    const client = await server.connect('/agentloop?session=elsewhere');
    const { id } = await client.next('approval_request');
    client.send({
      id: 'a',
      type: 'approval_response',
      payload: { requestId: id, review: 'no-continue', customDenyMessage: 'not today' },
    });
    await reader.event('turn.ended');
    const [first] = foldAll(EMPTY, reader.events).entries;
    const call = first?.kind === 'turn' ? first.items.find(({ kind }) => kind === 'call') : undefined;
    expect(call).toMatchObject({
      approval: {
        state: { status: 'answered', answer: 'deny', by: 'local', dialect: 'agentloop', reason: 'not today' },
      },
      state: { phase: 'ended', outcome: 'denied' },
    });
    await reader.stop();
  });

  test('answered by two clients concurrently accepts one answer, and both see it', async () => {
    const other = connect({ url: server.http });
    const { reader, approval } = await waiting('race');
    const second = watch('race', other);
    const answers = await Promise.allSettled([
      parlance.session('race').answer(approval, 'once'),
      other.session('race').answer(approval, 'deny', { reason: 'no' }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await Promise.all([reader.event('turn.ended'), second.event('turn.ended')]);
    expect(foldAll(EMPTY, second.events)).toEqual(foldAll(EMPTY, reader.events));
    await Promise.all([reader.stop(), second.stop()]);
  });

  test('is explained, and its standing grant is revoked', async () => {
    const { reader, approval } = await waiting('always');
    const session = parlance.session('always');
    await session.explain(approval);
    await session.answer(approval, 'always');
    await reader.event('turn.ended');
    const granted = foldAll(EMPTY, reader.events);
    expect(granted.grants).toEqual(['shell:touch']);
    expect(await session.grants()).toEqual(['shell:touch']);
    await session.revoke('shell:touch');
    await reader.event('grant.revoked');
    expect(foldAll(EMPTY, reader.events).grants).toEqual([]);
    const again = await session.revoke('shell:touch').catch((error) => error);
    expect(again).toMatchObject({ code: 'not_found' });
    await reader.stop();
  });
});

test('two clients on one session see each other’s messages', async () => {
  const other = connect({ url: server.http });
  await parlance.session('both').create();
  const [mine, theirs] = [watch('both'), watch('both', other)];
  await Promise.all([mine.event('snapshot'), theirs.event('snapshot')]);
  const sent = await parlance.session('both').submit('from one');
  await Promise.all([mine.event('turn.ended'), theirs.event('turn.ended')]);
  await other.session('both').submit('from the other');
  await Promise.all([mine.event('turn.ended'), theirs.event('turn.ended')]);
  const views = [mine, theirs].map(({ events }) => foldAll(EMPTY, events)) as [SessionView, SessionView];
  expect(views[0]).toEqual(views[1]);
  const [first, second] = views[0].entries;
  expect(first?.kind === 'turn' && first.input?.key).toBe(sent.key);
  expect(second).toMatchObject({ input: { parts: [{ text: 'from the other' }] } });
  await Promise.all([mine.stop(), theirs.stop()]);
});

describe('a logged-in client', () => {
  test('acts as that user until it logs out', async () => {
    const locked = await startTestServer({ PARLANCE_AUTH: 'required' });
    const client = connect({ url: locked.http });
    expect(await client.sessions.list().catch((error) => error)).toMatchObject({ code: 'unauthenticated' });
    const wrong = client.auth.login('dev', 'wrong');
    expect(await wrong.catch((error) => error)).toMatchObject({ code: 'unauthenticated', status: 401 });
    expect(await client.auth.login('dev', 'dev-password')).toMatchObject({
      role: 'developer',
      token: client.token,
    });
    expect(await client.auth.me()).toMatchObject({ id: 'dev', role: 'developer' });
    await client.session('mine').submit('Hello');
    const { token } = client;
    await client.auth.logout();
    expect(client.token).toBeNull();
    expect(await client.sessions.list().catch((error) => error)).toMatchObject({ code: 'unauthenticated' });
    client.token = token;
    expect(await client.sessions.list().catch((error) => error)).toMatchObject({ code: 'unauthenticated' });
    await locked.stop();
  });

  test('sees only its own sessions and is limited by its role', async () => {
    await parlance.session('secret').create();
    const uma = connect({ url: server.http, token: await server.login('uma', 'uma-password') });
    expect(
      await uma
        .session('secret')
        .get()
        .catch((error) => error),
    ).toMatchObject({ code: 'not_found' });
    const { reader, approval } = await waiting('umas', uma);
    const answer = uma.session('umas').answer(approval, 'once');
    expect(await answer.catch((error) => error)).toMatchObject({ code: 'forbidden', status: 403 });
    await reader.stop();
  });
});

test('reports the server and the caller', async () => {
  const about = await parlance.server();
  expect(about).toMatchObject({ auth: 'open', principal: { id: 'local' }, provider: 'offline' });
  expect(about.domains.map(({ id }) => id)).toContain(about.defaultDomain);
});
