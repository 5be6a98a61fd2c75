/** Warns about configurations that are probably not intended. */
import { mkdirSync, realpathSync } from 'node:fs';
import { newPasswordProblem } from '../auth/passwords.ts';
import type { Config } from '../config/config.ts';
import { isInstallation } from '../config/installation.ts';
import type { Log } from '../core/api/index.ts';

/** Creates the working directory, in order to resolve its path. */
export function warnAbout(config: Config, log: Log): void {
  for (const file of config.ignoredFiles)
    log.warn({ file }, 'configuration file ignored: name it with --config, or put it into the data folder');
  mkdirSync(config.cwd, { recursive: true });
  if (isInstallation(realpathSync(config.cwd)))
    log.warn({ cwd: config.cwd }, "working directory is part of the server's code: tools cannot change it");
  warnOfShortPasswords(config, log);
}

/** Existing deployments may have short passwords in `AUTH_USERS`: warn instead of refusing them. */
function warnOfShortPasswords({ authUsers }: Config, log: Log): void {
  const short = authUsers.filter(({ password }) => newPasswordProblem(password) !== null);
  if (short.length === 0) return;
  const users = short.map(({ name }) => name);
  log.warn({ users }, 'AUTH_USERS has passwords with fewer than 8 characters: choose longer ones');
}
