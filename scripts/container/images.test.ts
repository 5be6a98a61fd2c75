import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IMAGE_FILES, imageProblems, imagesIn, pinned } from './images.ts';

const ROOT = join(import.meta.dir, '../..');
const ONE = `sha256:${'1'.repeat(64)}`;
const TWO = `sha256:${'2'.repeat(64)}`;
const TEXT = `FROM node:24-slim AS build\nFROM build\nservices:\n  own:\n    image: parlance:0.1.0\n  bus:\n    image: valkey/valkey:8.1\n`;

test('images with a tag are found, but neither stages nor the image that is built here', () => {
  expect(imagesIn(TEXT)).toEqual([
    { name: 'node:24-slim', digest: null },
    { name: 'valkey/valkey:8.1', digest: null },
  ]);
});

test('a digest is added, and replaced by the next one', () => {
  const once = pinned(TEXT, new Map([['node:24-slim', ONE]]));
  expect(once).toBe(TEXT.replace('node:24-slim', `node:24-slim@${ONE}`));
  expect(pinned(once, new Map([['node:24-slim', TWO]]))).toBe(once.replace(ONE, TWO));
});

test('wrong and different digests are problems, and missing ones if they are required', () => {
  const node = (digest: string | null) => ({ name: 'node:24', digest });
  expect(imageProblems([node(ONE), node(ONE)], { isStrict: true })).toEqual([]);
  expect(imageProblems([node('sha256:12')])).toEqual(['node:24 has a digest that is none: sha256:12']);
  expect(imageProblems([node(ONE), node(TWO)])).toEqual(['node:24 has different digests']);
  expect(imageProblems([node(null)])).toEqual([]);
  expect(imageProblems([node(null)], { isStrict: true })).toEqual([
    'node:24 has no digest: npm run images:pin adds it',
  ]);
});

test('every image of the repository is found', async () => {
  const texts = await Promise.all(IMAGE_FILES.map((path) => Bun.file(join(ROOT, path)).text()));
  const names = new Set(texts.flatMap((text) => imagesIn(text).map(({ name }) => name.split(':')[0])));
  expect([...names].sort()).toEqual(['caddy', 'debian', 'node', 'postgres', 'valkey/valkey']);
});

test('without an engine nothing is written', async () => {
  const empty = mkdtempSync(join(tmpdir(), 'parlance-no-docker-'));
  const before = await Bun.file(join(ROOT, 'Dockerfile')).text();
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'pin.ts')], {
    env: { PATH: empty },
    stdout: 'ignore',
    stderr: 'ignore',
  });
  expect(await child.exited).not.toBe(0);
  expect(await Bun.file(join(ROOT, 'Dockerfile')).text()).toBe(before);
  rmSync(empty, { recursive: true });
});
