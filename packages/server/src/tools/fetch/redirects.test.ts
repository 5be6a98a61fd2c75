import { describe, expect, test } from 'bun:test';
import { textOf } from '@parlance/protocol';
import { faultAt, get, type Page, serving, textAt } from '../../testing/tools/site.ts';

describe('redirects', () => {
  const to = (location: string, status = 302): Page => ({ status, headers: { location } });

  test.each([301, 302, 303, 307, 308])('with status %d are followed', async (status) => {
    await using site = await serving({ '/a': to('b?c', status), '/b?c': { body: 'here' } });
    const result = await get(site, '/a');
    expect(textOf(result.parts)).toBe(`http://site.test:${site.port}/b?c\n\nhere`);
  });

  test('are followed at most five times', async () => {
    const pages = Object.fromEntries([0, 1, 2, 3, 4, 5].map((n) => [`/${n}`, to(`/${n + 1}`)]));
    await using site = await serving({ ...pages, '/6': { body: 'here' } });
    expect(await textAt(site, '/1')).toEndWith('here');
    expect(await faultAt(site, '/0')).toContain('more than 5 times');
  });

  test('in a loop are stopped', async () => {
    await using site = await serving({ '/': to('/') });
    expect(await faultAt(site, '/')).toContain('more than 5 times');
    expect(site.requests.length).toBe(6);
  });

  test.each([
    ...[
      'http://10.0.0.1/',
      'http://169.254.169.254/latest/meta-data/',
      'http://[::1]/',
      'http://0xa9fea9fe/',
    ],
    ...['http://[::ffff:127.0.0.2]/', 'http://2130706434/', '//192.168.1.1/'],
  ])('to %s are refused', async (location) => {
    await using site = await serving({ '/': to(location) });
    expect(await faultAt(site, '/')).toContain('private or special');
    expect(site.requests.length).toBe(1);
  });

  test.each(['http://other.test/a?b', 'https://other.test/', 'http://site.test:1/', 'http://localhost./'])(
    'to %s, another host than the approved one, are reported and not followed',
    async (location) => {
      await using site = await serving({ '/': to('/hop'), '/hop': to(location) });
      const asked: string[] = [];
      const resolve = async (host: string) => {
        asked.push(host);
        return ['127.0.0.1'];
      };
      const result = await get(site, '/', { resolve });
      expect(textOf(result.parts)).toContain(
        `was not fetched. Call fetch_page with its address to ask for it: ${location}`,
      );
      expect(result).toMatchObject({ failed: true, untrusted: true, data: { redirect: location } });
      expect(site.requests.map((request) => request.split(' ')[1])).toEqual(['/', '/hop']);
      expect(new Set(asked)).toEqual(new Set(['site.test']));
    },
  );

  test('from a public site to this machine are refused', async () => {
    await using inside = await serving({ '/': { body: 'secret' } });
    await using outside = await serving({ '/': to(`http://127.0.0.1:${inside.port}/`) });
    // The first hop stands for a public site: only its own query may resolve to this machine.
    let queries = 0;
    const allow = () => queries++ === 0;
    expect(await faultAt(outside, '/', { allow })).toContain('private or special');
    expect(inside.requests).toEqual([]);
  });

  test.each([
    'file:///etc/passwd',
    'ftp://site.test/',
    'javascript:alert(1)',
    'http://user:word@site.test/',
    'http://',
  ])('to %s are refused', async (location) => {
    await using site = await serving({ '/': to(location) });
    expect(await faultAt(site, '/')).toStartWith('The address ');
  });

  test('without a location are reported by their status', async () => {
    await using site = await serving({ '/': { status: 302 } });
    expect(await faultAt(site, '/')).toContain('status 302');
  });
});
