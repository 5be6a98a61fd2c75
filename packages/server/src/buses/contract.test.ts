import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { busContract, type OpenBus } from './contract.ts';
import { openMemoryBus } from './memory/bus.ts';

/** By the name of the folder. */
const IMPLEMENTATIONS: Record<string, OpenBus> = { memory: openMemoryBus };

for (const [name, open] of Object.entries(IMPLEMENTATIONS)) busContract(name, open);

test('every bus in this folder is enrolled in the contract', () => {
  const folders = readdirSync(import.meta.dir, { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  expect(folders.map(({ name }) => name).sort()).toEqual(Object.keys(IMPLEMENTATIONS).sort());
});
