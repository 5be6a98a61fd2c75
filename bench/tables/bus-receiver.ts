/** The other node of the bus table: `bun bus-receiver.ts URL`. */
import { openValkeyTransport } from '../../packages/server/src/cluster/valkey/transport.ts';
import { nowMicros } from '../measure/clock.ts';
import { percentile } from '../measure/percentile.ts';
import { benchNode, ownCpuMicros } from './bus-node.ts';

const transport = await openValkeyTransport(benchNode('receiver', process.argv[2] ?? ''));
let cpu = 0;
let delays: number[] = [];

transport.on('live', (body) => {
  const { event } = body as { event: { at: number } };
  delays.push((nowMicros() - event.at) / 1_000);
});
transport.respond('begin', () => {
  cpu = ownCpuMicros();
  delays = [];
  return null;
});
transport.respond('end', () => ({
  received: (ownCpuMicros() - cpu) / delays.length,
  p50: percentile(delays, 0.5),
  p99: percentile(delays, 0.99),
}));
transport.registry.add('receivers');
