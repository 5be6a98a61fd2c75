import { expect, test } from 'bun:test';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { busContract, type OpenBus } from '../testing/buses/contract.ts';
import { openMemoryBus } from './memory/bus.ts';

/** By folder name. */
const IMPLEMENTATIONS: Record<string, OpenBus> = { memory: openMemoryBus };

for (const [name, open] of Object.entries(IMPLEMENTATIONS)) busContract(name, open);

test('every bus in this folder is enrolled in the contract', () => {
  const folders = readdirSync(import.meta.dir).filter((name) =>
    existsSync(join(import.meta.dir, name, 'bus.ts')),
  );
  expect(folders.sort()).toEqual(Object.keys(IMPLEMENTATIONS).sort());
});
