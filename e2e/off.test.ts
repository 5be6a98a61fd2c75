/** What is switched off is not loaded. */
import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadedModules } from './loaded-modules.ts';

const folder = mkdtempSync(join(tmpdir(), 'parlance-off-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Modules of capabilities of the agent. Those of the core are a few kilobytes, and decide that there is nothing to do. */
const PATHS = ['/tools/project/', '/tools/checkpoints/', '/cluster/', '/describe/'];
const OFF = {
  PARLANCE_PROJECT_INSTRUCTIONS: 'off',
  PARLANCE_SUB_AGENTS: '0',
  PARLANCE_CHECKPOINT_SPACE: '0',
};

test('project instructions, skills and checkpoints that are off load nothing, also for a command that changes files', async () => {
  const loaded = await loadedModules(folder, { settings: OFF, paths: PATHS, message: 'run touch off.txt' });
  expect(loaded).toMatchObject({ atStart: [], afterMessage: [] });
});

test('checkpoints are loaded with the first call that may change files, and not by a turn that changes none', async () => {
  const given = { settings: {}, paths: ['/tools/checkpoints/'] };
  expect(await loadedModules(folder, given)).toMatchObject({ atStart: [], afterMessage: [] });
  const { atStart, afterMessage } = await loadedModules(folder, { ...given, message: 'run touch on.txt' });
  expect(atStart).toEqual([]);
  expect(afterMessage).not.toEqual([]);
});
