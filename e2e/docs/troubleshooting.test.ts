/** Messages that the guide quotes are those of the programs. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Glob } from 'bun';

const ROOT = join(import.meta.dir, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/guides/troubleshooting.md'), 'utf8');
/** what stands for a value in a quoted message */
const VALUE = /…|\b(?:127\.0\.0\.1|0\.0\.0\.0|HOST|FOLDER|\d{3,4})\b/;

const sources = [...new Glob('packages/*/src/**/*.{ts,tsx}').scanSync(ROOT)]
  .filter((path) => !path.includes('.test.'))
  .map((path) => readFileSync(join(ROOT, path), 'utf8'));

const quoted = [...PAGE.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, what = '']) =>
  [...what.matchAll(/`([^`]+)`/g)].map(([, message = '']) => message),
);

/** Other fragments, such as `on`, are everywhere. */
const LONG = 8;

test.each(quoted.filter((message) => /[a-z]{3}/.test(message)))(
  '“%s” is a message of the server',
  (message) => {
    const fragments = message.split(VALUE).map((part) => part.trim());
    const long = fragments.filter((part) => part.length >= LONG);
    expect(long).not.toEqual([]);
    for (const fragment of long)
      expect([fragment, sources.some((source) => source.includes(fragment))]).toEqual([fragment, true]);
  },
);
