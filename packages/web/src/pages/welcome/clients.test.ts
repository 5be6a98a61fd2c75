/** Runs the commands of the guide against a real server, as if pasted. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connect, type DialectList } from '@parlance/sdk';
import { TestClient } from '../../../../server/src/testing/client.ts';
import { listedDialects } from '../../../../server/src/testing/listed-dialects.ts';
import { startTestServer, type TestServer } from '../../../../server/src/testing/server.ts';
import { logIn, type Snippet } from '../timeline/shell-commands.ts';
import { type Client, clientsOf, listenersOf, type ServerInfo, serverInfoOf } from './clients.ts';

/** Expected reply on each socket. */
const ANSWERED: Readonly<Record<string, (frame: Record<string, unknown>) => boolean>> = {
  acp: ({ id, result }) => id !== undefined && result !== undefined,
  extension: ({ type }) => type === 'agent_response',
  broadcast: ({ type }) => type === 'agent_message',
  agentloop: ({ type }) => type === 'agent_finished',
  conversations: ({ type }) => type === 'message_complete' || type === 'agent_message',
  openai: ({ type }) => type === 'response.completed',
  pusher: ({ event }) => event === 'pusher_internal:subscription_succeeded',
};

describe.each(['open', 'required'] as const)('in %s mode', (auth) => {
  let server: TestServer;
  let info: ServerInfo;
  let clients: readonly Client[];
  let token: string;
  beforeAll(async () => {
    server = await startTestServer({ PARLANCE_AUTH: auth, PARLANCE_LISTEN: 'agentloop=0' });
    token = await server.login('dev', 'dev-password');
    const parlance = connect({ url: server.http, token: auth === 'open' ? null : token });
    info = serverInfoOf(await parlance.server(), server.http);
    clients = clientsOf(info, await parlance.dialects());
  });
  afterAll(() => server.stop());

  const snippets = (): [Client, Snippet][] =>
    clients.flatMap((client) => client.snippets.map((snippet): [Client, Snippet] => [client, snippet]));

  const spawned = (command: string[], needsToken: boolean) => {
    const env = { PATH: process.env.PATH, PARLANCE_TOKEN: needsToken ? token : '' };
    return Bun.spawn(command, { cwd: import.meta.dir, env, stderr: 'inherit' });
  };

  async function run(command: string[], needsToken: boolean): Promise<string> {
    const child = spawned(command, needsToken);
    const said = await new Response(child.stdout).text();
    expect(await child.exited).toBe(0);
    return said;
  }

  /** Output of a running command up to a text. */
  async function runUntil(wanted: string, code: string, needsToken: boolean): Promise<string> {
    const child = spawned(['sh', '-c', `exec ${code}`], needsToken);
    const decoder = new TextDecoder();
    let said = '';
    for await (const chunk of child.stdout) {
      said += decoder.decode(chunk, { stream: true });
      if (said.includes(wanted)) break;
    }
    child.kill();
    return said;
  }

  test('every socket command of the guide gets a reply', async () => {
    const heard: string[] = [];
    for (const [{ dialect }, { socket }] of snippets()) {
      if (!socket) continue;
      const headers = socket.needsToken ? { authorization: `Bearer ${token}` } : undefined;
      const client = await TestClient.connect(socket.address, headers);
      for (const frame of socket.frames) client.send(frame);
      await client.next((frame) => ANSWERED[dialect]?.(frame) ?? false);
      client.close();
      heard.push(dialect);
    }
    expect(heard).toEqual([
      'acp',
      'agentloop',
      'broadcast',
      'conversations',
      'extension',
      'openai',
      'pusher',
    ]);
  });

  test('every curl command of the guide works', async () => {
    const said: Record<string, string> = {};
    for (const [, { code, needsToken, title }] of snippets())
      if (code.startsWith('curl -sN')) said[title] = await runUntil('event: snapshot', code, needsToken);
      else if (code.startsWith('curl')) said[title] = await run(['sh', '-c', code], needsToken);
    expect(JSON.parse(said['List conversations'] ?? '')).toBeArray();
    expect(JSON.parse(said['Start a task in a new session'] ?? '')).toMatchObject({
      data: { action: 'setValue(1, "lamp")' },
    });
    expect(JSON.parse(said['Send a message'] ?? '')).toMatchObject({ session: 'demo' });
    expect(said['Follow the events']).toContain('event: input.accepted');
  });

  test('the SDK script prints the answer', async () => {
    const script = snippets().find(([, { language }]) => language === 'ts')?.[1];
    expect(await run([process.execPath, '-e', script?.code ?? ''], true)).toContain('20');
  });

  test('the login command sets a valid token', async () => {
    const { code } = logIn(server.http, 'dev');
    const typed = code.replace('PASSWORD', 'dev-password');
    const said = await run(['sh', '-c', `${typed}\nprintf %s "$PARLANCE_TOKEN"`], false);
    expect((await connect({ url: server.http, token: said }).auth.me()).id).toBe('dev');
  });

  test('commands use a token exactly where one is needed', () => {
    const needing = clients.filter(({ snippets }) => snippets.some(({ needsToken }) => needsToken));
    const all = clients.map(({ dialect }) => dialect).filter((dialect) => dialect !== 'pusher');
    expect(needing.map(({ dialect }) => dialect)).toEqual(
      auth === 'open' ? ['conversations', 'copilot'] : all,
    );
  });

  test('an extra listener is among the addresses', () => {
    const port = server.running.listeners[0]?.port;
    const agentloop = clients.find(({ dialect }) => dialect === 'agentloop');
    expect(agentloop?.addresses).toEqual([
      { address: `${server.ws}/agentloop`, condition: null },
      { address: `${server.ws}/`, condition: 'if the first frame is one of this dialect' },
      { address: `ws://127.0.0.1:${port}`, condition: null },
    ]);
  });
});

const LIST: DialectList = await listedDialects();

const SERVER: ServerInfo = {
  origin: 'https://agents.example.com',
  listeners: [
    { dialect: 'all', port: 3000 },
    { dialect: 'agentloop', port: 8080 },
  ],
  auth: 'required',
  name: 'ada',
};

test('behind https, sockets use wss and extra listeners are left out', () => {
  const extension = clientsOf(SERVER, LIST).find(({ dialect }) => dialect === 'extension');
  expect(extension?.addresses.map(({ address }) => address)).toEqual([
    'wss://agents.example.com/extension',
    'wss://agents.example.com/',
    'https://agents.example.com',
  ]);
  expect(listenersOf(SERVER, 'agentloop', 'ws')).toEqual([]);
});

test('the guide leaves out disabled channels and names an external Pusher host', async () => {
  const pusher = async (settings: Record<string, string>) =>
    clientsOf(SERVER, await listedDialects(settings)).find(({ dialect }) => dialect === 'pusher');
  expect(await pusher({ PARLANCE_CHANNELS: 'off' })).toBeUndefined();
  const external = await pusher({ SOCKUDO_HOST: 'push.example.com', SOCKUDO_APP_KEY: 'k' });
  expect(external?.addresses[0]?.address).toBe('ws://push.example.com:6001/app/k');
  expect(external?.note).toContain('external server');
  const script = external?.snippets.find(({ language }) => language === 'js')?.code;
  expect(script).toContain("new URL('http://push.example.com:6001')");
  expect(script).toContain("new Pusher('k'");
});

test('no command contains a token or a password', () => {
  for (const { snippets } of clientsOf(SERVER, LIST))
    for (const { code, language, needsToken } of snippets)
      if (language === 'sh') expect(code.includes('PARLANCE_TOKEN')).toBe(needsToken);
});
