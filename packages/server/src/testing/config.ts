/** Folders with configuration files, for tests. */
import { afterAll } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, loadConfig } from '../config/config.ts';
import { register } from '../config/data-folder.ts';

/** Call once per test file: the folder is removed after its tests. */
export function configFolders() {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-config-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const env = { XDG_STATE_HOME: join(folder, 'state') };
  let count = 0;

  function folderWith(file: string | object, name = 'parlance.json'): string {
    const path = join(folder, `case-${count++}`);
    mkdirSync(path);
    writeFileSync(join(path, name), typeof file === 'string' ? file : JSON.stringify(file));
    return path;
  }

  function folderWithData(settings: object): string {
    const path = join(folder, `case-${count++}`);
    mkdirSync(join(path, '.parlance'), { recursive: true });
    writeFileSync(join(path, '.parlance/config.json'), JSON.stringify(settings));
    return path;
  }

  /** Registers `.parlance` in the folder, as a server with this environment would. */
  function registered(path: string): string {
    const { data, registration } = loadConfig(['--data', '.parlance'], env, path);
    mkdirSync(data, { recursive: true });
    if (!registration || !register(data, registration.registry)) throw new Error('not registered');
    return path;
  }

  function errorOf(argv: string[], variables: Record<string, string> = {}, cwd = folder): string {
    try {
      loadConfig(argv, variables, cwd);
    } catch (error) {
      if (error instanceof ConfigError) return error.message;
      throw error;
    }
    return 'no error';
  }

  return { folder, env, folderWith, folderWithData, registered, errorOf };
}
