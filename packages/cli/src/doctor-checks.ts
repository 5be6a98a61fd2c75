/** The checks of `parlance doctor`, in display order. */
import { existsSync } from 'node:fs';
import { connect, ParlanceError } from '@parlance/sdk';
import type { Config } from '@parlance/server/config';
import { version } from '../package.json' with { type: 'json' };
import {
  defaultUrl,
  isParlance,
  loginCommand,
  type ServerFlags,
  serverAddress,
} from './connection/address.ts';
import type { Check } from './doctor-check.ts';
import { modelChecks } from './doctor-models.ts';
import { folderProblem, isPortFree } from './doctor-probes.ts';
import { configFrom } from './start.ts';

export type CheckOptions = { readonly tryModel: boolean };

export async function* checks(flags: ServerFlags, { tryModel }: CheckOptions): AsyncGenerator<Check> {
  yield {
    name: 'parlance',
    state: 'good',
    about: `${version} on Bun ${Bun.version}, ${process.platform} ${process.arch}`,
  };
  yield program('git', 'git', 'without it the agent cannot use version control');
  yield program('ripgrep', 'rg', 'without it the search in files is slower');
  yield sandbox();
  if (process.getuid?.() === 0)
    yield {
      name: 'user',
      state: 'missing',
      about: 'root: a command that escapes its sandbox has all rights, and full-auto is not available',
      advice: 'run the server as another user',
    };
  const config = loaded(flags);
  if ('state' in config) yield config;
  else {
    yield {
      name: 'configuration',
      state: 'good',
      about: config.configFile ?? 'defaults and environment (parlance init writes a file)',
    };
    yield dataFolder(config);
  }
  yield* server(flags, 'state' in config ? null : config);
  if (!('state' in config)) yield* modelChecks(config, tryModel);
}

function program(name: string, command: string, otherwise: string): Check {
  const path = Bun.which(command);
  if (path !== null) return { name, state: 'good', about: path };
  return {
    name,
    state: 'missing',
    about: `not installed: ${otherwise}`,
    advice: `install ${name}, for example: apt-get install ${name}`,
  };
}

function sandbox(): Check {
  const name = 'bubblewrap';
  const found = program(name, 'bwrap', 'commands are not isolated, so each of them needs approval');
  if (found.state !== 'good') return found;
  const { exitCode } = Bun.spawnSync(['bwrap', '--ro-bind', '/', '/', '--unshare-user', '--', 'true'], {
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  });
  if (exitCode === 0) return found;
  return {
    name,
    state: 'missing',
    about: 'installed, but this system does not allow it to isolate commands: each of them needs approval',
    advice:
      'allow unprivileged user namespaces (kernel.unprivileged_userns_clone, or the AppArmor profile of bwrap)',
  };
}

function loaded({ data, config }: ServerFlags): Config | Check {
  const argv = [
    ...(data === undefined ? [] : ['--data', data]),
    ...(config === undefined ? [] : ['--config', config]),
  ];
  try {
    return configFrom(argv);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return {
      name: 'configuration',
      state: 'bad',
      about: error.message,
      advice: 'correct it, or write a new one with parlance init',
    };
  }
}

function dataFolder({ data, database }: Config): Check {
  const name = 'data folder';
  if (database !== undefined) return { name, state: 'good', about: 'PostgreSQL (DATABASE_URL)' };
  const problem = folderProblem(data);
  if (problem !== null)
    return {
      name,
      state: 'bad',
      about: `${data} ${problem}`,
      advice: 'name another one with --data or PARLANCE_DATA',
    };
  return { name, state: 'good', about: existsSync(data) ? data : `${data} (created at the first start)` };
}

async function* server(flags: ServerFlags, config: Config | null): AsyncGenerator<Check> {
  const server = await serverAddress(flags);
  if (!server || !(await isParlance(server))) {
    yield portCheck(server?.url ?? defaultUrl(), config);
    return;
  }
  const { url, token, fetch } = server;
  const login = { name: 'login', advice: `run ${loginCommand(server, flags)}` };
  try {
    const about = await connect({ url, token, fetch, attempts: 1, timeoutMs: 5_000 }).server();
    yield { name: 'server', state: 'good', about: `Parlance ${about.version} answers at ${url}` };
    yield { name: login.name, state: 'good', about: `as ${about.principal.id} (${about.principal.role})` };
  } catch (error) {
    if (!(error instanceof ParlanceError)) throw error;
    yield { name: 'server', state: 'good', about: `a Parlance server responds at ${url}` };
    const about = token === null ? 'sign-in is required' : `refused: ${error.message}`;
    yield { ...login, state: token === null ? 'missing' : 'bad', about };
  }
}

function portCheck(url: string, config: Config | null): Check {
  const { hostname, port } = new URL(url);
  const name = 'server';
  if (config === null || hostname !== config.host || Number(port) !== config.port)
    return {
      name,
      state: 'bad',
      about: `no Parlance server responds at ${url}`,
      advice: 'start it, or check the address',
    };
  if (isPortFree(hostname, Number(port)))
    return { name, state: 'good', about: `none is running; port ${port} is free for parlance serve` };
  return {
    name,
    state: 'bad',
    about: `port ${port} is used by another program, or by a server that is not known to be yours`,
    advice: `start with another one: parlance serve --port 4000; or name the server: --url ${url}`,
  };
}
