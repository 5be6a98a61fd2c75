/** The project's own small responses, each with the expected events. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProviderEvent } from '../../../core/ports/provider.ts';

const FOLDER = join(import.meta.dir, '../fixtures');

export const fixtureNames = (api: string): string[] => {
  const folder = join(FOLDER, api);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sse'))
    .map((file) => file.slice(0, -'.sse'.length))
    .sort();
};

export const fixtureBytes = (api: string, name: string): Uint8Array =>
  readFileSync(join(FOLDER, api, `${name}.sse`));

/** The events, with deltas of one text joined. */
export const fixtureEvents = (api: string, name: string): ProviderEvent[] =>
  JSON.parse(readFileSync(join(FOLDER, api, `${name}.json`), 'utf8')) as ProviderEvent[];
