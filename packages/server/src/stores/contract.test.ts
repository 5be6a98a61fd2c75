import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { scratchFolder } from './contract/scratch.ts';
import type { Implementation } from './contract/store-location.ts';
import { storeContract } from './contract.ts';
import { MemoryDatabase, openMemoryStore } from './memory/store.ts';
import { postgresImplementation, testServer } from './postgres/testing.ts';
import { openSqliteStore } from './sqlite/open.ts';

/** By file or folder name. */
const IMPLEMENTATIONS: Record<string, Implementation> = {
  memory: {
    place: () => {
      const database = new MemoryDatabase();
      return { open: (options) => openMemoryStore(options, database), dispose: () => undefined };
    },
    forgets: 'it keeps everything in memory',
  },
  sqlite: {
    place: () => {
      const folder = scratchFolder();
      return {
        open: (options) => openSqliteStore(folder.path, options),
        dispose: () => folder[Symbol.dispose](),
      };
    },
    singleNode: 'a data folder belongs to one process',
  },
  postgres: postgresImplementation(testServer()),
};

const NOT_STORES = ['contract', 'shared'];

for (const [name, implementation] of Object.entries(IMPLEMENTATIONS)) storeContract(name, implementation);

test('every store in this folder is enrolled in the contract', () => {
  const names = readdirSync(import.meta.dir).map((entry) => entry.replace(/(\.test)?\.ts$/, ''));
  const stores = new Set(names.filter((name) => !NOT_STORES.includes(name)));
  expect([...stores].sort()).toEqual(Object.keys(IMPLEMENTATIONS).sort());
});
