import { expect, test } from 'bun:test';
import { rootDomain, siteLabels } from './root-domain.ts';

test.each([
  ['https://www.google.com/search?q=x', 'google.com'],
  ['https://a.b.c.example.org', 'example.org'],
  ['https://example.org.', 'example.org'],
  ['https://shop.example.co.uk/tea', 'example.co.uk'],
  ['https://example.com.au', 'example.com.au'],
  ['https://co.uk', 'co.uk'],
  ['https://t.co', 't.co'],
  ['https://news.co.com', 'co.com'],
  ['http://localhost:3000/a', 'localhost'],
  ['http://127.0.0.1:8000', '127.0.0.1'],
  ['http://[::1]:8000', '[::1]'],
  ['about:blank', ''],
  ['not a url', ''],
])('%s belongs to %p', (url, domain) => {
  expect(rootDomain(url)).toBe(domain);
});

test('the URL of a session is cut at a label boundary', () => {
  const url = `https://example.org/${'x'.repeat(5_000)}`;
  expect(siteLabels(url)).toEqual({ url: url.slice(0, 2_000), domain: 'example.org' });
});
