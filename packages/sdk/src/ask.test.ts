import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ApprovalId } from '@parlance/protocol';
import { startTestServer, type TestServer } from '../../server/src/testing/server.ts';
import { connect, type Parlance } from './connect.ts';
import { ParlanceError } from './error.ts';
import type { AskOptions, SessionHandle } from './session.ts';

let server: TestServer;
let parlance: Parlance;
beforeAll(async () => {
  server = await startTestServer();
  parlance = connect({ url: server.http });
});
afterAll(() => server.stop());

const madeFile = (name: string): boolean => existsSync(join(server.root, name));
const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => null,
    (error) => error,
  );

/** An `ask` whose turn waits for an approval. */
async function waiting(session: SessionHandle, text: string, options: AskOptions = {}) {
  const requested = Promise.withResolvers<ApprovalId>();
  const answer = session.ask(text, {
    ...options,
    onEvent: (event) => event.type === 'approval.requested' && requested.resolve(event.approval),
  });
  const failure = failureOf(answer);
  return { answer, failure, approval: await requested.promise };
}

describe('ask', () => {
  test('resolves with the answer, and reports its parts and all events', async () => {
    let streamed = '';
    const types = new Set<string>();
    const { text, turn } = await parlance.session('simple').ask('count to 5', {
      onText: (part) => {
        streamed += part;
      },
      onEvent: ({ type }) => types.add(type),
    });
    expect(text).toContain('5');
    expect(streamed).toBe(text);
    expect(turn).toMatchObject({ kind: 'turn', state: { status: 'ended' } });
    expect([...types]).toContain('turn.started');
  });

  test('waits for its own turn if others are queued before it', async () => {
    const session = parlance.session('queued');
    const [one, two] = await Promise.all([session.ask('count to 3'), session.ask('count to 7')]);
    expect(one.text).toContain('3');
    expect(one.text).not.toContain('7');
    expect(two.text).toContain('7');
  });

  test('asks about a call, which runs if it is allowed', async () => {
    const asked: string[] = [];
    const { turn } = await parlance.session('allowed').ask('run touch allowed.txt', {
      onApproval({ ask, tool }) {
        asked.push(`${tool}: ${ask.command.join(' ')}`);
        return 'once';
      },
    });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toEndWith('touch allowed.txt');
    expect(madeFile('allowed.txt')).toBe(true);
    expect(turn.items.find(({ kind }) => kind === 'call')).toMatchObject({ state: { outcome: 'ok' } });
  });

  test('a call that is denied does not run, and the reason is stored', async () => {
    const session = parlance.session('denied');
    const { turn } = await session.ask('run touch denied.txt', {
      onApproval: async () => ({ answer: 'deny', reason: 'not today' }),
    });
    expect(madeFile('denied.txt')).toBe(false);
    expect(turn.items.find(({ kind }) => kind === 'call')).toMatchObject({
      approval: { state: { answer: 'deny', reason: 'not today' } },
    });
  });

  test('leaves the decision to others, and stops asking when they have decided', async () => {
    const session = parlance.session('elsewhere');
    const aborted = Promise.withResolvers<void>();
    const { answer, approval } = await waiting(session, 'run touch elsewhere.txt', {
      onApproval: (_approval, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            aborted.resolve();
            resolve('deny');
          });
        }),
    });
    await session.answer(approval, 'once');
    await aborted.promise;
    await answer;
    expect(madeFile('elsewhere.txt')).toBe(true);
  });

  test('rejects with the error of onApproval, and the approval stays', async () => {
    const broken = new Error('no terminal');
    const asking = parlance.session('broken').ask('run touch broken.txt', {
      onApproval() {
        throw broken;
      },
    });
    expect(await failureOf(asking)).toBe(broken);
    expect((await parlance.session('broken').get()).status).toBe('waiting');
  });

  test('rejects if the turn is cancelled', async () => {
    const session = parlance.session('cancelled');
    const { failure } = await waiting(session, 'run touch cancelled.txt');
    await session.cancel();
    expect(await failure).toMatchObject({ code: 'cancelled', message: 'The turn was cancelled.' });
  });

  test('rejects if its input is cancelled before its turn', async () => {
    const session = parlance.session('waiting');
    const first = await waiting(session, 'run touch waiting.txt');
    const { facts, key } = await session.submit('count to 3');
    const accepted = facts.find((event) => event.type === 'input.accepted');
    const second = failureOf(session.ask('count to 3', { key }));
    await session.send({ type: 'turn.cancel', turn: accepted?.turn });
    expect(await second).toMatchObject({ code: 'cancelled' });
    await session.cancel();
    expect(await first.failure).toMatchObject({ code: 'cancelled' });
  });

  test('an aborted signal stops waiting, and the turn continues', async () => {
    const session = parlance.session('aborted');
    const stop = new AbortController();
    const { failure } = await waiting(session, 'run touch aborted.txt', { signal: stop.signal });
    const reason = new Error('enough');
    stop.abort(reason);
    expect(await failure).toBe(reason);
    expect((await session.get()).status).toBe('waiting');
  });

  test('with the key of an earlier call returns the answer to that one', async () => {
    const session = parlance.session('repeated');
    const first = await session.ask('count to 4', { key: 'once-only' });
    await session.ask('count to 9');
    const again = await session.ask('count to 4', { key: 'once-only' });
    expect(again.text).toBe(first.text);
    expect(again.turn.turn).toBe(first.turn.turn);
  });
});

describe('resume', () => {
  test('is null if nothing runs', async () => {
    const session = parlance.session('idle');
    await session.ask('count to 3');
    expect(await session.resume()).toBeNull();
  });

  test('asks about an approval that was waiting, and resolves with the answer', async () => {
    const session = parlance.session('resumed');
    const stop = new AbortController();
    const { failure } = await waiting(session, 'run touch resumed.txt', { signal: stop.signal });
    stop.abort();
    await failure;
    const answer = await session.resume({ onApproval: () => 'once' });
    expect(answer?.turn.state.status).toBe('ended');
    expect(madeFile('resumed.txt')).toBe(true);
  });
});

test('a turn that fails rejects with its code', async () => {
  using model = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('', { status: 400 }) });
  const settings = {
    PROVIDER: 'openai',
    MODEL: 'any',
    OPENAI_API_KEY: 'key',
    OPENAI_BASE_URL: model.url.href,
  };
  const failing = await startTestServer(settings);
  const error = await failureOf(connect({ url: failing.http }).session('failed').ask('Hello'));
  expect(error).toBeInstanceOf(ParlanceError);
  expect(error).toMatchObject({ code: 'provider_rejected' });
  await failing.stop();
});
