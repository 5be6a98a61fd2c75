/** Nodes, each with its own links to the databases and its own clock. */
import { join } from 'node:path';
import type { Cluster } from '../../cluster/nodes.ts';
import type { Program, ServerProcess } from '../../server-process.ts';
import { type Clock, openClock } from './clock.ts';
import { type Link, openLink } from './link.ts';

export type Machine = {
  readonly process: ServerProcess;
  readonly database: Link;
  readonly valkey: Link;
  readonly clock: Clock;
};

export class Machines {
  readonly #machines = new Map<string, Machine>();
  #count = 0;

  constructor(
    private readonly cluster: Cluster,
    /** of every node */
    private readonly settings: Record<string, string>,
  ) {}

  async start(program?: Program): Promise<ServerProcess> {
    const { postgres, redis, folder, settings } = this.cluster;
    const database = await openLink(settings.DATABASE_URL ?? '', () => postgres.port);
    const valkey = await openLink(redis.url, () => redis.port);
    const clock = openClock(join(folder, `clock-${++this.#count}`));
    const urls = { DATABASE_URL: database.url, REDIS_URL: valkey.url };
    try {
      const process = await this.cluster.start({ ...this.settings, ...clock.settings, ...urls }, program);
      this.#machines.set(process.http, { process, database, valkey, clock });
      return process;
    } catch (thrown) {
      database.close();
      valkey.close();
      throw thrown;
    }
  }

  of({ http }: Pick<ServerProcess, 'http'>): Machine {
    const machine = this.#machines.get(http);
    if (!machine) throw new Error(`there is no machine at ${http}`);
    return machine;
  }

  /** The process has ended. */
  remove(process: ServerProcess): void {
    const { database, valkey } = this.of(process);
    database.close();
    valkey.close();
    this.#machines.delete(process.http);
  }

  close(): void {
    for (const { process } of this.#machines.values()) this.remove(process);
  }
}
