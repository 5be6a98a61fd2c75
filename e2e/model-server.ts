/** Servers with a scripted model behind them, for tests. */
import { afterAll, afterEach } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  startTestServer,
  type TestDialects,
  type TestServer,
} from '../packages/server/src/testing/server.ts';
import {
  type Answer,
  type DictatedModel,
  dictatedModel,
  type ScriptedModel,
  scriptedModel,
} from './scripted-model.ts';
import { durableOf, type ServerProcess, startProcess } from './server-process.ts';

type Script = Parameters<typeof scriptedModel>[0];
type Settings = Record<string, string>;

const settingsOf = ({ url }: ScriptedModel): Settings => ({
  OPENAI_BASE_URL: url,
  OPENAI_API_KEY: 'key',
  MODEL: 'fake',
  PARLANCE_API_REQUESTS_PER_MINUTE: '100000',
});

/** One server for all tests of a file, stopped after the last. Call it at the top of the file. */
export async function modelServer(script: Script, settings: Settings = {}, dialects: TestDialects = {}) {
  const model = scriptedModel(script);
  const server = await startTestServer({ ...settingsOf(model), ...settings }, dialects);
  afterAll(async () => {
    await server.stop();
    model.stop();
  });
  return {
    model,
    server,
    turnsOf: async (session: string): Promise<number> =>
      (await durableOf(server, session)).filter(({ type }) => type === 'turn.started').length,
    /** the last prompt, as JSON */
    promptText: (): string => JSON.stringify(model.requests.at(-1)?.messages),
    /** the roles and contents of the last prompt */
    prompt: () => model.requests.at(-1)?.messages.map(({ role, content }) => [role, content]) ?? [],
  };
}

export type Restartable = {
  /** Each call starts the server again with the same data. */
  start(): Promise<ServerProcess>;
};

/** Servers of single tests, stopped after each test. Call it at the top of the file. */
export function testServers() {
  const cleanups: (() => unknown)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });

  async function started(settings: Settings): Promise<TestServer> {
    const server = await startTestServer(settings);
    cleanups.push(() => server.stop());
    return server;
  }

  function scripted(script: Script): ScriptedModel {
    const model = scriptedModel(script);
    cleanups.push(model.stop);
    return model;
  }

  return {
    /** a server with these settings */
    started,
    /** with a model that gives these answers, one after another */
    async answering(...answers: Answer[]): Promise<{ model: ScriptedModel; server: TestServer }> {
      const model = scripted((_, count) => answers[count - 1] ?? { say: 'No more.' });
      return { model, server: await started(settingsOf(model)) };
    },
    /** with a model that the test dictates */
    async dictated(): Promise<{ model: DictatedModel; server: TestServer }> {
      const model = dictatedModel();
      cleanups.push(model.stop);
      return { model, server: await started(model.settings) };
    },
    /** a server that can be killed and started again */
    restartable(script: Script, settings: Settings = {}): Restartable & { readonly model: ScriptedModel } {
      const model = scripted(script);
      const folder = mkdtempSync(join(tmpdir(), 'parlance-restart-'));
      cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
      return {
        model,
        async start() {
          const server = await startProcess(folder, { ...settingsOf(model), ...settings });
          cleanups.push(() => server.kill());
          return server;
        },
      };
    },
  };
}

/** Whether one of these events has occurred. */
export const has =
  (...types: string[]) =>
  (events: readonly { readonly type: string }[]): boolean =>
    events.some(({ type }) => types.includes(type));
