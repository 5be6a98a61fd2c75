import { describe, expect, test } from 'bun:test';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { textOf } from '@parlance/protocol';
import { CERTIFICATE, PRIVATE_KEY } from '../../testing/tools/certificate.ts';
import { faultAt, get, openSite, serving, textAt, towardsSite } from '../../testing/tools/site.ts';
import { contextIn, faultOf, use } from '../../testing/tools/tool-context.ts';
import { type FetchOptions, fetchPage } from './tool.ts';

describe('the address is pinned', () => {
  test('a name is resolved once, and the checked address is used', async () => {
    await using site = await serving({ '/': { body: 'here' } });
    const answers = [['127.0.0.1'], ['10.0.0.1'], ['10.0.0.1']];
    const asked: string[] = [];
    const resolve = async (host: string) => {
      asked.push(host);
      return answers[asked.length - 1] ?? [];
    };
    expect(textOf((await get(site, '/', { resolve, host: 'rebind.test' })).parts)).toEndWith('here');
    expect(asked).toEqual(['rebind.test']);
  });

  test('a name that resolves to this machine on the redirect is refused', async () => {
    await using site = await serving({ '/': { status: 302, headers: { location: '/again' } } });
    const answers = [['127.0.0.1'], ['127.0.0.2']];
    const resolve = async () => answers.shift() ?? [];
    expect(await faultAt(site, '/', { resolve })).toContain('private or special');
    expect(site.requests).toEqual([`GET / site.test:${site.port}`]);
  });

  test('a name with a private address among others is refused', async () => {
    await using site = await serving({ '/': { body: 'here' } });
    const resolve = async () => ['127.0.0.1', '192.168.0.1'];
    expect(await faultAt(site, '/', { resolve })).toContain('private or special');
    expect(site.requests).toEqual([]);
  });

  test('without the test option this machine is unreachable', async () => {
    await using site = await serving({ '/': { body: 'secret' } });
    const tool = fetchPage();
    for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1']) {
      const { message } = await faultOf(use(tool, { url: `http://${host}:${site.port}/` }, contextIn('/')));
      expect(message).toContain('private or special');
    }
    expect(site.requests).toEqual([]);
  });

  test('TLS uses the name of the host and verifies its certificate', async () => {
    const names: unknown[] = [];
    const answer = (request: IncomingMessage, response: ServerResponse) => {
      names.push('servername' in request.socket ? request.socket.servername : undefined);
      response.writeHead(200, { 'content-type': 'text/plain' }).end('safe');
    };
    await using site = await openSite(answer, { key: PRIVATE_KEY, cert: CERTIFICATE });
    const fetched = (host: string, options: FetchOptions) =>
      use(
        fetchPage({ ...towardsSite, ...options }),
        { url: `https://${host}:${site.port}/` },
        contextIn('/'),
      );
    expect(textOf((await fetched('site.test', { ca: CERTIFICATE })).parts)).toEndWith('safe');
    expect(site.requests).toEqual([`GET / site.test:${site.port}`]);
    expect((await faultOf(fetched('site.test', {}))).message).toBe('The page could not be fetched.');
    expect((await faultOf(fetched('other.test', { ca: CERTIFICATE }))).message).toBe(
      'The page could not be fetched.',
    );
    expect(names).toEqual(['site.test']);
  });

  test('a proxy in the environment is not used', async () => {
    await using site = await serving({ '/': { body: 'here' } });
    const before = process.env.HTTP_PROXY;
    process.env.HTTP_PROXY = 'http://127.0.0.1:1';
    try {
      expect(await textAt(site, '/')).toEndWith('here');
    } finally {
      if (before === undefined) delete process.env.HTTP_PROXY;
      else process.env.HTTP_PROXY = before;
    }
  });
});
