/** Servers with models of the test, and helpers for tests of turns. */
import { afterAll, beforeAll } from 'bun:test';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import {
  type Answer,
  type ChatRequest,
  dictatedModel,
  type ScriptedModel,
  scriptedModel,
} from '../scripted-model.ts';
import { durableOf, postJson, type Target } from '../server-process.ts';
import { type Event, failOnWarnings } from './client.ts';

/** One server for all tests of a file, with a model that answers each request like this. */
export function sharedServer(answer: (request: ChatRequest) => Answer) {
  let model: ScriptedModel;
  let server: TestServer;
  failOnWarnings();
  beforeAll(async () => {
    model = scriptedModel(answer);
    server = await startTestServer({
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: 'key',
      MODEL: 'fake',
      PARLANCE_API_REQUESTS_PER_MINUTE: '100000',
    });
  });
  afterAll(async () => {
    await server.stop();
    model.stop();
  });
  return {
    get model() {
      return model;
    },
    get server() {
      return server;
    },
    turnsOf: async (thread: string): Promise<number> =>
      (await durableOf(server, thread)).filter(({ type }) => type === 'turn.started').length,
  };
}

/** Called after the test, in reverse order. */
export const cleanups: (() => unknown)[] = [];
/** Call it after each test. */
export async function cleanUp(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}

export async function serverOf(settings: Record<string, string>): Promise<TestServer> {
  const server = await startTestServer(settings);
  cleanups.push(() => server.stop());
  return server;
}

/** A server with a model that gives these answers, one after another. */
export async function answering(...answers: Answer[]) {
  const model = scriptedModel((_, count) => answers[count - 1] ?? { say: 'No more.' });
  cleanups.push(model.stop);
  const settings = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' };
  return { model, settings, server: await serverOf(settings) };
}

export async function dictated() {
  const model = dictatedModel();
  cleanups.push(model.stop);
  return { model, server: await serverOf(model.settings) };
}

export const ends =
  (...types: string[]) =>
  (events: readonly { readonly type: string }[]) =>
    events.some(({ type }) => types.includes(type));

export const cancel = (server: Target, session: string) =>
  postJson(`${server.http}/v1/sessions/${session}/commands`, { type: 'turn.cancel' });

/** Resolves with the first event of that type. */
export function seen(type: string): {
  readonly promise: Promise<Event>;
  readonly onEvent: (event: Event) => void;
} {
  const { promise, resolve } = Promise.withResolvers<Event>();
  return { promise, onEvent: (event) => event.type === type && resolve(event) };
}
