/** `opencode serve`: prompts over HTTP, one event stream for all sessions. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Contestant, installed, type Lane, startServer, versionOf } from './contestant.ts';
import { readEvents } from './event-source.ts';
import { postJson } from './post-json.ts';

const settings = (upstream: string) => ({
  autoupdate: false,
  share: 'disabled',
  model: 'bench/bench',
  small_model: 'bench/bench-title',
  provider: {
    bench: {
      npm: '@ai-sdk/openai-compatible',
      name: 'bench',
      options: { baseURL: `${upstream}/v1`, apiKey: 'bench' },
      models: { bench: { name: 'bench' }, 'bench-title': { name: 'bench-title' } },
    },
  },
});

type OpencodeEvent = {
  readonly type: string;
  readonly properties: { readonly sessionID?: string; readonly delta?: string; readonly error?: unknown };
};

export const opencode: Contestant = {
  name: 'opencode',
  description: `opencode-ai ${await versionOf('opencode-ai')} serve, HTTP and SSE`,
  slow: true,
  async start(upstream, folder) {
    const program = installed('opencode-ai/bin/opencode.exe');
    const config = join(folder, 'opencode.json');
    const work = join(folder, 'work');
    mkdirSync(work);
    writeFileSync(config, JSON.stringify(settings(upstream)));
    const server = await startServer([program, 'serve', '--port', '0'], {
      folder,
      cwd: work,
      env: {
        OPENCODE_CONFIG: config,
        OPENCODE_DISABLE_AUTOUPDATE: '1',
        OPENCODE_DISABLE_MODELS_FETCH: '1',
        OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      },
      ready: /listening on http/,
    });
    const http = server.first.slice(server.first.indexOf('http://')).trim();
    const sessions = new Map<string, (event: OpencodeEvent, arrivedAt: number) => void>();
    const events = await readEvents(`${http}/event`, {}, (data, arrivedAt) => {
      const event = JSON.parse(data) as OpencodeEvent;
      sessions.get(event.properties.sessionID ?? '')?.(event, arrivedAt);
    });
    const lane = async (): Promise<Lane> => {
      const { id } = (await postJson(`${http}/session`, {})) as { id: string };
      return {
        async ask(onText) {
          const ended = Promise.withResolvers<void>();
          sessions.set(id, ({ type, properties }, arrivedAt) => {
            if (type === 'message.part.delta') onText(properties.delta ?? '', arrivedAt);
            else if (type === 'session.idle') ended.resolve();
            else if (type === 'session.error') ended.reject(new Error(JSON.stringify(properties.error)));
          });
          await postJson(`${http}/session/${id}/prompt_async`, {
            model: { providerID: 'bench', modelID: 'bench' },
            parts: [{ type: 'text', text: 'Tell me something.' }],
          });
          await ended.promise;
        },
        close: () => sessions.delete(id),
      };
    };
    return {
      pid: server.pid,
      lane,
      async stop() {
        events.close();
        await server.stop();
      },
    };
  },
};
