/**
 * Bundles the server and its helper programs into `dist`. The bundle starts in half the time and uses less memory than
 * the sources. Names are kept for readable stack traces. Replaces the previous build atomically.
 */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const ROOM = import.meta.dir;
const DIST = join(ROOM, 'dist');
const NEXT = join(ROOM, `.dist-${process.pid}`);
const LAST = join(ROOM, `.dist-${process.pid}-last`);

try {
  await Bun.build({
    entrypoints: [
      join(ROOM, 'src/main.ts'),
      // These run as separate processes; `lib/program.ts` finds them.
      join(ROOM, '../server/src/tools/fetch/reader.ts'),
      join(ROOM, '../server/src/tools/search/plain.ts'),
      join(ROOM, '../server/src/dialects/native/transcript/renderer.ts'),
    ],
    outdir: NEXT,
    target: 'bun',
    splitting: true,
    minify: { whitespace: true, syntax: true },
    naming: { entry: '[name].[ext]', chunk: '[name]-[hash].[ext]' },
  });
  if (existsSync(DIST)) renameSync(DIST, LAST);
  renameSync(NEXT, DIST);
} finally {
  rmSync(NEXT, { recursive: true, force: true });
  rmSync(LAST, { recursive: true, force: true });
}
