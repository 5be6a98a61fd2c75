/** The Codex app server over stdio: line-delimited JSON-RPC. One process serves all conversations. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nowMicros, sleep } from '../measure/clock.ts';
import { Absent, type Contestant, installed, type Lane, linesOf, owned, versionOf } from './contestant.ts';

/** Points its provider to the upstream; the user's own settings are not read. */
const settings = (upstream: string) => `
model = "bench"
model_provider = "bench"
approval_policy = "never"
sandbox_mode = "read-only"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.bench]
name = "bench"
base_url = "${upstream}/v1"
env_key = "BENCH_KEY"
wire_api = "responses"
supports_websockets = false
`;

/** The program itself: the script linked by npm would add a Node process to the tree. */
function program(): string {
  const packages = installed('@openai');
  for (const name of readdirSync(packages).filter((name) => name.startsWith('codex-'))) {
    const vendor = join(packages, name, 'vendor');
    for (const target of existsSync(vendor) ? readdirSync(vendor) : []) {
      for (const folder of ['bin', 'codex']) {
        const found = join(vendor, target, folder, 'codex');
        if (existsSync(found)) return found;
      }
    }
  }
  throw new Absent('@openai/codex has no program for this platform');
}

type Message = {
  readonly id?: number;
  readonly method?: string;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
  readonly params?: {
    readonly threadId?: string;
    readonly delta?: string;
    readonly turn?: { readonly status: string; readonly error?: unknown };
  };
};

export const codex: Contestant = {
  name: 'Codex app-server',
  description: `@openai/codex ${await versionOf('@openai/codex')}, stdio`,
  slow: true,
  async start(upstream, folder) {
    const command = [program(), 'app-server'];
    writeFileSync(join(folder, 'config.toml'), settings(upstream));
    const child = Bun.spawn(command, {
      cwd: folder,
      env: { PATH: process.env.PATH ?? '', HOME: folder, CODEX_HOME: folder, BENCH_KEY: 'bench' },
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: Bun.file(join(folder, 'stderr.log')),
    });
    const stop = owned(child);
    const waiting = new Map<number, PromiseWithResolvers<unknown>>();
    const threads = new Map<string, (message: Message, arrivedAt: number) => void>();
    let calls = 0;
    const write = (message: object) => {
      child.stdin.write(`${JSON.stringify(message)}\n`);
      child.stdin.flush();
    };
    const once = (method: string, params: object): Promise<unknown> => {
      const answered = Promise.withResolvers<unknown>();
      waiting.set(++calls, answered);
      write({ id: calls, method, params });
      return answered.promise;
    };
    /** Under load, it asks clients to retry. */
    const call = async (method: string, params: object): Promise<unknown> => {
      for (;;) {
        try {
          return await once(method, params);
        } catch (error) {
          if (!String(error).includes('overloaded')) throw error;
          await sleep(50);
        }
      }
    };
    const listen = async () => {
      for await (const line of linesOf(child.stdout)) {
        const arrivedAt = nowMicros();
        const message = JSON.parse(line) as Message;
        if (message.method !== undefined) {
          threads.get(message.params?.threadId ?? '')?.(message, arrivedAt);
        } else if (message.id !== undefined) {
          const answered = waiting.get(message.id);
          waiting.delete(message.id);
          if (message.error) answered?.reject(new Error(message.error.message));
          else answered?.resolve(message.result);
        }
      }
      for (const { reject } of waiting.values()) reject(new Error('the app server ended'));
    };
    void listen();

    await call('initialize', {
      clientInfo: { name: 'bench', title: null, version: '1' },
      capabilities: null,
    });
    write({ method: 'initialized' });

    const lane = async (): Promise<Lane> => {
      const { thread } = (await call('thread/start', { cwd: folder })) as { thread: { id: string } };
      return {
        async ask(onText) {
          const ended = Promise.withResolvers<void>();
          threads.set(thread.id, ({ method, params }, arrivedAt) => {
            if (method === 'item/agentMessage/delta') onText(params?.delta ?? '', arrivedAt);
            else if (method === 'turn/completed') {
              if (params?.turn?.status === 'completed') ended.resolve();
              else ended.reject(new Error(JSON.stringify(params?.turn)));
            }
          });
          const input = [{ type: 'text', text: 'Tell me something.', text_elements: [] }];
          await call('turn/start', { threadId: thread.id, input });
          await ended.promise;
        },
        close: () => threads.delete(thread.id),
      };
    };
    return { pid: child.pid, lane, stop };
  },
};
