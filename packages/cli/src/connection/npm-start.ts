/** Flags under `npm start`, which passes on only what follows `--`. */
import { SETTINGS, type Setting } from '@parlance/server/config';

type Environment = Readonly<Record<string, string | undefined>>;

const isNpmStart = (env: Environment): boolean => env.npm_lifecycle_event === 'start';

/** The flag that npm took for its own, as in `npm start --port=4000`; null if there is none. */
export function flagTakenByNpm(env: Environment): string | null {
  if (!isNpmStart(env)) return null;
  const flags = Object.values<Setting>(SETTINGS).flatMap(({ flag }) => flag ?? []);
  return flags.find((flag) => env[`npm_config_${flag.slice(2).replaceAll('-', '_')}`] !== undefined) ?? null;
}

/** Names flags as they have to be typed. */
export const asTyped = (message: string, env: Environment): string =>
  isNpmStart(env) ? message.replace(/\bwith (?=--\w)/, 'with npm start -- ') : message;
