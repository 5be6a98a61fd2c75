/** The working directory of a run. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ASKED_EFFECT, EFFECT } from './messages.ts';

/**
 * Writes two programs with a slow side effect, one of which may run without approval. Returns settings for
 * servers in another folder.
 */
export function prepareFolder(folder: string): Record<string, string> {
  for (const name of [EFFECT, ASKED_EFFECT]) {
    const path = join(folder, name);
    writeFileSync(path, '#!/bin/sh\necho "$1" >> effects.txt\nsleep 0.2\n');
    chmodSync(path, 0o755);
  }
  const rules = [{ tool: 'shell', pattern: `${EFFECT} *`, decision: 'allow' }];
  mkdirSync(join(folder, 'data'));
  const config = join(folder, 'data/config.json');
  writeFileSync(config, JSON.stringify({ rules }));
  return { PARLANCE_CONFIG: config };
}
