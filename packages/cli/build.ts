/**
 * Builds the server into `dist`: one program and the few that it starts, with all that they import. It starts in half
 * the time and takes less memory than from some seven hundred sources. Names stay, so that traces can be read. What
 * was there before is replaced in one step.
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
      // These run as processes of their own: `tools/program.ts` finds them.
      join(ROOM, '../server/src/tools/fetch/reader.ts'),
      join(ROOM, '../server/src/tools/search/plain.ts'),
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
