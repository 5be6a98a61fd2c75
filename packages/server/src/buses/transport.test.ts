import { expect, test } from 'bun:test';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Implementation, TestNetwork } from '../testing/buses/contract/network.ts';
import { transportContract } from '../testing/buses/contract/transport.ts';
import { VALKEY } from '../testing/buses/valkey-network.ts';
import { openMemoryNetwork } from './memory/transport.ts';

async function memoryNetwork(): Promise<TestNetwork> {
  const network = openMemoryNetwork();
  return {
    open: async (node, options) => network.open(node, options),
    kill: async () => network.down(),
    restart: async () => network.up(),
    cut: async ({ node }) => network.cut(node),
    repair: async ({ node }) => network.repair(node),
    inject: async (channel, text) => network.inject(channel, text),
    now: () => performance.now(),
    stop: async () => undefined,
  };
}

/** By folder name. */
const IMPLEMENTATIONS: Record<string, Implementation> = {
  memory: { open: memoryNetwork },
  valkey: VALKEY,
};

for (const [name, implementation] of Object.entries(IMPLEMENTATIONS)) transportContract(name, implementation);

test('every transport in this folder is enrolled in the contract', () => {
  const folders = readdirSync(import.meta.dir).filter((name) =>
    existsSync(join(import.meta.dir, name, 'transport.ts')),
  );
  const implementations = folders.filter((name) => name !== 'contract');
  expect(implementations.sort()).toEqual(Object.keys(IMPLEMENTATIONS).sort());
});
