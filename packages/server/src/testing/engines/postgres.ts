/** PostgreSQL, the newest installed version. */
import { chownSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { SQL } from 'bun';
import { freePort } from '../free-port.ts';
import { waitLimit } from '../until.ts';
import { createFiles } from './postgres-files.ts';
import { type Engine, runEngine } from './program.ts';

/** Debian installs the programs of each version separately, outside of the path. */
function findPrograms(): string | null {
  const found = [...new Bun.Glob('usr/lib/postgresql/*/bin/postgres').scanSync({ cwd: '/', absolute: true })];
  const versionOf = (path: string) => Number.parseInt(path.split('/')[4] ?? '', 10);
  const newest = found.sort((one, other) => versionOf(other) - versionOf(one))[0];
  return newest === undefined ? null : dirname(newest);
}

/** The folder of its programs; null if it is not installed. */
export const postgresPrograms: string | null = findPrograms();

export type PostgresEngine = Engine & {
  /** Creates an empty database, or a copy of the one at `template`; resolves with its URL. */
  createDatabase(template?: string): Promise<string>;
  /** Drops the database, even if it is in use. */
  dropDatabase(url: string): Promise<void>;
  /** Runs one statement in the database `postgres`. */
  execute(statement: string): Promise<readonly Record<string, unknown>[]>;
  /** Shuts down like an operator would, notifying connections. */
  shutDown(): Promise<void>;
};

const USER = 'parlance';

export type PostgresOptions = {
  /** the folder for its own folder */
  readonly within?: string;
  /** the server that it copies and follows by streaming replication, until it is promoted */
  readonly standbyOf?: Pick<Engine, 'port'>;
};

export async function startPostgres(
  settings: readonly string[] = [],
  { within = tmpdir(), standbyOf }: PostgresOptions = {},
): Promise<PostgresEngine> {
  if (!postgresPrograms) throw new Error('PostgreSQL is not installed');
  const programs = postgresPrograms;
  const folder = await mkdtemp(join(within, 'parlance-postgres-'));
  const unprivileged = asOther(folder);
  const data = join(folder, 'data');
  if (standbyOf) {
    const source = ['-h', '127.0.0.1', '-p', String(standbyOf.port), '-U', USER];
    const backup = [join(programs, 'pg_basebackup'), ...source, '-D', data, '-R', '--no-sync', '-c', 'fast'];
    await copied([...unprivileged, ...backup]);
  } else createFiles(data, [...unprivileged, join(programs, 'initdb'), '-U', USER]);
  const port = freePort();
  // No fsync: the machine does not crash during a test.
  const options = [
    `port=${port}`,
    `unix_socket_directories=${folder}`,
    'listen_addresses=127.0.0.1',
    'fsync=off',
  ];
  const command = [join(programs, 'postgres'), '-D', data];
  let server: Bun.Subprocess;
  const admin = urlOf(port, 'postgres');
  const engine = await runEngine({
    url: admin,
    port,
    folder,
    start: () => {
      const args = [...options, ...settings].flatMap((setting) => ['-c', setting]);
      server = Bun.spawn([...unprivileged, ...command, ...args], { stdout: 'ignore', stderr: 'ignore' });
      return server;
    },
    answers: () =>
      execute(admin, 'SELECT 1').then(
        () => true,
        () => false,
      ),
  });
  // The server uses one process per connection.
  const all = () => [server.pid, ...childrenOf(server.pid)];
  const kill = async () => {
    // A process started in the meantime could wait forever for one that is gone, and block the next server.
    signal('SIGSTOP', [server.pid]);
    signal('SIGKILL', all());
    await engine.kill();
    signal('SIGKILL', processesIn(data));
  };
  let databases = 0;
  return {
    ...engine,
    kill,
    pause: () => signal('SIGSTOP', all()),
    resume: () => signal('SIGCONT', all()),
    async stop() {
      await kill();
      await engine.stop();
    },
    execute: (statement) => execute(admin, statement),
    async shutDown() {
      server.kill('SIGINT');
      await server.exited;
    },
    async createDatabase(template) {
      const name = `test_${++databases}`;
      const copied = template === undefined ? '' : ` TEMPLATE "${nameIn(template)}"`;
      await execute(admin, `CREATE DATABASE "${name}"${copied}`);
      return urlOf(port, name);
    },
    async dropDatabase(url) {
      await execute(admin, `DROP DATABASE IF EXISTS "${nameIn(url)}" WITH (FORCE)`);
    },
  };
}

async function copied(command: readonly string[]): Promise<void> {
  const child = Bun.spawn([...command], { stdout: 'ignore', stderr: 'pipe' });
  if ((await child.exited) !== 0) throw new Error(`pg_basebackup failed: ${await child.stderr.text()}`);
}

const urlOf = (port: number, database: string) => `postgres://${USER}@127.0.0.1:${port}/${database}`;
const nameIn = (url: string): string => new URL(url).pathname.slice(1);

async function execute(url: string, statement: string): Promise<readonly Record<string, unknown>[]> {
  await using sql = new SQL(url, { max: 1, connectionTimeout: Math.ceil(waitLimit() / 1_000) });
  return [...(await sql.unsafe<Record<string, unknown>[]>(statement))];
}

/** PostgreSQL refuses to run as root. */
function asOther(folder: string): string[] {
  if (process.getuid?.() !== 0) return [];
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? [];
  if (uid === undefined || gid === undefined) throw new Error('there is no user postgres');
  chownSync(folder, Number(uid), Number(gid));
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
}

/** Child processes of this one. */
const childrenOf = (parent: number): number[] =>
  processesWhere((pid) => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 4).split(' ')[0]) === parent;
  });

/** Processes whose working directory is the folder, like all processes of a server. */
const processesIn = (folder: string): number[] =>
  processesWhere((pid) => readlinkSync(`/proc/${pid}/cwd`) === folder);

function processesWhere(matches: (pid: string) => boolean): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return matches(pid);
      } catch {
        // has exited, or is not ours
        return false;
      }
    })
    .map(Number);
}

function signal(name: NodeJS.Signals, processes: readonly number[]): void {
  for (const pid of processes) {
    try {
      process.kill(pid, name);
    } catch {
      // has exited
    }
  }
}
