/**
 * A program for `leases.test.ts`: a node that claims the sessions in its arguments and appends to them until
 * it is killed. Prints its events.
 */
import { writeSync } from 'node:fs';
import { outcomeOf, recordOf, refOf, textEvents } from './contract/samples.ts';
import { openNode } from './postgres.ts';

const [url = '', ...ids] = process.argv.slice(2);
const RUNNING = { status: 'running' } as const;
// unbuffered: printed before the process can be stopped
const print = (line: string) => void writeSync(1, `${line}\n`);
const store = await openNode(url);
store.leases.onLost((lost) => print(`lost ${lost === 'all' ? 'all' : lost.map(({ id }) => id).join(',')}`));

await Promise.all(
  ids.map(async (id) => {
    const ref = refOf('ada', id);
    const driver = await store.append(0, textEvents(ref, 0, 1), recordOf(ref, 1, RUNNING), {
      by: 'command',
      take: 'if-free',
    });
    print(`took ${id} ${driver?.epoch}`);
    for (let head = 1; ; head++) {
      const as = { by: 'driver', epoch: driver?.epoch ?? 0 } as const;
      const append = store.append(head, textEvents(ref, head, 1), recordOf(ref, head + 1, RUNNING), as);
      const outcome = await outcomeOf(append);
      if (outcome === 'written') continue;
      print(`${outcome} ${id}`);
      break;
    }
  }),
);
print('done');
