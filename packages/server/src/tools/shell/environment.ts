/** Environment of a command: an allowlist, so that no key of the server reaches it. */
import { delimiter, isAbsolute } from 'node:path';
import { contains } from '../paths.ts';
import { targetOf } from './links.ts';

const PASSED = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LANGUAGE', 'LC_ALL', 'LC_CTYPE', 'TERM', 'TZ'],
];

/** git runs the file monitor of a repository even for `git status`; these settings override it. */
const GIT = {
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'core.fsmonitor',
  GIT_CONFIG_VALUE_0: 'false',
  GIT_TERMINAL_PROMPT: '0',
};

/** PATH without entries in the working directory, where an editing tool could put a program. */
export function autoApprovedEnvironment(
  own: Record<string, string | undefined>,
  root: string,
): Record<string, string> & { PATH: string } {
  const folders = (own.PATH ?? '').split(delimiter).filter((folder) => {
    const target = targetOf(root, folder);
    return isAbsolute(folder) && target.kind === 'folder' && !contains(root, target.path);
  });
  const path = folders.length > 0 ? folders.join(delimiter) : '/usr/local/bin:/usr/bin:/bin';
  return { ...commandEnvironment(own), PATH: path };
}

export function commandEnvironment(own: Record<string, string | undefined>): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name of PASSED) {
    const value = own[name];
    if (value !== undefined) passed[name] = value;
  }
  return { ...passed, ...GIT };
}
