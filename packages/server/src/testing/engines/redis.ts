/** Valkey or Redis, whichever is installed. */
import { mkdtemp } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { type Engine, runEngine } from './program.ts';

/** Null if neither is installed. */
export const redisProgram: string | null = Bun.which('valkey-server') ?? Bun.which('redis-server');

export type RedisOptions = {
  readonly password?: string;
  /** PEM files; the port accepts only TLS */
  readonly tls?: { readonly certificate: string; readonly key: string; readonly authority: string };
  /** further arguments of the program */
  readonly args?: readonly string[];
};

export async function startRedis({ password, tls, args = [] }: RedisOptions = {}): Promise<Engine> {
  if (!redisProgram) throw new Error('neither valkey-server nor redis-server is installed');
  const program = redisProgram;
  const folder = await mkdtemp(join(tmpdir(), 'parlance-redis-'));
  const port = freePort();
  const listening = tls
    ? ['--port', '0', '--tls-port', String(port), '--tls-cert-file', tls.certificate]
        .concat(['--tls-key-file', tls.key, '--tls-ca-cert-file', tls.authority])
        .concat(['--tls-auth-clients', 'no'])
    : ['--port', String(port)];
  const common = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder];
  const secret = password === undefined ? [] : ['--requirepass', password];
  return runEngine({
    url: `${tls ? 'rediss' : 'redis'}://${password === undefined ? '' : `:${password}@`}127.0.0.1:${port}`,
    port,
    folder,
    start: () =>
      Bun.spawn([program, ...listening, ...common, ...secret, ...args], {
        stdout: 'ignore',
        stderr: 'ignore',
      }),
    answers: () => accepts(port),
  });
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
