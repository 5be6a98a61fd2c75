/** Recorded exchanges with real vendors. They are not part of the project: a clone without them tests its own fixtures. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const ROOT = join(import.meta.dir, '../../../../../..');
export const RECORDINGS = '../shared/fixtures/recordings';
const FOLDER = join(ROOT, RECORDINGS);

const Recording = z.object({
  interactions: z.array(
    z.object({
      request: z.object({ url: z.string(), body: z.string() }),
      response: z.object({
        status: z.number(),
        headers: z.record(z.string(), z.string()),
        body: z.string(),
      }),
    }),
  ),
});
export type Interaction = z.infer<typeof Recording>['interactions'][number];

export const hasRecordings = (): boolean => existsSync(FOLDER);

/** `folder/file`, without the extension. */
export const recordingNames = (): string[] =>
  readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.json'))
    .map((path) => path.replaceAll('\\', '/').replace(/\.json$/, ''))
    .sort();

export const interactionsOf = (name: string): Interaction[] =>
  Recording.parse(JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8'))).interactions;
