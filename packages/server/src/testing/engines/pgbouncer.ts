/** PgBouncer in transaction mode, in front of a database. */
import { chownSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQL } from 'bun';
import { freePort } from '../free-port.ts';
import { waitLimit } from '../until.ts';
import { type Engine, runEngine } from './program.ts';

/** Debian installs it outside of the users' path. Null if it is not installed. */
export const pgbouncerProgram: string | null = Bun.which('pgbouncer', {
  PATH: `${process.env.PATH}:/usr/sbin`,
});

/** `database` is the URL of the database; the engine's URL reaches the same database through the pooler. */
export async function startPgbouncer(database: string): Promise<Engine> {
  if (!pgbouncerProgram) throw new Error('pgbouncer is not installed');
  const program = pgbouncerProgram;
  const { hostname, port: target, username, pathname } = new URL(database);
  const folder = mkdtempSync(join(tmpdir(), 'parlance-pgbouncer-'));
  const port = freePort();
  const name = pathname.slice(1);
  const file = join(folder, 'pgbouncer.ini');
  const users = join(folder, 'users.txt');
  writeFileSync(users, `"${username}" ""\n`);
  writeFileSync(
    file,
    `[databases]
${name} = host=${hostname} port=${target}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = transaction
default_pool_size = 4
max_client_conn = 200
`,
  );
  // It refuses to run as root.
  const user = unprivileged();
  if (user) for (const path of [folder, file, users]) chownSync(path, user.uid, user.gid);
  const url = `postgres://${username}@127.0.0.1:${port}/${name}`;
  return runEngine({
    url,
    port,
    folder,
    start: () => Bun.spawn([program, ...(user ? ['-u', user.name] : []), file], QUIET),
    answers: () => answers(url),
  });
}

const QUIET = { stdout: 'ignore', stderr: 'ignore' } as const;

function unprivileged(): { name: string; uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((one) => one.startsWith('nobody:'));
  const [name = '', , uid, gid] = (line ?? '').split(':');
  return name === '' ? null : { name, uid: Number(uid), gid: Number(gid) };
}

async function answers(url: string): Promise<boolean> {
  await using sql = new SQL(url, {
    max: 1,
    connectionTimeout: Math.ceil(waitLimit() / 1_000),
    prepare: false,
  });
  return sql`SELECT 1`.then(
    () => true,
    () => false,
  );
}
