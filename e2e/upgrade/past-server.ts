/** A server of another version: a process from another checkout, which can be killed. */
import { join } from 'node:path';

export type PastServer = { readonly http: string; kill(): Promise<void> };

export const environment = (folder: string, settings: Record<string, string> = {}) => ({
  PATH: process.env.PATH ?? '',
  HOME: folder,
  PORT: '0',
  PARLANCE_DATA: join(folder, 'data'),
  WORKING_DIRECTORY: folder,
  AUTH_SECRET: 'a secret that is known to everyone and protects nothing',
  LOG_LEVEL: 'warn',
  ...settings,
});

const command = (checkout: string, ...args: string[]) => [
  'sh',
  join(checkout, 'packages/cli/bin/parlance'),
  ...args,
];

export async function startPast(
  checkout: string,
  folder: string,
  settings: Record<string, string>,
): Promise<PastServer> {
  const child = Bun.spawn(command(checkout, 'serve'), {
    cwd: folder,
    env: environment(folder, settings),
    stdout: 'pipe',
    stderr: 'inherit',
  });
  let text = '';
  const decoder = new TextDecoder();
  const reader = child.stdout.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`the server did not start: ${text}`);
    text += decoder.decode(value, { stream: true });
    const http = /^parlance listening on (\S+)$/m.exec(text)?.[1];
    if (http === undefined) continue;
    return {
      http,
      async kill() {
        child.kill('SIGKILL');
        await child.exited;
      },
    };
  }
}

export async function runPast(checkout: string, folder: string, ...args: string[]): Promise<string> {
  const child = Bun.spawn(command(checkout, ...args), { cwd: folder, env: environment(folder) });
  const text = await child.stdout.text();
  if ((await child.exited) !== 0) throw new Error(`parlance ${args.join(' ')} failed`);
  return text;
}
