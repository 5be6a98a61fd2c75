/** A network of nodes on a real server, for the contract. */
import { RedisClient } from 'bun';
import { openValkeyTransport } from '../../cluster/valkey/transport.ts';
import { type RedisOptions, redisProgram, startRedis } from '../engines/redis.ts';
import type { Implementation, TestNetwork } from './contract/network.ts';

export async function valkeyNetwork(options?: RedisOptions): Promise<TestNetwork> {
  const engine = await startRedis(options);
  const { url } = engine;
  return {
    open: (node, given) => openValkeyTransport({ ...given, node, server: { url } }),
    kill: () => engine.kill(),
    restart: () => engine.restart(),
    // Disconnects all nodes, since the server cannot tell their connections apart.
    async cut() {
      engine.pause();
    },
    async repair() {
      engine.resume();
    },
    async inject(channel, text) {
      const client = new RedisClient(url);
      await client.publish(channel, text);
      client.close();
    },
    // The server runs on this machine.
    now: Date.now,
    stop: () => engine.stop(),
  };
}

export const VALKEY: Implementation = redisProgram ? { open: () => valkeyNetwork() } : null;
