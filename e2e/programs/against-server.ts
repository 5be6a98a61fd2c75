/** Programs in JavaScript with packages of their own, against a server with a scripted model. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import { getJson, type ServerProcess, startProcess } from '../server-process.ts';
import { installed } from './install.ts';

type Setup = {
  readonly http: string;
  readonly server: ServerProcess;
  readonly model: ScriptedModel;
  /** Runs the code of a module, and returns the lines that it printed. Throws if it failed. */
  run(name: string, code: string): Promise<string[]>;
  /** the number of sessions that are listed */
  sessions(): Promise<number>;
};

export async function againstServer(
  program: string,
  packages: readonly string[],
  answerTo: Parameters<typeof scriptedModel>[0],
  use: (setup: Setup) => Promise<void>,
): Promise<void> {
  const folder = await installed(program, packages);
  const work = mkdtempSync(join(tmpdir(), `parlance-${program}-`));
  const model = scriptedModel(answerTo);
  const server = await startProcess(work, { ...model.settings, MODEL_ALIASES: 'gpt-*=parlance' });
  const { http } = server;
  try {
    await use({
      http,
      server,
      model,
      async run(name, code) {
        const file = join(folder, `${name}.mjs`);
        writeFileSync(file, code);
        const child = Bun.spawn(['node', file], {
          cwd: folder,
          env: { PATH: process.env.PATH ?? '', PARLANCE_TOKEN: 'none' },
          stdout: 'pipe',
          stderr: 'pipe',
        });
        const [status, out, err] = await Promise.all([
          child.exited,
          child.stdout.text(),
          child.stderr.text(),
        ]);
        assert.equal(status, 0, `${name}\n${out}\n${err}`);
        return out.trim().split('\n');
      },
      sessions: async () => (await getJson<{ sessions: object[] }>(`${http}/v1/sessions`)).sessions.length,
    });
  } finally {
    await server.kill();
    model.stop();
    rmSync(work, { recursive: true, force: true });
  }
}
