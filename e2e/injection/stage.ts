/**
 * A server whose model obeys everything it reads, and places where content comes from: a search service, an MCP server, a browser,
 * clones. All of them record what they receive.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { DurableEvent } from '../../packages/protocol/src/index.ts';
import { startTestServer } from '../../packages/server/src/testing/server.ts';
import { type ChatRequest, scriptedModel } from '../scripted-model.ts';
import { durableOf, followed, getJson, postJson } from '../server-process.ts';

export type Call = { readonly call: string; readonly input: object };

/** An instruction as it stands in a page or a file: one word, so that any format carries it. */
export const written = (call: Call): string =>
  `OBEY.${Buffer.from(JSON.stringify(call)).toString('base64url')}.`;

const instructionsIn = (text: string): Call[] =>
  [...text.matchAll(/OBEY\.([\w-]+)\./g)].map((match) =>
    JSON.parse(Buffer.from(match[1] ?? '', 'base64url').toString()),
  );

/** Uses the tool that the user names; asked to go on, does what an instruction in its context says. */
function obey({ messages, tools }: ChatRequest) {
  const last = messages.at(-1);
  const text = JSON.stringify(last?.content ?? '');
  if (last?.role === 'tool') return { say: 'Done.' };
  if (text.includes('USE') || text.includes('Go on')) {
    const read = messages.filter(({ content }) => !JSON.stringify(content ?? '').includes('USE'));
    const call = instructionsIn(text.includes('USE') ? text : JSON.stringify(read))[0];
    if (call) return call;
  }
  const isTask = tools?.some((tool) => tool.function.name === 'browser_finish');
  const finish = { call: 'browser_finish', input: { outcome: 'completed', message: 'Read.' } };
  return isTask ? finish : { say: 'Read.' };
}

export type Waiting = { readonly id: string; readonly ask: { readonly command: string[] } };

export async function openStage() {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-injection-'));
  const root = join(folder, 'work');
  /** what was received elsewhere: searches, MCP calls, browser tools */
  const received: string[] = [];
  let content = '';
  const elsewhere = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      received.push(`${request.url} ${await request.text()}`);
      if (!request.url.endsWith('/search')) return new Response(content);
      const hit = { title: 'A result', link: 'https://example.com/', snippet: content };
      return Response.json({ organic: [hit] });
    },
  });
  const model = scriptedModel(obey);
  const config = join(folder, 'config.json');
  const program = join(import.meta.dir, 'mcp-server.ts');
  const env = { ELSEWHERE: `${elsewhere.url}mcp` };
  const mcpServers = { elsewhere: { command: process.execPath, args: [program], env } };
  write('README.md', 'A project of the person.');
  writeFileSync(config, JSON.stringify({ mcpServers }));
  const server = await startTestServer({
    ...{ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake', PARLANCE_CONFIG: config },
    ...{ SERPER_API_KEY: 'key', SERPER_BASE_URL: String(elsewhere.url), TOOL_USE_APPROVAL_MODE: 'auto-edit' },
    ...{ WORKING_DIRECTORY: root, PARLANCE_DATA: join(folder, 'data') },
  });
  const token = await server.login('dev', 'dev-password');
  const headers = { authorization: `Bearer ${token}` };
  const target = { http: server.http, headers };
  const browser = await server.connect(`/?token=${token}`);
  browser.send({
    id: 'r',
    type: 'client_registration',
    timestamp: 1,
    clientType: 'x',
    capabilities: ['all_tools'],
  });
  await browser.next('registration_confirmed');
  const stop = new AbortController();
  const answering = answerBrowserTools();

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }

  async function answerBrowserTools(): Promise<void> {
    for (;;) {
      const request = await browser.next('tool_execution_request').catch(() => null);
      if (!request || stop.signal.aborted) return;
      received.push(JSON.stringify(request));
      const { executionId } = request;
      const result = { title: 'A page', content };
      const answer = { success: true, result, executionTime: 1 };
      browser.send({ id: 't', type: 'tool_execution_response', timestamp: 1, executionId, ...answer });
    }
  }

  const agent = 'coder';
  const count = (events: readonly DurableEvent[], type: DurableEvent['type']) =>
    events.filter((event) => event.type === type).length;
  const post = (path: string, body: object) => postJson(`${server.http}${path}`, body, headers);
  const waiting = async () =>
    (await getJson<{ approvals: Waiting[] }>(`${server.http}/v1/approvals`, headers)).approvals;

  return {
    server,
    received,
    post,
    write,
    /** what pages, searches, MCP servers answer from now on */
    say: (text: string) => {
      content = text;
    },
    send: (session: string, command: object) => post(`/v1/sessions/${session}/commands`, command),
    /** Resolves when this many turns of the session have ended. */
    ended: (session: string, turns: number) =>
      followed(target, session, (events) => count(events, 'turn.ended') >= turns),
    /** The call that waits for a client. */
    deferred: async (session: string) => {
      const events = await followed(target, session, (seen) => count(seen, 'call.deferred') > 0);
      return events.find((event) => event.type === 'call.deferred')?.call;
    },
    agent,
    turns: async (session: string) => count(await durableOf(target, session).catch(() => []), 'turn.ended'),
    /** The approval that is requested before `done` resolves, or null. */
    async askedBefore(done: Promise<unknown>): Promise<Waiting | null> {
      let isDone = false;
      const finished = done.finally(() => {
        isDone = true;
      });
      finished.catch(() => undefined);
      for (;;) {
        const [asked] = await waiting();
        if (asked) return asked;
        if (isDone) {
          await finished;
          return null;
        }
        await Bun.sleep(5);
      }
    },
    answer: (approval: Waiting, answer: 'deny' | 'always') =>
      post(`/v1/approvals/${approval.id}`, { answer }),
    /** Whether something with this name was received or written. */
    hasEffect: (name: string): boolean =>
      received.some((text) => text.includes(name)) ||
      readdirSync(root).some((file) => file.includes(name)) ||
      existsSync(join(root, name)),
    async [Symbol.asyncDispose]() {
      stop.abort();
      browser.close();
      await server.stop();
      await answering;
      model.stop();
      await elsewhere.stop(true);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type Stage = Awaited<ReturnType<typeof openStage>>;
