/** Data folders that came with somebody else's files. */
import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { ConfigError } from './error.ts';

/** git must run nothing that the repository names: it is not known to be the operator's own. */
const GIT = {
  GIT_CONFIG_COUNT: '3',
  GIT_CONFIG_KEY_0: 'core.fsmonitor',
  GIT_CONFIG_VALUE_0: 'false',
  GIT_CONFIG_KEY_1: 'core.hooksPath',
  GIT_CONFIG_VALUE_1: '/dev/null',
  GIT_CONFIG_KEY_2: 'safe.directory',
  GIT_CONFIG_VALUE_2: '*',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
};

/**
 * A data folder says what the server runs: its configuration names programs, its database holds calls that go on. One that
 * a repository carries is therefore not taken up by default. Throws `ConfigError`.
 */
export function refuseTracked(folder: string): void {
  if (!existsSync(folder) || !Bun.which('git')) return;
  const { stdout } = Bun.spawnSync(['git', 'ls-files', '-z', '--', basename(folder)], {
    cwd: dirname(folder),
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...GIT },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
  });
  if (stdout.length === 0) return;
  throw new ConfigError(
    `the data folder ${folder} is part of a git repository and may come from somebody else: name it with --data if you trust it`,
  );
}
