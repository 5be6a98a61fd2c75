import { afterAll, expect, test } from 'bun:test';
import { createServer, type Server } from 'node:net';
import { CERTIFICATE, PRIVATE_KEY } from '../testing/providers/http/certificate.ts';
import { vendorModels } from './vendor-models.ts';

const KEY = 'sk-right';
const html = '<!doctype html><title>A web page</title>';

/** Lists models below `/v1` for those who have the key. */
function answer(request: Request): Response {
  const { pathname } = new URL(request.url);
  if (pathname === '/moved/v1/models') return Response.redirect('https://example.com/v1/models?key=secret');
  if (pathname === '/page/v1/models') return new Response(html);
  if (pathname === '/busy/v1/models') return new Response('', { status: 503 });
  if (pathname === '/long/v1/models') return new Response('x'.repeat(5_000_000));
  if (pathname === '/v1beta/models')
    return Response.json({
      models: [
        { name: 'models/gemini-x', supportedGenerationMethods: ['generateContent', 'countTokens'] },
        { name: 'models/embedding-x', supportedGenerationMethods: ['embedContent'] },
      ],
    });
  if (pathname !== '/v1/models') return new Response('not found', { status: 404 });
  if (request.headers.get('authorization') !== `Bearer ${KEY}`) return new Response('{}', { status: 401 });
  return Response.json({ data: [{ id: 'one' }] });
}

const plain = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer });
const secure = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  tls: { cert: CERTIFICATE, key: PRIVATE_KEY },
  fetch: answer,
});
const hasty: Server = createServer((socket) => socket.destroy());
await new Promise<void>((resolve) => hasty.listen(0, '127.0.0.1', resolve));
/** Another protocol. */
const foreign: Server = createServer((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'));
await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
const { port: foreignPort } = foreign.address() as { port: number };
const { port: hastyPort } = hasty.address() as { port: number };
afterAll(async () => {
  await Promise.all([plain.stop(true), secure.stop(true)]);
  hasty.close();
  foreign.close();
});

const host = `127.0.0.1:${plain.port}`;
const tried = (address: string, key?: string) =>
  vendorModels('openai', { address, key }).catch((thrown: Error) => thrown.message);

test.each(['/v1', '/v1/', '', '/', '/v1/chat/completions', '/v1/models/', '/chat/completions'])(
  'finds the models at %p',
  async (path) => {
    expect(await tried(`http://${host}${path}`, KEY)).toEqual({
      models: ['one'],
      address: `http://${host}/v1`,
    });
  },
);

test('leaves out models of Google that only embed', async () => {
  const { models } = await vendorModels('google', { address: `http://${host}`, key: KEY });
  expect(models).toEqual(['gemini-x']);
});

test('a key that is missing or wrong is reported, also if the path is incomplete', async () => {
  for (const path of ['/v1', '']) {
    expect(await tried(`http://${host}${path}`)).toBe(`${host} needs an API key. Enter it and try again.`);
    expect(await tried(`http://${host}${path}`, 'sk-wrong')).toBe(
      `${host} refused the API key (401). Check that it is complete and still valid.`,
    );
  }
});

const noModels = `There is no list of models at this address of ${host}. Check the path: most servers use /v1.`;

test.each([
  [`http://${host}/elsewhere`, noModels],
  [`http://${host}/page/v1`, noModels],
  [`http://${host}/long/v1`, noModels],
  [`http://${host}/busy/v1`, `${host} answered with 503. Try again when it is ready.`],
  [
    `http://${host}/moved/v1`,
    `${host} redirects to https://example.com/v1/models, which is not followed. Enter the address that it leads to.`,
  ],
  [`https://${host}/v1`, `${host} does not use https. Try http://${host}/v1.`],
  [
    'http://127.0.0.1:9/v1',
    'Nothing listens at 127.0.0.1:9. Start the model server, or check the address and its port.',
  ],
  ['http://no-host.invalid/v1', 'There is no host named no-host.invalid. Check the address.'],
  [
    `http://127.0.0.1:${secure.port}/v1`,
    `127.0.0.1:${secure.port} closed the connection. If it uses TLS, the address starts with https://.`,
  ],
  [
    `http://127.0.0.1:${hastyPort}/v1`,
    `127.0.0.1:${hastyPort} closed the connection. If it uses TLS, the address starts with https://.`,
  ],
  [`http://127.0.0.1:${foreignPort}/v1`, `127.0.0.1:${foreignPort} cannot be reached. Check the address.`],
  [`https://127.0.0.1:${secure.port}/v1`, /^The certificate of 127\.0\.0\.1:\d+ is not trusted\./],
])('explains %s', async (address, message) => {
  const said = await tried(address, KEY);
  if (typeof message === 'string') expect(said).toBe(message);
  else expect(said).toMatch(message);
});
