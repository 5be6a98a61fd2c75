/** `parlance doctor`: reports what is installed, what is missing, and what to do. */

import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { VendorState } from '@parlance/protocol/api';
import { connect, ParlanceError } from '@parlance/sdk';
import {
  addressSetting,
  type Changeable,
  type Config,
  ConfigError,
  isConnected,
  keyProblem,
  keySetting,
  lacksKey,
  type ModelChoice,
  VENDOR_NAMES,
  VENDORS,
  type Vendor,
} from '@parlance/server/config';
import type { SettingsInUse } from '@parlance/server/settings-in-use';
import { version } from '../../package.json' with { type: 'json' };
import { CommandError, parseFlags, SWITCH } from '../command.ts';
import {
  defaultUrl,
  isParlance,
  isPortFree,
  loginCommand,
  SERVER_FLAGS,
  type ServerFlags,
  serverAddress,
} from '../connection/address.ts';
import { configFrom } from '../connection/start.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { type Theme, themeFor } from '../terminal/theme.ts';

const USAGE = `Usage: parlance doctor

Checks the programs that tools use, the data folder, the configuration, the server, the stored login,
the model and the model providers, with the settings that are stored in the console. Works next to a
running server. Exits with 1 if something does not work.

  --no-model     send nothing to the model providers
  --json         one check per line
  --url URL      the server (PARLANCE_URL)
  --data FOLDER  the data folder (PARLANCE_DATA), ./.parlance
  --config FILE  the configuration file (PARLANCE_CONFIG)`;

const MARKS = { good: '✓', missing: '!', bad: '✗' } as const;
const COLOURS = { good: 'green', missing: 'yellow', bad: 'red' } as const satisfies Record<
  string,
  keyof Theme
>;

export async function doctor(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseFlags(argv, { ...SERVER_FLAGS, json: SWITCH, 'no-model': SWITCH });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  if (positionals.length > 0) throw new CommandError('doctor takes no argument', 2);
  const theme = themeFor(process.stdout);
  let isBad = false;
  for await (const check of checks(values, { tryModel: !values['no-model'] })) {
    isBad ||= check.state === 'bad';
    console.log(values.json ? JSON.stringify(check) : lineOf(check, theme));
  }
  return isBad ? 1 : 0;
}

function lineOf({ name, state, about, advice }: Check, theme: Theme): string {
  const line = `${theme[COLOURS[state]](MARKS[state])} ${name.padEnd(14)} ${safeLine(about)}`;
  return advice === undefined ? line : `${line}\n${' '.repeat(17)}${theme.dim(`→ ${safeLine(advice)}`)}`;
}

// The checks of `parlance doctor`, in display order.

type CheckOptions = { readonly tryModel: boolean };

async function* checks(flags: ServerFlags, { tryModel }: CheckOptions): AsyncGenerator<Check> {
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

// Probes this machine for `parlance doctor`, without leaving anything behind.

/** Why the data folder cannot be used, or null. It may not exist yet. */
function folderProblem(folder: string): string | null {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found && !found.isDirectory()) return 'is not a folder';
  try {
    accessSync(found ? folder : existingParent(folder), constants.W_OK | constants.X_OK);
    return null;
  } catch {
    return found ? 'cannot be written to' : 'cannot be created';
  }
}

function existingParent(folder: string): string {
  const parent = dirname(folder);
  return parent === folder || statSync(parent, { throwIfNoEntry: false }) ? parent : existingParent(parent);
}

// Checks the model and its providers with the settings that a server would use, including stored ones.

type Connected = Exclude<ModelChoice, { readonly provider: 'offline' }>;

async function* modelChecks(config: Config, tryThem: boolean): AsyncGenerator<Check> {
  const settings = await load(config);
  if ('state' in settings) {
    yield settings;
    return;
  }
  const { current, version, problem } = settings;
  if (version > 0) yield storedSettings(problem);
  for (const choice of connectedIn(config, current)) {
    const isInUse = choice.provider === current.model.provider;
    yield await providerCheck(choice, config, { tryIt: tryThem && !isInUse });
  }
  yield await modelCheck({ ...config, model: current.model }, tryThem);
  yield* vendorChecks(config, current);
}

/** Packages of the vendors that are connected, and one line for each vendor. */
async function* vendorChecks(config: Config, current: Changeable): AsyncGenerator<Check> {
  const { vendorStates, CATALOGUE_DATE } = await import('@parlance/server/model-check');
  const vendors = vendorStates(current, config);
  for (const { name, key, missing, package: needed } of vendors) {
    if (key === null || needed === null) continue;
    const about = `${needed.name} ${needed.version ?? 'is not installed'}`;
    if (needed.version === null) yield { name, state: 'bad', about, advice: needed.install };
    else if (needed.problem !== null)
      yield { name, state: 'bad', about: `${about}: ${needed.problem}`, advice: needed.install };
    else if (missing.length > 0)
      yield { name, state: 'bad', about: `no address without ${missing.join(', ')}`, advice: 'set it' };
    else yield { name, state: 'good', about };
  }
  yield {
    name: 'vendors',
    state: 'good',
    about: vendors
      .map(({ name, key, models, package: needed }) => {
        const facts = [
          key === null ? 'no key' : 'key',
          needed && (needed.version ?? 'no package'),
          models.length > 0 && `${models.length} known models`,
        ];
        return `${name} (${facts.filter((fact) => fact).join(', ')})`;
      })
      .join(', '),
  };
  for (const { name, key, models } of vendors)
    if (key !== null && models.length > 0)
      yield {
        name: 'catalogue',
        state: 'good',
        about: `${CATALOGUE_DATE}, ${name}: ${models.map(modelText).join('; ')}`,
      };
}

const modelText = ({ id, context, price }: VendorState['models'][number]): string =>
  [
    id,
    context === null ? null : `${Math.round(context / 1_000)}k`,
    price === null ? null : `$${price.input}/$${price.output}`,
  ]
    .filter((fact) => fact !== null)
    .join(' ');

async function load(config: Config): Promise<SettingsInUse | Check> {
  try {
    const { settingsInUse } = await import('@parlance/server/settings-in-use');
    return await settingsInUse(config);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return error instanceof ConfigError
      ? { name: 'model', state: 'bad', about: `parlance serve does not start: ${error.message}` }
      : { name: 'settings', state: 'bad', about: `cannot be read: ${error.message}` };
  }
}

const storedSettings = (problem: string | null): Check => ({
  name: 'settings',
  ...(problem === null
    ? { state: 'good', about: 'stored in the console, in use' }
    : {
        state: 'bad',
        about: `stored in the console, not in use: ${problem}`,
        advice: 'correct them in the console (Admin)',
      }),
});

/** Providers with a key or an address of their own. */
function connectedIn({ given }: Config, current: Changeable): Connected[] {
  return VENDOR_NAMES.flatMap((vendor) => {
    const choice = current.vendor(vendor);
    if (choice.provider === 'offline') return [];
    return isConnected(choice) || given.has(addressSetting(vendor)) ? [choice] : [];
  });
}

/** The provider of the model in use is tested with a prompt instead. */
async function providerCheck(
  choice: Connected,
  { given }: Config,
  { tryIt }: { readonly tryIt: boolean },
): Promise<Check> {
  const { provider: name, key, baseUrl: address } = choice;
  const sources = `${keySource(choice, given)}; ${addressSource(choice, given)}`;
  const problem = keyProblem(choice);
  // A server of one's own may need no key: the prompt shows it.
  if (problem !== null)
    return { name, state: lacksKey(choice) ? 'bad' : 'missing', about: sources, advice: problem };
  if (lacksKey(choice)) return { name, state: 'missing', about: sources, advice: KEY_ADVICE };
  if (!tryIt) return { name, state: 'good', about: sources };
  const { checkProvider } = await import('@parlance/server/model-check');
  const fault = await checkProvider(name, { address, key });
  return fault === null
    ? { name, state: 'good', about: `${sources}${listsModels(name) ? '; lists its models' : ''}` }
    : { name, state: 'bad', about: `${sources}: ${fault.message}` };
}

const listsModels = (vendor: Vendor): boolean =>
  VENDORS[vendor].api !== 'ai-sdk' || VENDORS[vendor].listsModels === true;

type SettingSources = Config['given'];

function keySource({ provider, key, otherKeyAddress }: Connected, given: SettingSources): string {
  const label = given.get(keySetting(provider));
  if (label !== undefined) return `API key from ${label}`;
  if (otherKeyAddress !== undefined) return 'API key stored in the console, not used';
  return key === undefined ? 'no API key' : 'API key stored in the console';
}

function addressSource({ provider, baseUrl }: Connected, given: SettingSources): string {
  const label = given.get(addressSetting(provider));
  if (label !== undefined) return `address ${baseUrl} from ${label}`;
  return baseUrl === VENDORS[provider].address
    ? `address ${baseUrl} by default`
    : `address ${baseUrl} stored in the console`;
}

const KEY_ADVICE = 'set the key, or enter it in the console';

async function modelCheck(config: Config, tryIt: boolean): Promise<Check> {
  const name = 'model';
  const { model } = config;
  if (model.provider === 'offline')
    return {
      name,
      state: 'missing',
      about: 'the offline demo model',
      advice: 'connect a real one with parlance init',
    };
  const about = `${model.model} (${model.provider})`;
  if (!tryIt) return { name, state: 'good', about: `${about}, not tried` };
  const { checkModel } = await import('@parlance/server/model-check');
  const fault = await checkModel(config);
  if (!fault) return { name, state: 'good', about: `${about} answers` };
  return {
    name,
    state: 'bad',
    about: `${about} does not respond: ${fault.message}`,
    advice: 'check key, model and address; parlance init writes new ones',
  };
}

/** The result of one check of `parlance doctor`. */
type Check = {
  readonly name: string;
  /** `missing`: optional, but recommended */
  readonly state: 'good' | 'missing' | 'bad';
  readonly about: string;
  /** what to do */
  readonly advice?: string;
};
