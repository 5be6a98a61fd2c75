import { expect, test } from 'bun:test';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { scratchFolder } from '../testing/stores/contract/scratch.ts';
import type { Implementation } from '../testing/stores/contract/store-location.ts';
import { storeContract } from '../testing/stores/contract.ts';
import { MemoryDatabase, openMemoryStore } from '../testing/stores/memory/store.ts';
import { postgresImplementation, testServer } from '../testing/stores/postgres.ts';
import { openSqliteStore } from './sqlite/open.ts';

/** By folder; `memory` is for tests. */
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

for (const [name, implementation] of Object.entries(IMPLEMENTATIONS)) storeContract(name, implementation);

test('every store in this folder is enrolled in the contract', () => {
  const stores = readdirSync(import.meta.dir).filter((name) =>
    existsSync(join(import.meta.dir, name, 'open.ts')),
  );
  expect(stores.sort()).toEqual(
    Object.keys(IMPLEMENTATIONS)
      .filter((name) => name !== 'memory')
      .sort(),
  );
});
