import type { Implementation, TestNetwork } from '../testing/cluster/contract/network.ts';
import { transportContract } from '../testing/cluster/contract/transport.ts';
import { VALKEY } from '../testing/cluster/valkey-network.ts';
import { openMemoryNetwork } from './memory-transport.ts';

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

const IMPLEMENTATIONS: Record<string, Implementation> = {
  memory: { open: memoryNetwork },
  valkey: VALKEY,
};

for (const [name, implementation] of Object.entries(IMPLEMENTATIONS)) transportContract(name, implementation);
